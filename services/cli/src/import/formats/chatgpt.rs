//! Conversations exported by ChatGPT: `conversations.json`.
//!
//! A conversation is a tree of messages in `mapping`, because a message can be edited and an answer can be regenerated.
//! The branch that ends in `current_node` is the branch that the user sees.

use serde_json::{Map, Value};

use crate::import::formats::times::EntryTime;
use crate::import::record_draft::{
    Draft, LeftOut, Metadata, digest_texts, first_text_field, parse_image_uri, prefixed_name,
};

const PROGRAM: &str = "chatgpt";
/// Maximum number of additional images of a message whose addresses are kept.
const IMAGES_MAX: usize = 8;

/// Returns the records of a conversation, in order; counts the messages that are left out.
///
/// # Errors
/// If the conversation has no tree of messages.
pub(crate) fn records_from_conversation(conversation: &Value, left_out: &mut LeftOut) -> Result<Vec<Value>, String> {
    let Some(nodes) = conversation.get("mapping").and_then(Value::as_object) else {
        return Err("not a conversation of ChatGPT: `mapping` is missing".to_owned());
    };
    let branch = current_branch(conversation, nodes);
    let has_message = |node: &&Value| node.get("message").is_some_and(Value::is_object);
    let on_branch = branch.iter().filter(|it| has_message(&it.value)).count();
    for _ in on_branch..nodes.values().filter(has_message).count() {
        left_out.count_one("messages on other branches");
    }
    let name = first_text_field(conversation, &["conversation_id", "id"])
        .or_else(|| Some(branch.first()?.id.to_owned()))
        .unwrap_or_else(|| digest_texts(&[&conversation.to_string()]));
    let mut about = Metadata::from_source(PROGRAM);
    about.put_entry("title", &first_text_field(conversation, &["title"]).unwrap_or_default());
    let begun = EntryTime::first_of(conversation.get("create_time"));
    begun.count_unused(left_out);
    let mut at = begun.usable;
    let mut records = Vec::new();
    for node in branch {
        let Some(message) = node.value.get("message").filter(|it| it.is_object()) else {
            continue;
        };
        let sent = EntryTime::first_of(message.get("create_time"));
        // A message without a time gets the time of the message before it.
        at = sent.usable.clone().or(at);
        match read_message(message) {
            Err(why) => left_out.count_one(why),
            Ok(content) => {
                sent.count_unused(left_out);
                let mut metadata = about.clone();
                content.note_in(&mut metadata);
                metadata.put_entry("date", sent.future.as_deref().unwrap_or_default());
                let draft = Draft {
                    id: prefixed_name(PROGRAM, node.id),
                    session: prefixed_name(PROGRAM, &name),
                    actor: Some(content.actor),
                    text: content.text,
                    image_caption: content.caption,
                    image_uri: content.images.first().cloned(),
                    observed_at: at.clone(),
                    metadata,
                };
                records.push(draft.into_record());
            }
        }
    }
    Ok(records)
}

/// A node of the tree with its id.
struct Node<'a> {
    id: &'a str,
    value: &'a Value,
}

/// Returns the nodes from the root to `current_node`, or to the latest leaf if that is missing.
fn current_branch<'a>(conversation: &Value, nodes: &'a Map<String, Value>) -> Vec<Node<'a>> {
    let entry = |id: &str| nodes.get_key_value(id).map(|(id, value)| Node { id, value });
    let current = conversation.get("current_node").and_then(Value::as_str);
    let mut next = current.and_then(entry).or_else(|| latest_leaf(nodes));
    let mut branch = Vec::new();
    while let Some(node) = next {
        let parent = node.value.get("parent").and_then(Value::as_str);
        branch.push(node);
        // Parents that form a cycle end here.
        next = parent.and_then(entry).filter(|_| branch.len() < nodes.len());
    }
    branch.reverse();
    branch
}

fn latest_leaf(nodes: &Map<String, Value>) -> Option<Node<'_>> {
    let has_children = |node: &Value| {
        let children = node.get("children").and_then(Value::as_array);
        children.is_some_and(|it| !it.is_empty())
    };
    let time = |node: &Value| node.pointer("/message/create_time").and_then(Value::as_f64);
    nodes
        .iter()
        .filter(|(_, node)| !has_children(node))
        .max_by(|(_, left), (_, right)| {
            let (left, right) = (time(left).unwrap_or(0.0), time(right).unwrap_or(0.0));
            left.total_cmp(&right)
        })
        .map(|(id, value)| Node { id, value })
}

/// The content of a message.
struct MessageContent {
    actor: String,
    /// Name of the tool that wrote the message.
    tool: Option<String>,
    text: String,
    images: Vec<String>,
    caption: Option<String>,
    model: Option<String>,
}

impl MessageContent {
    fn note_in(&self, metadata: &mut Metadata) {
        metadata.put_entry("tool", self.tool.as_deref().unwrap_or_default());
        metadata.put_entry("model", self.model.as_deref().unwrap_or_default());
        for (index, image) in self.images.iter().enumerate().skip(1).take(IMAGES_MAX) {
            metadata.put_entry(&format!("image_{}", index + 1), image);
        }
    }
}

/// Returns the content of a message, or the reason for leaving it out.
fn read_message(message: &Value) -> Result<MessageContent, &'static str> {
    let actor = match message.pointer("/author/role").and_then(Value::as_str) {
        Some(role @ ("user" | "assistant" | "tool")) => role.to_owned(),
        Some("system" | "developer") => return Err("system messages"),
        Some(_) | None => return Err("messages of other roles"),
    };
    let hidden = message.pointer("/metadata/is_visually_hidden_from_conversation");
    if hidden == Some(&Value::Bool(true)) {
        return Err("hidden messages");
    }
    let Some(content) = message.get("content").filter(|it| it.is_object()) else {
        return Err("empty messages");
    };
    match content.get("content_type").and_then(Value::as_str) {
        Some("thoughts" | "reasoning_recap") => return Err("thoughts of the model"),
        Some("user_editable_context" | "model_editable_context") => return Err("custom instructions"),
        Some(_) | None => {}
    }
    let mut message_content = MessageContent {
        tool: message
            .pointer("/author/name")
            .and_then(Value::as_str)
            .filter(|_| actor == "tool")
            .map(str::to_owned),
        actor,
        text: String::new(),
        images: Vec::new(),
        caption: None,
        model: message
            .pointer("/metadata/model_slug")
            .and_then(Value::as_str)
            .map(str::to_owned),
    };
    let mut texts: Vec<&str> = Vec::new();
    let (mut has_image, mut has_recording) = (false, false);
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        if is_recording(part) {
            has_recording = true;
        } else if let Some(pointer) = part.get("asset_pointer").and_then(Value::as_str) {
            has_image = true;
            message_content.images.extend(parse_image_uri(pointer));
            let prompt = part.pointer("/metadata/dalle/prompt").and_then(Value::as_str);
            message_content.caption = message_content
                .caption
                .or_else(|| prompt.filter(|it| !it.trim().is_empty()).map(str::to_owned));
        } else {
            texts.extend(part.as_str().or_else(|| part.get("text").and_then(Value::as_str)));
        }
    }
    if texts.is_empty() {
        let text_fields = ["text", "result"]
            .iter()
            .find_map(|it| content.get(it).and_then(Value::as_str));
        texts.extend(text_fields);
    }
    texts.retain(|it| !it.trim().is_empty());
    message_content.text = texts.join("\n\n");
    if message_content.text.is_empty() && message_content.caption.is_none() {
        return Err(match (has_image, has_recording) {
            (_, true) => "recordings without a transcript",
            (true, false) => "images without words",
            (false, false) => "empty messages",
        });
    }
    Ok(message_content)
}

/// Returns true if a part is a pointer to sound or video. Its transcript, if there is one, is a separate part.
fn is_recording(part: &Value) -> bool {
    let kind = part.get("content_type").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("asset_pointer") && (kind.contains("audio") || kind.contains("video"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message_node(parent: &str, role: &str, at: f64, content: Value) -> Value {
        json!({ "parent": parent, "children": [], "message":
            { "author": { "role": role, "name": "python" }, "create_time": at, "content": content } })
    }

    fn text_content(text: &str) -> Value {
        json!({ "content_type": "text", "parts": [text] })
    }

    fn sample_conversation() -> Value {
        json!({ "title": "Moving", "conversation_id": "c1", "create_time": 1_772_474_400.0, "current_node": "n6",
            "mapping": {
                "root": { "message": null, "parent": null, "children": ["n1"] },
                "n1": message_node("root", "system", 1_772_474_400.0, text_content("You are helpful.")),
                "n2": message_node("n1", "user", 1_772_474_401.5, text_content("I moved to Oslo.")),
                "n3": message_node("n2", "assistant", 1_772_474_402.0, text_content("The first answer.")),
                "n4": message_node("n2", "assistant", 1_772_474_403.0, json!({ "content_type": "code", "language": "python", "text": "print(1)" })),
                "n5": message_node("n4", "tool", 1_772_474_404.0, json!({ "content_type": "execution_output", "text": "1\n" })),
                "n6": { "parent": "n5", "message": { "author": { "role": "user" }, "create_time": null,
                    "content": { "content_type": "multimodal_text", "parts": [
                        { "content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 3 },
                        "This is my kitchen.", { "content_type": "audio_transcription", "text": "It is blue." }] } } },
            } })
    }

    #[test]
    fn the_branch_that_the_user_sees_becomes_records() {
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&sample_conversation(), &mut left_out).unwrap();
        let lines: Vec<String> = records
            .iter()
            .map(|it| format!("{} {} {} {}", it["id"], it["actor"], it["observed_at"], it["text"]))
            .collect();
        assert_eq!(
            lines,
            [
                r#""chatgpt:n2" "user" "2026-03-02T18:00:01.500Z" "I moved to Oslo.""#,
                r#""chatgpt:n4" "assistant" "2026-03-02T18:00:03Z" "print(1)""#,
                r#""chatgpt:n5" "tool" "2026-03-02T18:00:04Z" "1\n""#,
                r#""chatgpt:n6" "user" "2026-03-02T18:00:04Z" "This is my kitchen.\n\nIt is blue.""#,
            ]
        );
        assert!(
            records
                .iter()
                .all(|it| it["session"] == "chatgpt:c1" && it["metadata"]["title"] == "Moving")
        );
        assert_eq!(records[2]["metadata"]["tool"], "python");
        assert_eq!(records[3]["image_uri"], "file-service://file-1");
        assert_eq!(
            left_out.in_words(),
            ["messages on other branches: 1", "system messages: 1"]
        );
    }

    #[test]
    fn a_damaged_conversation_is_read_as_far_as_possible() {
        let mut damaged = sample_conversation();
        damaged["current_node"] = json!("lost");
        damaged["mapping"]["n1"]["parent"] = json!("n2");
        damaged["mapping"]["n2"]["children"] = json!(["n3", "n4"]);
        damaged["mapping"]["n4"]["children"] = json!(["n5"]);
        damaged["mapping"]["n5"]["children"] = json!([]);
        let mut left_out = LeftOut::default();
        let ids: Vec<Value> = records_from_conversation(&damaged, &mut left_out)
            .unwrap()
            .into_iter()
            .map(|it| it["id"].clone())
            .collect();
        assert_eq!(ids.last().unwrap(), "chatgpt:n5");
        assert!(ids.contains(&json!("chatgpt:n2")));
        assert!(records_from_conversation(&json!({ "title": "x" }), &mut left_out).is_err());
        assert_eq!(
            records_from_conversation(&json!({ "mapping": {} }), &mut left_out).unwrap(),
            Vec::<Value>::new()
        );
    }

    #[test]
    fn messages_that_are_not_imported_are_counted_by_kind() {
        let parts = |parts: Value| json!({ "content_type": "multimodal_text", "parts": parts });
        for (role, content, expected) in [
            ("assistant", text_content("  "), "empty messages"),
            (
                "assistant",
                json!({ "content_type": "thoughts", "thoughts": [] }),
                "thoughts of the model",
            ),
            (
                "user",
                json!({ "content_type": "user_editable_context", "user_profile": "x" }),
                "custom instructions",
            ),
            (
                "user",
                parts(json!([{ "asset_pointer": "sediment://file_1" }])),
                "images without words",
            ),
            (
                "user",
                parts(json!([{ "content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_2" }])),
                "recordings without a transcript",
            ),
            (
                "user",
                parts(json!([{ "content_type": "real_time_user_audio_video_asset_pointer",
                    "audio_asset_pointer": { "asset_pointer": "sediment://file_3" } }])),
                "recordings without a transcript",
            ),
            ("critic", text_content("Hm."), "messages of other roles"),
            ("user", json!(null), "empty messages"),
        ] {
            let nodes = json!({ "mapping": { "a": message_node("", role, 1.0, content) }, "current_node": "a" });
            let mut left_out = LeftOut::default();
            assert!(
                records_from_conversation(&nodes, &mut left_out).unwrap().is_empty(),
                "{expected}"
            );
            assert_eq!(left_out.in_words(), [format!("{expected}: 1")]);
        }
        let drawn =
            parts(json!([{ "asset_pointer": "sediment://f", "metadata": { "dalle": { "prompt": "A red barn" } } }]));
        let nodes = json!({ "mapping": { "a": message_node("", "tool", 1.0, drawn) }, "current_node": "a" });
        let record = records_from_conversation(&nodes, &mut LeftOut::default())
            .unwrap()
            .remove(0);
        assert_eq!(
            (&record["image_caption"], &record["image_uri"]),
            (&json!("A red barn"), &json!("sediment://f"))
        );
    }

    #[test]
    fn times_that_a_record_cannot_have_are_counted_and_replaced_by_earlier_ones() {
        let mut conversation = sample_conversation();
        conversation["create_time"] = json!("soon");
        conversation["mapping"]["n4"]["message"]["create_time"] = json!("yesterday");
        conversation["mapping"]["n5"]["message"]["create_time"] = json!("2999-01-15");
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&conversation, &mut left_out).unwrap();
        assert!(records.iter().all(|it| it["observed_at"] == "2026-03-02T18:00:01.500Z"));
        assert_eq!(records[1]["metadata"].get("date"), None);
        assert_eq!(records[2]["metadata"]["date"], "2999-01-15T00:00:00Z");
        let counts = left_out.in_words();
        assert!(counts.contains(&"times in the future: 1".to_owned()), "{counts:?}");
        assert!(
            counts.contains(&"times that could not be read: 2".to_owned()),
            "{counts:?}"
        );
    }

    #[test]
    fn audio_and_video_parts_are_not_imported_as_images() {
        let content = json!({ "content_type": "multimodal_text", "parts": [
            { "content_type": "audio_transcription", "text": "Call me on Monday.", "direction": "in" },
            { "content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_1", "format": "wav" },
            { "content_type": "video_container_asset_pointer", "asset_pointer": "sediment://file_2" } ] });
        let nodes = json!({ "mapping": { "a": message_node("", "user", 1.0, content) }, "current_node": "a" });
        let mut left_out = LeftOut::default();
        let records = records_from_conversation(&nodes, &mut left_out).unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["text"], "Call me on Monday.");
        assert!(records[0].get("image_uri").is_none(), "{}", records[0]);
        assert_eq!(left_out.in_words(), Vec::<String>::new());
    }
}
