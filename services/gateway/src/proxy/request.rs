//! A request for a chat completion. Only the fields that the memory needs are parsed; the request itself stays
//! unchanged.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ProxyCode;
use super::refusal::Refusal;

/// Maximum number of messages in one request: all are parsed.
const MESSAGES_MAX: usize = 10_000;

/// A request with its fields in the original order and text.
pub(crate) struct ChatRequest {
    fields: Vec<Field>,
    messages: Vec<Box<RawValue>>,
    said: Vec<Message>,
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
    pub(crate) fn read(body: &[u8]) -> Result<ChatRequest, Refusal> {
        let Fields(fields) = serde_json::from_slice(body)
            .map_err(|error| Refusal::invalid(ProxyCode::InvalidJson, format!("the body cannot be read: {error}")))?;
        let mut names = BTreeSet::new();
        if let Some(twice) = fields.iter().find(|it| !names.insert(it.name.as_str())) {
            let name: String = twice.name.chars().take(64).collect();
            return Err(Refusal::invalid(ProxyCode::Invalid, format!("{name}: is there twice")));
        }
        let value = |name: &str| fields.iter().find(|it| it.name == name).map(|it| it.value.get());
        let messages = value("messages").ok_or_else(|| Refusal::invalid(ProxyCode::Invalid, "messages: is missing"))?;
        let messages: Vec<Box<RawValue>> = serde_json::from_str(messages)
            .map_err(|_| Refusal::invalid(ProxyCode::Invalid, "messages: is not a list of messages"))?;
        if messages.is_empty() || messages.len() > MESSAGES_MAX {
            let detail = format!("messages: has {}, and not 1 to {MESSAGES_MAX}", messages.len());
            return Err(Refusal::invalid(ProxyCode::Invalid, detail));
        }
        let said = messages.iter().map(|it| read_message(it)).collect();
        let user: Option<Value> = value("user").and_then(|it| serde_json::from_str(it).ok());
        let user = user.and_then(|it| it.as_str().map(str::to_owned));
        Ok(ChatRequest {
            fields,
            messages,
            said,
            user,
        })
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns the last text of the user; `None` if there is none.
    pub(super) fn question(&self) -> Option<&str> {
        let users = self.said.iter().rev().filter(|it| it.role == Role::User);
        users.map(|it| it.text.as_str()).find(|it| !it.trim().is_empty())
    }

    /// Returns the messages of the user since the last reply, each with its index in the conversation.
    pub(super) fn turn(&self) -> impl Iterator<Item = (usize, &Message)> {
        let replied = self.said.iter().rposition(|it| it.role == Role::Assistant);
        let from = replied.map_or(0, |it| it + 1);
        let since = self.said.iter().enumerate().skip(from);
        since.filter(|(_, it)| it.role == Role::User && !it.text.trim().is_empty())
    }

    /// Returns the body to forward: unchanged, except that `model` is replaced if one is configured, and `remembered`
    /// is inserted as a system message after the first system messages of the conversation.
    pub(super) fn body(&self, model: &str, remembered: Option<&str>) -> Vec<u8> {
        let mut fields: Vec<String> = Vec::with_capacity(self.fields.len() + 1);
        let named = |name: &str, value: &str| format!("{}:{value}", Value::from(name));
        for Field { name, value } in &self.fields {
            fields.push(match (name.as_str(), remembered) {
                ("messages", Some(text)) => named(name, &self.messages_with(text)),
                ("model", _) if !model.is_empty() => named(name, &Value::from(model).to_string()),
                (_, _) => named(name, value.get()),
            });
        }
        if !model.is_empty() && self.fields.iter().all(|it| it.name != "model") {
            fields.push(named("model", &Value::from(model).to_string()));
        }
        format!("{{{}}}", fields.join(",")).into_bytes()
    }

    fn messages_with(&self, text: &str) -> String {
        let leading = self.said.iter().take_while(|it| it.role == Role::System).count();
        let ours = format!(r#"{{"role":"system","content":{}}}"#, Value::from(text));
        let mut all: Vec<&str> = self.messages.iter().map(|it| it.get()).collect();
        all.insert(leading, &ours);
        format!("[{}]", all.join(","))
    }
}

/// Parses a message. Fields that are not understood are left to the endpoint.
fn read_message(raw: &RawValue) -> Message {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let role = match value["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some(_) | None => Role::Other,
    };
    let text = match role {
        Role::User => text_of(&value["content"]),
        Role::System | Role::Assistant | Role::Other => String::new(),
    };
    Message {
        role,
        name: value["name"].as_str().filter(|it| !it.is_empty()).map(str::to_owned),
        text,
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

    fn read(body: &str) -> ChatRequest {
        ChatRequest::read(body.as_bytes()).ok().unwrap()
    }

    #[test]
    fn all_fields_except_messages_and_model_are_forwarded_unchanged() {
        let body = r#"{"z":1.10,"tools":[{"b":1,"a":2}],"model":"x","messages":[{"role":"system","content":"S"},{"content":"Hi","role":"user","extra":9007199254740993123}],"a":null}"#;
        let request = read(body);
        assert_eq!(String::from_utf8(request.body("", None)).unwrap(), body);
        let sent = String::from_utf8(request.body("big", Some("R \"1\""))).unwrap();
        let expected = body.replace(r#""model":"x""#, r#""model":"big""#).replace(
            r#"{"role":"system","content":"S"},"#,
            r#"{"role":"system","content":"S"},{"role":"system","content":"R \"1\""},"#,
        );
        assert_eq!(sent, expected);
        let bare = read(r#"{"messages":[{"role":"user","content":"Hi"}]}"#);
        assert_eq!(
            String::from_utf8(bare.body("big", Some("R"))).unwrap(),
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
        let request = read(&messages.to_string());
        let turn: Vec<(usize, &str, Option<&str>)> = request
            .turn()
            .map(|(at, it)| (at, it.text.as_str(), it.name.as_deref()))
            .collect();
        assert_eq!(turn, [(3, "Rex.", Some("Ann")), (4, "And this\nis he.", None)]);
        assert_eq!(request.question(), Some("And this\nis he."));
        let looping = json!({"messages": [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "tool_calls": []},
            {"role": "tool", "content": "12"},
        ]});
        let looping = read(&looping.to_string());
        assert_eq!(looping.turn().count(), 0);
        assert_eq!(looping.question(), Some("How warm is it?"));
    }

    #[test]
    fn invalid_bodies_are_refused() {
        for (body, expected) in [
            ("[]", "the body cannot be read"),
            ("{", "the body cannot be read"),
            (r#"{"model":"x"}"#, "messages: is missing"),
            (r#"{"messages":"x"}"#, "messages: is not a list"),
            (r#"{"messages":[]}"#, "messages: has 0"),
            (r#"{"messages":[{}],"messages":[{}]}"#, "messages: is there twice"),
        ] {
            let refusal = ChatRequest::read(body.as_bytes()).err().unwrap();
            assert!(format!("{refusal:?}").contains(expected), "{refusal:?}");
        }
        assert!(
            ChatRequest::read(br#"{"messages":[7]}"#).is_ok(),
            "the endpoint says what is wrong with it"
        );
    }
}
