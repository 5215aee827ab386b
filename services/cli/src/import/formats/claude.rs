//! Conversations exported by Claude: `conversations.json`.

use serde_json::Value;

use crate::import::formats::times::EntryTime;
use crate::import::record_draft::{Draft, LeftOut, Metadata, digest_texts, first_text_field, prefixed_name};

const PROGRAM: &str = "claude";

/// Returns the records of a conversation, in order: messages, each after the texts that were attached to it.
///
/// # Errors
/// If the conversation has no list of messages.
pub(crate) fn records_from_conversation(conversation: &Value, left_out: &mut LeftOut) -> Result<Vec<Value>, String> {
    let Some(messages) = conversation.get("chat_messages").and_then(Value::as_array) else {
        return Err("not a conversation of Claude: `chat_messages` is missing".to_owned());
    };
    let name = first_text_field(conversation, &["uuid", "conversation_id", "id"])
        .unwrap_or_else(|| digest_texts(&[&conversation.to_string()]));
    let mut about = Metadata::from_source(PROGRAM);
    about.put_entry("title", &first_text_field(conversation, &["name"]).unwrap_or_default());
    let begun = EntryTime::first_of(conversation.get("created_at"));
    begun.count_unused(left_out);
    let mut at = begun.usable;
    let mut records = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let actor = match message.get("sender").and_then(Value::as_str) {
            Some("human" | "user") => "user",
            Some("assistant") => "assistant",
            Some(_) | None => {
                left_out.count_one("messages of other roles");
                continue;
            }
        };
        let sent = EntryTime::first_of(message.get("created_at"));
        sent.count_unused(left_out);
        at = sent.usable.or(at);
        let mut about = about.clone();
        about.put_entry("date", sent.future.as_deref().unwrap_or_default());
        let id = first_text_field(message, &["uuid", "id"]).unwrap_or_else(|| format!("{name}-{index}"));
        let draft = Draft {
            session: prefixed_name(PROGRAM, &name),
            actor: Some(actor.to_owned()),
            observed_at: at.clone(),
            ..Draft::default()
        };
        records.extend(attachment_records(message, &id, &draft, &about, left_out));
        let text = message_text(message, left_out);
        if text.is_empty() {
            left_out.count_one("empty messages");
            continue;
        }
        let mut metadata = about.clone();
        metadata.put_entry("files", &file_names(message.get("files")));
        let message_draft = Draft {
            id: prefixed_name(PROGRAM, &id),
            text,
            metadata,
            ..draft
        };
        records.push(message_draft.into_record());
    }
    Ok(records)
}

/// Returns the text of a message: its text blocks, or the text field of older exports, which have no blocks. If there
/// are blocks, the text field only repeats them, with placeholders for those that are no text.
fn message_text(message: &Value, left_out: &mut LeftOut) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let blocks = message.get("content").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        match block.get("type").and_then(Value::as_str) {
            Some("text" | "voice_note") | None => texts.extend(block.get("text").and_then(Value::as_str)),
            Some("thinking" | "redacted_thinking") => left_out.count_one("thoughts of the model"),
            Some("tool_use" | "tool_result") => left_out.count_one("tool calls and their results"),
            Some(_) => left_out.count_one("blocks of other kinds"),
        }
    }
    if blocks.is_none_or(Vec::is_empty) {
        texts.extend(message.get("text").and_then(Value::as_str));
    }
    texts.retain(|it| !it.trim().is_empty());
    texts.join("\n\n")
}

/// Returns a record for each attachment whose text is in the export.
fn attachment_records(
    message: &Value,
    id: &str,
    draft: &Draft,
    about: &Metadata,
    left_out: &mut LeftOut,
) -> Vec<Value> {
    let mut records = Vec::new();
    let attachments = message.get("attachments").and_then(Value::as_array);
    for (index, attachment) in attachments.into_iter().flatten().enumerate() {
        let Some(text) = first_text_field(attachment, &["extracted_content"]) else {
            left_out.count_one("attachments without text");
            continue;
        };
        let mut metadata = about.clone();
        metadata.put_entry(
            "file",
            &first_text_field(attachment, &["file_name"]).unwrap_or_default(),
        );
        let attachment_draft = Draft {
            id: prefixed_name(PROGRAM, &format!("{id}:attachment-{}", index + 1)),
            text,
            metadata,
            ..draft.clone()
        };
        records.push(attachment_draft.into_record());
    }
    records
}

/// Returns the names in a list of files.
fn file_names(files: Option<&Value>) -> String {
    let files = files.and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = files.filter_map(|it| it.get("file_name")?.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_and_attached_texts_become_records() {
        let conversation = json!({ "uuid": "c1", "name": "Cats", "created_at": "2026-03-02T18:00:00Z", "account": { "uuid": "a" },
        "chat_messages": [
            { "uuid": "m1", "sender": "human", "created_at": "2026-03-02T18:00:01.5Z", "text": "", "content": [{ "type": "text", "text": "My cat is Miso." }],
              "attachments": [{ "file_name": "vet.txt", "extracted_content": "Weight: 4 kg" }, { "file_name": "scan.pdf" }],
              "files": [{ "file_name": "miso.jpg" }, {}] },
            { "uuid": "m2", "sender": "assistant", "text": "old", "content": [
                { "type": "thinking", "thinking": "Hm." }, { "type": "text", "text": "Nice." }, { "type": "tool_use" }, { "type": "text", "text": "How old?" }] },
            { "sender": "human", "text": "Three.", "created_at": "2026-03-02T18:02:00Z" },
            { "uuid": "m4", "sender": "assistant", "text": " ", "content": [] },
            { "future": true },
        ] });
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&conversation, &mut left_out).unwrap();
        let lines: Vec<String> = records
            .iter()
            .map(|it| format!("{} {} {} {}", it["id"], it["actor"], it["observed_at"], it["text"]))
            .collect();
        assert_eq!(
            lines,
            [
                r#""claude:m1:attachment-1" "user" "2026-03-02T18:00:01.500Z" "Weight: 4 kg""#,
                r#""claude:m1" "user" "2026-03-02T18:00:01.500Z" "My cat is Miso.""#,
                r#""claude:m2" "assistant" "2026-03-02T18:00:01.500Z" "Nice.\n\nHow old?""#,
                r#""claude:c1-2" "user" "2026-03-02T18:02:00Z" "Three.""#,
            ]
        );
        assert!(
            records
                .iter()
                .all(|it| it["session"] == "claude:c1" && it["metadata"]["title"] == "Cats")
        );
        assert_eq!(records[0]["metadata"]["file"], "vet.txt");
        assert_eq!(records[1]["metadata"]["files"], "miso.jpg");
        assert_eq!(
            left_out.in_words(),
            [
                "attachments without text: 1",
                "empty messages: 1",
                "messages of other roles: 1",
                "thoughts of the model: 1",
                "tool calls and their results: 1"
            ]
        );
        assert!(records_from_conversation(&json!({ "uuid": "p", "docs": [] }), &mut left_out).is_err());
    }

    #[test]
    fn times_that_a_record_cannot_have_are_counted_and_replaced_by_earlier_ones() {
        let message = |id: &str, at: &str| json!({ "uuid": id, "sender": "human", "text": "Hello.", "created_at": at });
        let first = "2026-03-02T18:00:00Z";
        let messages = [
            message("m1", first),
            message("m2", "yesterday"),
            message("m3", "2999-01-15"),
        ];
        let conversation = json!({ "uuid": "c1", "created_at": "soon", "chat_messages": messages });
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&conversation, &mut left_out).unwrap();
        assert!(records.iter().all(|it| it["observed_at"] == first), "{records:?}");
        assert_eq!(records[1]["metadata"].get("date"), None);
        assert_eq!(records[2]["metadata"]["date"], "2999-01-15T00:00:00Z");
        assert_eq!(
            left_out.in_words(),
            ["times in the future: 1", "times that could not be read: 2"]
        );
    }

    #[test]
    fn the_text_field_of_a_message_with_blocks_is_ignored() {
        let placeholder = "This block is not supported on your current device yet.";
        let conversation = json!({ "uuid": "c2", "chat_messages": [
            { "uuid": "m1", "sender": "assistant", "text": placeholder,
              "content": [{ "type": "tool_use", "name": "search" }, { "type": "tool_result", "content": [] }] },
            { "uuid": "m2", "sender": "human", "text": placeholder,
              "content": [{ "type": "voice_note", "title": "Note", "text": "I fed Miso." }, { "type": "text", "text": "Twice." }] },
        ] });
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&conversation, &mut left_out).unwrap();
        let texts: Vec<&str> = records.iter().filter_map(|it| it["text"].as_str()).collect();
        assert_eq!(texts, ["I fed Miso.\n\nTwice."]);
        assert_eq!(records[0]["id"], "claude:m2");
        assert_eq!(
            left_out.in_words(),
            ["empty messages: 1", "tool calls and their results: 2"]
        );
    }
}
