//! A request for a chat completion. Only the fields that the memory needs are parsed; the request itself stays
//! unchanged.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ProxyCode;
use super::conversation::ConversationDigest;
use super::refusal::Refusal;

/// Maximum number of messages in one request: all are parsed.
const MESSAGES_MAX: usize = 10_000;

/// A request with its fields in the original order and text.
pub(crate) struct ChatRequest {
    fields: Vec<Field>,
    messages: Vec<Box<RawValue>>,
    parsed_messages: Vec<Message>,
    /// Digest of the conversation: of all messages except those of the system.
    pub(super) conversation: String,
    /// The end user that the caller names.
    pub(super) user: Option<String>,
}

/// One message, with the fields that the memory needs.
#[derive(Debug, PartialEq)]
pub(super) struct Message {
    pub(super) role: Role,
    /// Name of the author, if the caller gives it.
    pub(super) name: Option<String>,
    /// The text of a user's message, its parts joined by line breaks; pictures and sounds are left out.
    pub(super) text: String,
    /// Digest of the conversation before this message.
    pub(super) before: String,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Instructions of the program.
    System,
    User,
    Assistant,
    /// Results of tools, and unknown roles.
    Other,
}

struct Field {
    name: String,
    value: Box<RawValue>,
}

struct Fields(Vec<Field>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry()? {
                    fields.push(Field { name, value });
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl ChatRequest {
    /// Parses a body.
    ///
    /// # Errors
    /// The body is not JSON, not an object, or has no list of messages; a field occurs twice, and an endpoint might use
    /// the other value.
    pub(crate) fn from_body(body: &[u8]) -> Result<ChatRequest, Refusal> {
        let Fields(fields) = serde_json::from_slice(body).map_err(|error| {
            Refusal::invalid_request(ProxyCode::InvalidJson, format!("the body cannot be read: {error}"))
        })?;
        let mut names = BTreeSet::new();
        if let Some(twice) = fields.iter().find(|it| !names.insert(it.name.as_str())) {
            let name: String = twice.name.chars().take(64).collect();
            return Err(Refusal::invalid_request(
                ProxyCode::Invalid,
                format!("{name}: occurs twice"),
            ));
        }
        let value = |name: &str| fields.iter().find(|it| it.name == name).map(|it| it.value.get());
        let messages =
            value("messages").ok_or_else(|| Refusal::invalid_request(ProxyCode::Invalid, "messages: is missing"))?;
        let messages: Vec<Box<RawValue>> = serde_json::from_str(messages)
            .map_err(|_| Refusal::invalid_request(ProxyCode::Invalid, "messages: is not a list of messages"))?;
        if messages.is_empty() || messages.len() > MESSAGES_MAX {
            let detail = format!(
                "messages: has {} messages instead of 1 to {MESSAGES_MAX}",
                messages.len()
            );
            return Err(Refusal::invalid_request(ProxyCode::Invalid, detail));
        }
        let mut conversation = ConversationDigest::default();
        let parsed_messages = messages.iter().map(|it| read_message(it, &mut conversation)).collect();
        let user: Option<Value> = value("user").and_then(|it| serde_json::from_str(it).ok());
        let user = user.and_then(|it| it.as_str().map(str::to_owned));
        Ok(ChatRequest {
            fields,
            messages,
            parsed_messages,
            conversation: conversation.to_text(),
            user,
        })
    }

    /// Returns the last text of the user; `None` if there is none.
    pub(super) fn last_user_text(&self) -> Option<&str> {
        let users = self.parsed_messages.iter().rev().filter(|it| it.role == Role::User);
        users.map(|it| it.text.as_str()).find(|it| !it.trim().is_empty())
    }

    /// Returns the messages of the user since the last reply. Messages of the assistant at the end are the beginning of
    /// the reply that is requested.
    pub(super) fn user_messages_since_reply(&self) -> impl Iterator<Item = &Message> {
        let is_reply = |it: &Message| it.role == Role::Assistant;
        let messages = &self.parsed_messages;
        let end = messages.iter().rposition(|it| !is_reply(it)).map_or(0, |it| it + 1);
        let replied = messages[..end].iter().rposition(is_reply);
        let from = replied.map_or(0, |it| it + 1);
        let since = messages.iter().skip(from);
        since.filter(|it| it.role == Role::User && !it.text.trim().is_empty())
    }

    /// Returns the body to forward: unchanged, except that `model` is replaced if one is configured, and `remembered`
    /// is inserted as a system message after the first system messages of the conversation.
    pub(super) fn to_forwarded_body(&self, model: &str, remembered: Option<&str>) -> Vec<u8> {
        let mut fields: Vec<String> = Vec::with_capacity(self.fields.len() + 1);
        let field_text = |name: &str, value: &str| format!("{}:{value}", Value::from(name));
        for Field { name, value } in &self.fields {
            fields.push(match (name.as_str(), remembered) {
                ("messages", Some(text)) => field_text(name, &self.messages_with(text)),
                ("model", _) if !model.is_empty() => field_text(name, &Value::from(model).to_string()),
                (_, _) => field_text(name, value.get()),
            });
        }
        if !model.is_empty() && self.fields.iter().all(|it| it.name != "model") {
            fields.push(field_text("model", &Value::from(model).to_string()));
        }
        format!("{{{}}}", fields.join(",")).into_bytes()
    }

    fn messages_with(&self, text: &str) -> String {
        let leading = self
            .parsed_messages
            .iter()
            .take_while(|it| it.role == Role::System)
            .count();
        let ours = format!(r#"{{"role":"system","content":{}}}"#, Value::from(text));
        let mut all: Vec<&str> = self.messages.iter().map(|it| it.get()).collect();
        all.insert(leading, &ours);
        format!("[{}]", all.join(","))
    }
}

/// Parses a message, and adds it to the digest of the messages before it. A message of the system is not added: it may
/// hold the current time, and would make a repeated request another conversation. Fields that are not understood are
/// left to the endpoint.
fn read_message(raw: &RawValue, conversation: &mut ConversationDigest) -> Message {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let role = match value["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some(_) | None => Role::Other,
    };
    let text = text_of(&value["content"]);
    let before = conversation.to_text();
    if role != Role::System {
        conversation.add_message(&value, &text);
    }
    Message {
        role,
        name: value["name"].as_str().filter(|it| !it.is_empty()).map(str::to_owned),
        text: match role {
            Role::User => text,
            Role::System | Role::Assistant | Role::Other => String::new(),
        },
        before,
    }
}

/// Returns the text of a content: the text itself, or its text parts joined by line breaks.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|it| it["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request_of_body(body: &str) -> ChatRequest {
        ChatRequest::from_body(body.as_bytes()).ok().unwrap()
    }

    #[test]
    fn all_fields_except_messages_and_model_are_forwarded_unchanged() {
        let body = r#"{"z":1.10,"tools":[{"b":1,"a":2}],"model":"x","messages":[{"role":"system","content":"S"},{"content":"Hi","role":"user","extra":9007199254740993123}],"a":null}"#;
        let request = request_of_body(body);
        assert_eq!(String::from_utf8(request.to_forwarded_body("", None)).unwrap(), body);
        let sent = String::from_utf8(request.to_forwarded_body("big", Some("R \"1\""))).unwrap();
        let expected = body.replace(r#""model":"x""#, r#""model":"big""#).replace(
            r#"{"role":"system","content":"S"},"#,
            r#"{"role":"system","content":"S"},{"role":"system","content":"R \"1\""},"#,
        );
        assert_eq!(sent, expected);
        let bare = request_of_body(r#"{"messages":[{"role":"user","content":"Hi"}]}"#);
        assert_eq!(
            String::from_utf8(bare.to_forwarded_body("big", Some("R"))).unwrap(),
            r#"{"messages":[{"role":"system","content":"R"},{"role":"user","content":"Hi"}],"model":"big"}"#
        );
    }

    #[test]
    fn a_turn_contains_the_user_messages_since_the_last_reply() {
        let messages = json!({"messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "I have a dog."},
            {"role": "assistant", "content": "What is it called?"},
            {"role": "user", "name": "Ann", "content": "Rex."},
            {"role": "user", "content": [{"type": "text", "text": "And this"}, {"type": "image_url", "image_url": {"url": "x"}},
                {"type": "text", "text": "is he."}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "y"}}]},
        ]});
        let request = request_of_body(&messages.to_string());
        let turn: Vec<(&str, Option<&str>)> = request
            .user_messages_since_reply()
            .map(|it| (it.text.as_str(), it.name.as_deref()))
            .collect();
        assert_eq!(turn, [("Rex.", Some("Ann")), ("And this\nis he.", None)]);
        assert_eq!(request.last_user_text(), Some("And this\nis he."));
        let looping = json!({"messages": [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "tool_calls": []},
            {"role": "tool", "content": "12"},
        ]});
        let looping = request_of_body(&looping.to_string());
        assert_eq!(looping.user_messages_since_reply().count(), 0);
        assert_eq!(looping.last_user_text(), Some("How warm is it?"));
    }

    #[test]
    fn a_reply_that_the_caller_begins_belongs_to_the_turn() {
        let messages = json!({"messages": [
            {"role": "user", "content": "I have a dog."},
            {"role": "assistant", "content": "What is it called?"},
            {"role": "user", "content": "Rex."},
            {"role": "assistant", "content": "Sure: "},
        ]});
        let request = request_of_body(&messages.to_string());
        let turn: Vec<&str> = request.user_messages_since_reply().map(|it| it.text.as_str()).collect();
        assert_eq!(turn, ["Rex."]);
        let without_user = request_of_body(r#"{"messages":[{"role":"assistant","content":"Hi"}]}"#);
        assert_eq!(without_user.user_messages_since_reply().count(), 0);
    }

    #[test]
    fn a_message_knows_the_conversation_before_it_without_messages_of_the_system() {
        let request_of = |clock: &str, question: &str| {
            let messages = json!({"messages": [
                {"role": "system", "content": clock},
                {"role": "user", "content": question},
                {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "Thanks."},
            ]});
            request_of_body(&messages.to_string())
        };
        let before = |request: &ChatRequest| request.user_messages_since_reply().next().unwrap().before.clone();
        let first = request_of("It is 9:00.", "Is it warm?");
        let retry = request_of("It is 9:01.", "Is it warm?");
        let other = request_of("It is 9:00.", "Is it cold?");
        assert_eq!(
            (before(&first), &first.conversation),
            (before(&retry), &retry.conversation)
        );
        assert_ne!(before(&first), before(&other));
        assert_ne!(first.conversation, other.conversation);
        assert_ne!(before(&first), first.conversation);
    }

    #[test]
    fn invalid_bodies_are_refused() {
        for (body, expected) in [
            ("[]", "the body cannot be read"),
            ("{", "the body cannot be read"),
            (r#"{"model":"x"}"#, "messages: is missing"),
            (r#"{"messages":"x"}"#, "messages: is not a list"),
            (r#"{"messages":[]}"#, "messages: has 0"),
            (r#"{"messages":[{}],"messages":[{}]}"#, "messages: occurs twice"),
        ] {
            let refusal = ChatRequest::from_body(body.as_bytes()).err().unwrap();
            assert!(format!("{refusal:?}").contains(expected), "{refusal:?}");
        }
        assert!(
            ChatRequest::from_body(br#"{"messages":[7]}"#).is_ok(),
            "the endpoint says what is wrong with it"
        );
    }
}
