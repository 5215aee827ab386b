//! Chat messages as records: messages of a client of a language model are accepted unchanged.
//!
//! A message is `{role, content, name?}`, with optional fields of a record (`id`, `session`, `ordinal`, `observed_at`,
//! `tags`, `metadata`). Its content is a text or a list of parts, of which texts and the first picture are kept; a
//! picture that is too long for a record is left out. Each tool call becomes a separate record. System and developer
//! messages are left out: they are instructions from a program to a model, not events.

use serde_json::{Map, Value, json};

use super::message_content::Content;
use super::tool_calls::{Calls, session_name, tool_calls_of};

/// Fields of a record that a message may also have.
const SHARED: [&str; 6] = ["id", "session", "ordinal", "observed_at", "tags", "metadata"];
/// Fields of messages that are ignored, because they describe no event.
const IGNORED: [&str; 7] = [
    "audio",
    "annotations",
    "function_call",
    "refusal",
    "reasoning_content",
    "status",
    "type",
];

/// Chat messages as records, unchecked.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FromMessages {
    /// The records, in the order of the messages.
    pub(crate) records: Vec<Value>,
    /// Number of messages that are not stored: those with the role `system` or `developer`, and those that hold no
    /// text, no tool call and no picture that a record can hold.
    pub(crate) left_out: usize,
    /// For each record, the index of its element in the field `records` of the request; empty if the request has
    /// `messages`.
    pub(crate) elements: Vec<usize>,
}

impl FromMessages {
    /// Parses messages: a list of them, a single message, or the text of a message of the user. `session` is the session
    /// of the messages that have none; it is not added to their records.
    ///
    /// # Errors
    /// Names the message and the field that are invalid.
    pub(crate) fn parse_messages(messages: Value, session: Option<&str>) -> Result<FromMessages, String> {
        let all = match messages {
            Value::Array(all) => all,
            Value::String(text) => vec![json!({"role": "user", "content": text})],
            one @ Value::Object(_) => vec![one],
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                return Err("messages: is not a list of messages, a message or a text".to_owned());
            }
        };
        let mut read = FromMessages::default();
        let mut calls = Calls::of_messages(session);
        for (index, message) in all.into_iter().enumerate() {
            read.add_item(message, &mut calls)
                .map_err(|error| format!("messages[{index}]{error}"))?;
        }
        Ok(read)
    }

    /// Adds the records of an item of a list of messages: a message, or the text of a message of the user. `calls` are
    /// the tool calls of the earlier messages.
    ///
    /// # Errors
    /// Names the field that is invalid, after a `.`, or says what is wrong with the item, after a `:`.
    pub(super) fn add_item(&mut self, item: Value, calls: &mut Calls) -> Result<(), String> {
        let message = match item {
            Value::Object(it) => it,
            Value::String(text) => {
                let mut it = Map::new();
                it.insert("role".to_owned(), json!("user"));
                it.insert("content".to_owned(), Value::String(text));
                it
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                return Err(": is neither an object nor a text".to_owned());
            }
        };
        let is_kept = self.add_message(message, calls)?;
        self.left_out += usize::from(!is_kept);
        Ok(())
    }

    /// Adds the records of a message; returns false if the message is empty.
    fn add_message(&mut self, mut message: Map<String, Value>, calls: &mut Calls) -> Result<bool, String> {
        let role = text_of(&mut message, "role")?.ok_or(".role: is missing")?;
        let name = text_of(&mut message, "name")?;
        let content = message.remove("content").unwrap_or_default();
        let tool_calls = message.remove("tool_calls").unwrap_or_default();
        let call_id = text_of(&mut message, "tool_call_id")?;
        IGNORED.iter().for_each(|it| {
            message.remove(*it);
        });
        if let Some(unknown) = message.keys().find(|it| !SHARED.contains(&it.as_str())) {
            return Err(format!(
                ".{unknown}: is not a field of a message; a message has role, content, name, tool_calls, tool_call_id, {}",
                SHARED.join(", ")
            ));
        }
        if matches!(role.as_str(), "system" | "developer") {
            return Ok(false);
        }
        let content = Content::from_json(content)?;
        if matches!(role.as_str(), "tool" | "function") {
            self.add_result(message, calls, ToolResult { call_id, name, content });
            return Ok(true);
        }
        let actor = name.filter(|it| !it.trim().is_empty()).unwrap_or(role);
        let new_calls = tool_calls_of(tool_calls)?;
        let mut taken = MessageRecords::new(message, &actor);
        if !content.is_empty() {
            self.records.push(taken.next_record(|it| {
                if !content.text.trim().is_empty() {
                    it.insert("text".to_owned(), json!(content.text));
                }
                if let Some(image) = content.image {
                    it.insert("image_uri".to_owned(), json!(image));
                }
            }));
        }
        for call in new_calls {
            let place = calls.place_of_call(taken.session_name(), call.id);
            calls.records_by_call.insert(place, self.records.len());
            self.records.push(taken.next_record(|it| {
                it.insert(
                    "tool".to_owned(),
                    json!({"name": call.name, "arguments": call.arguments}),
                );
            }));
        }
        Ok(taken.count > 0)
    }

    /// Adds the result of a tool to the record of its call. If the call is not among the earlier messages of its
    /// session, or if the result keeps its own id, it becomes a separate record.
    fn add_result(&mut self, message: Map<String, Value>, calls: &mut Calls, result: ToolResult) {
        let ToolResult { call_id, name, content } = result;
        let is_separate = calls.keeps_own_ids && message.get("id").is_some_and(|it| !it.is_null());
        let place = call_id
            .filter(|_| !is_separate)
            .map(|it| calls.place_of_call(session_name(&message), it));
        let call = place.and_then(|it| calls.records_by_call.remove(&it));
        if let Some(tool) = call.and_then(|it| self.records[it].get_mut("tool")) {
            tool["result"] = json!(content.text);
            return;
        }
        let name = name
            .filter(|it| !it.trim().is_empty())
            .unwrap_or_else(|| "tool".to_owned());
        let mut taken = MessageRecords::new(message, "tool");
        self.records.push(taken.next_record(|it| {
            it.insert("tool".to_owned(), json!({"name": name, "result": content.text}));
        }));
    }
}

/// Returns true if an item of `records` is a chat message.
pub(crate) fn is_message(item: &Value) -> bool {
    item.as_object()
        .is_some_and(|it| it.contains_key("role") || it.contains_key("content"))
}

struct ToolResult {
    call_id: Option<String>,
    name: Option<String>,
    content: Content,
}

/// Builder of the records of one message. The first record has the id of the message; the ids of the others derive from
/// it.
struct MessageRecords {
    shared: Map<String, Value>,
    count: usize,
}

impl MessageRecords {
    fn new(mut shared: Map<String, Value>, actor: &str) -> MessageRecords {
        shared.insert("actor".to_owned(), json!(actor));
        MessageRecords { shared, count: 0 }
    }

    fn session_name(&self) -> Option<&str> {
        session_name(&self.shared)
    }

    fn next_record(&mut self, fill: impl FnOnce(&mut Map<String, Value>)) -> Value {
        let mut record = self.shared.clone();
        if self.count > 0
            && let Some(Value::String(id)) = record.get_mut("id")
        {
            id.push_str(&format!("/{}", self.count));
        }
        self.count += 1;
        fill(&mut record);
        Value::Object(record)
    }
}

/// Removes a text field from a message and returns it.
fn text_of(message: &mut Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match message.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!(".{field}: is not a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_valid_messages(messages: Value) -> FromMessages {
        FromMessages::parse_messages(messages, None).unwrap()
    }

    #[test]
    fn messages_may_be_a_list_a_single_message_or_a_text() {
        let one = json!([{"actor": "user", "text": "I moved to Oslo."}]);
        for messages in [
            json!([{"role": "user", "content": "I moved to Oslo."}]),
            json!({"role": "user", "content": "I moved to Oslo."}),
            json!({"role": "user", "content": [{"type": "text", "text": "I moved to Oslo."}]}),
            json!("I moved to Oslo."),
            json!(["I moved to Oslo."]),
        ] {
            assert_eq!(
                Value::Array(parse_valid_messages(messages.clone()).records),
                one,
                "{messages}"
            );
        }
    }

    #[test]
    fn names_times_and_ids_are_kept_and_system_messages_are_not() {
        let read = parse_valid_messages(json!([
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "name": "Ann", "content": "Hi", "id": "m1", "observed_at": "2026-05-04T10:00:00Z"},
            {"role": "assistant", "content": "", "refusal": null},
        ]));
        let expected = json!([{"id": "m1", "observed_at": "2026-05-04T10:00:00Z", "actor": "Ann", "text": "Hi"}]);
        assert_eq!((Value::Array(read.records), read.left_out), (expected, 2));
    }

    #[test]
    fn texts_and_the_first_picture_are_kept() {
        let read = parse_valid_messages(json!({"role": "user", "id": "m", "content": [
            {"type": "text", "text": "Look"}, {"type": "input_audio", "input_audio": {}},
            {"type": "image_url", "image_url": {"url": "https://a.example/1.png"}},
            {"type": "image_url", "image_url": "https://a.example/2.png"},
        ]}));
        let expected = json!([
            {"id": "m", "actor": "user", "text": "Look", "image_uri": "https://a.example/1.png"},
        ]);
        assert_eq!(Value::Array(read.records), expected);
    }

    #[test]
    fn a_picture_that_is_too_long_for_a_record_is_left_out() {
        let long = format!("data:image/jpeg;base64,{}", "A".repeat(300 << 10));
        let picture = |uri: &str| json!({"type": "image_url", "image_url": {"url": uri}});
        let read = parse_valid_messages(json!([
            {"role": "user", "content": [{"type": "text", "text": "My dog."}, picture(&long)]},
            {"role": "user", "content": [{"type": "text", "text": "My cat."}, picture(&long),
                picture("data:image/png;base64,AAAA")]},
            {"role": "user", "content": [picture(&long)]},
        ]));
        let expected = json!([
            {"actor": "user", "text": "My dog."},
            {"actor": "user", "text": "My cat.", "image_uri": "data:image/png;base64,AAAA"},
        ]);
        assert_eq!((Value::Array(read.records), read.left_out), (expected, 1));
    }

    #[test]
    fn results_of_tools_are_stored_with_their_calls() {
        let read = parse_valid_messages(json!([
            {"role": "assistant", "id": "m", "content": "A moment.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "tool", "tool_call_id": "gone", "name": "clock", "content": [{"type": "text", "text": "noon"}]},
        ]));
        let expected = json!([
            {"id": "m", "actor": "assistant", "text": "A moment."},
            {"id": "m/1", "actor": "assistant", "tool": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}", "result": "rain"}},
            {"actor": "tool", "tool": {"name": "clock", "result": "noon"}},
        ]);
        assert_eq!((Value::Array(read.records), read.left_out), (expected, 0));
    }

    #[test]
    fn a_result_is_stored_with_the_call_of_its_session() {
        let calls = json!([{"id": "c", "function": {"name": "look"}}]);
        let call = |session: &str| json!({"role": "assistant", "session": session, "tool_calls": calls});
        let read = parse_valid_messages(json!([
            call("monday"),
            call("default"),
            {"role": "tool", "tool_call_id": "c", "content": "sun"},
            {"role": "tool", "tool_call_id": "c", "session": "monday", "content": "rain"},
            {"role": "tool", "tool_call_id": "c", "session": "tuesday", "content": "snow"},
        ]));
        let results = read.records.iter().map(|it| [&it["session"], &it["tool"]["result"]]);
        let expected = [["monday", "rain"], ["default", "sun"], ["tuesday", "snow"]];
        assert_eq!(results.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_error_names_the_place_of_the_invalid_value() {
        for (messages, expected) in [
            (json!(7), "messages: is not a list"),
            (json!([{"role": "user", "content": "a"}, 7]), "messages[1]: is neither"),
            (json!([{"content": "a"}]), "messages[0].role: is missing"),
            (json!([{"role": 7, "content": "a"}]), "messages[0].role: is not a text"),
            (
                json!([{"role": "user", "content": {"a": 1}}]),
                "messages[0].content: is neither",
            ),
            (
                json!([{"role": "user", "content": [{"text": "a"}]}]),
                "messages[0].content[0]: has no type",
            ),
            (
                json!([{"role": "user", "content": "a", "colour": 1}]),
                "messages[0].colour: is not a field",
            ),
            (
                json!([{"role": "assistant", "tool_calls": {}}]),
                "messages[0].tool_calls: is not a list",
            ),
            (
                json!([{"role": "assistant", "tool_calls": [{}]}]),
                "messages[0].tool_calls[0].function.name: is missing",
            ),
        ] {
            let error = FromMessages::parse_messages(messages, None).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
