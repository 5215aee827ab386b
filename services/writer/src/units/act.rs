//! Formats an action as text, and determines its step in a run.

use domain::record::{Modality, Record};

use crate::word_lists::{ENVIRONMENT_ACTORS, STEP_KEYS};

/// Maximum length of displayed arguments, in bytes.
const ARGUMENTS_BYTES: usize = 240;
/// Maximum length of a displayed result, in bytes; the record keeps all of it.
const RESULT_BYTES: usize = 2_400;

/// Returns the displayed text of a record: its words, or `tool(arguments) -> result`.
pub(crate) fn display_text(record: &Record) -> String {
    let record_text = record.text.trim();
    let Some(tool) = &record.tool else {
        return record_text.to_owned();
    };
    let mut out = String::new();
    if !record_text.is_empty() {
        out.push_str(record_text);
        out.push('\n');
    }
    out.push_str(&tool.name);
    out.push('(');
    out.push_str(&clip_at_word(&format_arguments(&tool.arguments), ARGUMENTS_BYTES));
    out.push(')');
    if !tool.result.trim().is_empty() {
        out.push_str(" -> ");
        out.push_str(&clip_at_word(tool.result.trim(), RESULT_BYTES));
    }
    out
}

/// Returns the step of an agent's run to which the record at `at` belongs: the number in its metadata or text, or
/// else the position of an action in its session. The response of an environment belongs to the step before it.
pub(crate) fn find_step(window: &[Record], at: usize) -> Option<u32> {
    let record = &window[at];
    let record_before = at
        .checked_sub(1)
        .map(|it| &window[it])
        .filter(|it| is_world(record) && it.actor != record.actor);
    let placed = || {
        (record.modality == Modality::Action)
            .then(|| u32::try_from(record.ordinal).ok())
            .flatten()
    };
    said_step(record)
        .or_else(|| record_before.and_then(said_step))
        .or_else(placed)
}

/// Returns true if a record reports what a tool or environment did, not what a person says.
pub(crate) fn is_world(record: &Record) -> bool {
    record.modality == Modality::Action || is_voice(record)
}

/// Returns true if a record is an action and not speech: it has the modality `action`, or its text is a call such as
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
    name > 1 && text[name..].starts_with(['(', '[']) && !is_voice(record)
}

/// Returns true if the actor of a record is a tool or environment.
pub(crate) fn is_voice(record: &Record) -> bool {
    ENVIRONMENT_ACTORS.contains(record.actor.to_lowercase().as_str())
}

fn said_step(record: &Record) -> Option<u32> {
    let noted = STEP_KEYS
        .iter()
        .find_map(|it| record.metadata.get(*it)?.trim().parse().ok());
    noted.or_else(|| {
        // "[step 4] open(door)" may be anywhere, "Step 4: open the door" only at the start.
        let head = record.text[..record.text.floor_char_boundary(2_000)].to_lowercase();
        let rest = head.split("[step ").nth(1).or_else(|| head.strip_prefix("step "))?;
        let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        let closed = rest[digits..].starts_with([']', ':', '.', ')']);
        rest[..digits].parse().ok().filter(|_| closed)
    })
}

/// Returns arguments as `key=value` pairs if they are a flat JSON object, otherwise as given.
fn format_arguments(given: &str) -> String {
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

/// Returns the text; if it is longer than `bytes`, it is truncated at the end of a word and gets an ellipsis.
pub(crate) fn clip_at_word(text: &str, bytes: usize) -> String {
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
