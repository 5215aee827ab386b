//! Chat messages among the lines of an import. The server converts them to records; this module only shows and counts them.

use serde_json::Value;

/// The kind under which messages that the server does not store are counted.
pub(crate) const NOT_STORED: &str = "system, developer and empty messages";

/// Returns true if a record to send is a chat message, as the server decides it.
pub(crate) fn is_message(record: &Value) -> bool {
    record.get("role").is_some() || record.get("content").is_some()
}

/// Returns true if the server refused a request with this reason because nothing is left of it: all its elements are chat
/// messages that are not stored.
pub(crate) fn says_nothing_is_left(reason: &str) -> bool {
    reason.starts_with("records: ") && reason.ends_with("this request has 0")
}

/// Returns the actor of a message: its name, else its role.
pub(crate) fn actor_of(message: &Value) -> &str {
    let text = |field: &str| message.get(field).and_then(Value::as_str);
    let actor = text("name").filter(|it| !it.trim().is_empty()).or_else(|| text("role"));
    actor.unwrap_or_default()
}

/// Returns the first text of a message; empty if it has none.
pub(crate) fn first_text(message: &Value) -> &str {
    let mut texts = parts_of(message).iter().filter_map(text_of_part);
    texts.find(|it| !it.trim().is_empty()).unwrap_or_default()
}

/// Returns the number of tool calls of a message.
pub(crate) fn call_count(message: &Value) -> u64 {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.map_or(0, |it| it.len() as u64)
}

/// Returns the parts of the content: the items of a list, or the content itself.
fn parts_of(message: &Value) -> &[Value] {
    match message.get("content") {
        Some(Value::Array(parts)) => parts,
        Some(content) => std::slice::from_ref(content),
        None => &[],
    }
}

fn text_of_part(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text").and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_request_without_records_has_nothing_left() {
        assert!(says_nothing_is_left("records: must be 1 to 1000, this request has 0"));
        for reason in ["records: must be 1 to 10, this request has 20", "text: is too long", ""] {
            assert!(!says_nothing_is_left(reason), "{reason}");
        }
    }

    #[test]
    fn a_message_is_shown_with_its_author_and_its_first_text() {
        let message = json!({ "role": "user", "name": "Ann", "content": [{ "type": "image_url" }, { "type": "text", "text": "A fern." }] });
        assert_eq!((actor_of(&message), first_text(&message)), ("Ann", "A fern."));
        let call = json!({ "role": "assistant", "content": null, "tool_calls": [{}, {}] });
        assert_eq!(
            (actor_of(&call), first_text(&call), call_count(&call)),
            ("assistant", "", 2)
        );
    }
}
