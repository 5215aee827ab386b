//! What an action looks like as text, and which step of a run it is.

use domain::record::{Modality, Record};

/// Longest arguments shown, in bytes.
const ARGUMENTS_BYTES: usize = 240;
/// Longest result shown, in bytes; the record keeps the rest.
const RESULT_BYTES: usize = 2_400;
/// Keys of the metadata that number the steps of a run, the surest first.
const STEPS: [&str; 4] = ["step", "turn", "frame", "t"];

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

/// Returns the step of an agent's run that a record is: as its metadata say, else the place of an action in its session.
pub(crate) fn step(record: &Record) -> Option<u32> {
    let said = STEPS
        .iter()
        .find_map(|it| record.metadata.get(*it)?.trim().parse().ok());
    let placed = (record.modality == Modality::Action).then(|| u32::try_from(record.ordinal).ok());
    said.or(placed.flatten())
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
