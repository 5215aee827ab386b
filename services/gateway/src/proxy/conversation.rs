//! A digest of what was said in a conversation, from which the ids of its records derive.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::hex::to_hex;

/// A digest of the messages of a conversation up to a place, in order.
///
/// It depends on the author, the text and the tool calls of each message, and on results of tools. It does not depend
/// on pictures and sounds, nor on the ids of tool calls, which differ each time a model makes the same call.
#[derive(Default)]
pub(super) struct ConversationDigest(Sha256);

impl ConversationDigest {
    /// Adds the next message; `text` is the text of its content.
    pub(super) fn add_message(&mut self, message: &Value, text: &str) {
        let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut fields = vec![field(&message["role"]), field(&message["name"]), text.to_owned()];
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            fields.extend([field(&function["name"]), field(&function["arguments"])]);
        }
        // Without the count, the fields of two messages could be those of one.
        self.0.update((fields.len() as u64).to_be_bytes());
        fields.iter().for_each(|it| add_field(&mut self.0, it));
    }

    /// Returns the digest of the messages that were added so far, in hexadecimal digits.
    pub(super) fn to_text(&self) -> String {
        to_hex(&self.0.clone().finalize()[..16])
    }
}

/// Adds a text and its length to a hash.
pub(super) fn add_field(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digest_of(messages: &[Value]) -> String {
        let mut digest = ConversationDigest::default();
        for message in messages {
            digest.add_message(message, message["content"].as_str().unwrap_or_default());
        }
        digest.to_text()
    }

    #[test]
    fn conversations_in_which_something_else_was_said_have_different_digests() {
        let call = |name: &str, id: &str| {
            json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "function": { "name": name, "arguments": "{}" } }] })
        };
        let user = |text: &str| json!({ "role": "user", "content": text });
        let all = [
            vec![],
            vec![user("a")],
            vec![user("b")],
            vec![user("a"), user("b")],
            vec![user("b"), user("a")],
            vec![json!({ "role": "user", "name": "Ann", "content": "a" })],
            vec![json!({ "role": "assistant", "content": "a" })],
            vec![json!({ "role": "tool", "content": "a" })],
            vec![call("weather", "c1")],
            vec![call("clock", "c1")],
        ];
        let mut digests: Vec<String> = all.iter().map(|it| digest_of(it)).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
        assert_eq!(
            digest_of(&[call("weather", "c1")]),
            digest_of(&[call("weather", "c2")]),
            "the id of a call is not something that was said"
        );
    }
}
