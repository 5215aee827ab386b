//! What an action looks like as text, and which step of a run it is.

use domain::record::{Modality, Record};

/// Longest arguments shown, in bytes.
const ARGUMENTS_BYTES: usize = 240;
/// Longest result shown, in bytes; the record keeps the rest.
const RESULT_BYTES: usize = 2_400;
/// Keys of the metadata that number the steps of a run, the surest first.
const STEPS: [&str; 4] = ["step", "turn", "frame", "t"];

/// Actors that are worlds or tools, not people.
const WORLDS: [&str; 9] = [
    "environment",
    "env",
    "world",
    "tool",
    "system",
    "observation",
    "game",
    "function",
    "simulator",
];

/// Returns the text of a record as it is shown: what was said, or `tool(arguments) -> result`.
pub(crate) fn shown(record: &Record) -> String {
    let said = record.text.trim();
    let Some(tool) = &record.tool else {
        return said.to_owned();
    };
    let mut out = String::new();
    if !said.is_empty() {
        out.push_str(said);
        out.push('\n');
    }
    out.push_str(&tool.name);
    out.push('(');
    out.push_str(&clipped(&arguments(&tool.arguments), ARGUMENTS_BYTES));
    out.push(')');
    if !tool.result.trim().is_empty() {
        out.push_str(" -> ");
        out.push_str(&clipped(tool.result.trim(), RESULT_BYTES));
    }
    out
}

/// Returns the step of an agent's run that the record at `at` is: as its metadata or its text say, else the place of an
/// action in its session; what a world answers belongs to the step before it.
pub(crate) fn step(window: &[Record], at: usize) -> Option<u32> {
    let record = &window[at];
    let asked = at
        .checked_sub(1)
        .map(|it| &window[it])
        .filter(|it| is_world(record) && it.actor != record.actor);
    let placed = || {
        (record.modality == Modality::Action)
            .then(|| u32::try_from(record.ordinal).ok())
            .flatten()
    };
    said_step(record).or_else(|| asked.and_then(said_step)).or_else(placed)
}

/// Says whether a record tells what a tool or a world did, rather than what somebody says.
pub(crate) fn is_world(record: &Record) -> bool {
    record.modality == Modality::Action || WORLDS.contains(&record.actor.to_lowercase().as_str())
}

/// Says whether a record is something done rather than said: an action, or a text that is a call such as
/// `[step 7] rooms.book(room="Heron")` or `search[lamp]`.
pub(crate) fn is_deed(record: &Record) -> bool {
    if record.modality == Modality::Action {
        return true;
    }
    let text = record.text.trim_start();
    let text = text
        .strip_prefix("[step ")
        .and_then(|it| it.split_once(']'))
        .map_or(text, |it| it.1.trim_start());
    let name = text
        .find(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '.'))
        .unwrap_or(text.len());
    name > 1 && text[name..].starts_with(['(', '[']) && !WORLDS.contains(&record.actor.to_lowercase().as_str())
}

/// Says whether a record is the voice of a tool or a world.
pub(crate) fn is_voice(record: &Record) -> bool {
    WORLDS.contains(&record.actor.to_lowercase().as_str())
}

fn said_step(record: &Record) -> Option<u32> {
    let noted = STEPS
        .iter()
        .find_map(|it| record.metadata.get(*it)?.trim().parse().ok());
    noted.or_else(|| {
        // "[step 4] open(door)" anywhere, "Step 4: open the door" at the start.
        let head = record.text[..record.text.floor_char_boundary(2_000)].to_lowercase();
        let rest = head.split("[step ").nth(1).or_else(|| head.strip_prefix("step "))?;
        let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        let closed = rest[digits..].starts_with([']', ':', '.', ')']);
        rest[..digits].parse().ok().filter(|_| closed)
    })
}

/// Arguments as `key=value` pairs when they are a flat JSON object, as given otherwise.
fn arguments(given: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(given) else {
        let given = given.trim();
        return if matches!(given, "null" | "{}" | "\"\"") {
            String::new()
        } else {
            given.to_owned()
        };
    };
    let pairs = fields.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("{key}={text}"),
        None => format!("{key}={value}"),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

/// Returns the text, cut at a word's end with an ellipsis if it is longer than `bytes`.
pub(crate) fn clipped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let cut = &text[..text.floor_char_boundary(bytes)];
    let cut = cut
        .rfind(char::is_whitespace)
        .filter(|it| it * 2 > bytes)
        .map_or(cut, |it| &cut[..it]);
    format!("{}\u{2026}", cut.trim_end())
}
