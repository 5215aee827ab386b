//! Structured output: JSON in the replies of language models, which add thoughts, remarks and code fences.

use serde::de::DeserializeOwned;
use serde_json::Deserializer;

/// Number of bytes at the end of a reply that are read.
const REPLY_MAX: usize = 64 * 1024;

/// Returns the part of a reply that is read: its last 64 KiB.
pub fn tail_of_reply(reply: &str) -> &str {
    &reply[reply.ceil_char_boundary(reply.len().saturating_sub(REPLY_MAX))..]
}

/// Returns the text of a reply after its thoughts (`<think>`); `None` if the thoughts do not end.
pub fn after_thoughts(reply: &str) -> Option<&str> {
    let last = tail_of_reply(reply);
    let answer = last.rsplit_once("</think>").map_or(last, |(_, answer)| answer);
    (!answer.contains("<think>")).then_some(answer)
}

/// Returns the last object in a text that parses as `T`, with the byte offset at which it begins. The last one counts
/// because a model that thinks aloud ends with its answer.
pub fn last_object<T: DeserializeOwned>(text: &str) -> Option<(usize, T)> {
    let mut found = None;
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|offset| from + offset) {
        let mut objects = Deserializer::from_str(&text[at..]).into_iter::<T>();
        match objects.next() {
            Some(Ok(object)) => {
                found = Some((at, object));
                from = at + objects.byte_offset().max(1);
            }
            Some(Err(_)) | None => from = at + 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Dog {
        name: String,
    }

    fn read_dog(reply: &str) -> Option<String> {
        let (_, dog) = last_object::<Dog>(after_thoughts(reply)?)?;
        Some(dog.name)
    }

    #[test]
    fn the_last_json_object_outside_the_thoughts_of_a_model_is_parsed() {
        for reply in [
            r#"{"name": "Fido"}"#,
            "```json\n{\"name\": \"Fido\"}\n```",
            r#"<think>{"name": "Rex"}? No.</think>{"name": "Rex"}, or rather {"name": "Fido"}."#,
            r#"{ it is {"name": "Fido"} }"#,
        ] {
            assert_eq!(read_dog(reply).as_deref(), Some("Fido"), "{reply}");
        }
        for reply in [
            "",
            "Fido",
            r#"{"name": "Fi"#,
            r#"<think>{"name": "Rex"}"#,
            r#"{"dog": 1}"#,
        ] {
            assert_eq!(read_dog(reply), None, "{reply}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_reply_is_read() {
        let reply = format!("{}{{\"name\": \"Fido\"}}", "é{".repeat(60_000));
        assert_eq!(read_dog(&reply).as_deref(), Some("Fido"));
    }
}
