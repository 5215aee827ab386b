//! Builds records from the data of other programs, within the limits of a server.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::remote_commands::keys::to_hex;

/// Longest id, session or actor, in bytes.
const NAME_BYTES_MAX: usize = 256;
const URI_BYTES_MAX: usize = 2_048;
const METADATA_ENTRIES_MAX: usize = 32;
const METADATA_NAME_BYTES_MAX: usize = 64;
pub(super) const METADATA_VALUE_BYTES_MAX: usize = 1_024;

/// Counts of entries that were left out on purpose, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut(BTreeMap<&'static str, u64>);

impl LeftOut {
    /// Adds one to the count of a kind.
    pub(super) fn count_one(&mut self, what: &'static str) {
        self.count_several(what, 1);
    }

    /// Adds `count` to the count of a kind.
    pub(super) fn count_several(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Adds the counts of `other`.
    pub(super) fn add_counts(&mut self, other: &LeftOut) {
        for (what, count) in &other.0 {
            self.count_several(what, *count);
        }
    }

    /// Returns the counts as text, for example `system messages: 3`.
    pub(super) fn in_words(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| format!("{what}: {count}")).collect()
    }
}

/// A record in preparation.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) actor: Option<String>,
    pub(super) text: String,
    pub(super) image_caption: Option<String>,
    pub(super) image_uri: Option<String>,
    pub(super) observed_at: Option<String>,
    pub(super) metadata: Metadata,
}

impl Draft {
    /// Returns the record in the format that servers accept, without control characters, which servers refuse.
    pub(super) fn into_record(self) -> Value {
        let mut record = Map::new();
        record.insert("id".to_owned(), json!(self.id));
        record.insert("session".to_owned(), json!(self.session));
        if let Some(actor) = self.actor {
            record.insert(
                "actor".to_owned(),
                json!(shorten_text(&one_line(&actor), NAME_BYTES_MAX)),
            );
        }
        if !self.text.is_empty() {
            record.insert("text".to_owned(), json!(strip_control_characters(&self.text)));
        }
        if let Some(caption) = self.image_caption {
            record.insert("image_caption".to_owned(), json!(strip_control_characters(&caption)));
        }
        if let Some(uri) = self.image_uri {
            record.insert("image_uri".to_owned(), json!(uri));
        }
        if let Some(at) = self.observed_at {
            record.insert("observed_at".to_owned(), json!(at));
        }
        record.insert("metadata".to_owned(), json!(self.metadata.entries));
        Value::Object(record)
    }
}

/// Metadata of a text: at most 32 entries, of which the first ones are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    entries: BTreeMap<String, String>,
}

impl Metadata {
    /// Returns metadata with the name of the program that exported the record.
    pub(super) fn from_source(source: &str) -> Metadata {
        let mut metadata = Metadata::default();
        metadata.put_entry("source", source);
        metadata
    }

    /// Adds a value, shortened to 1,024 bytes. An empty value, or a second value under the same name, is ignored.
    /// Returns false if there is no room for the value.
    pub(super) fn put_entry(&mut self, name: &str, value: &str) -> bool {
        let name = shorten_text(&one_line(name), METADATA_NAME_BYTES_MAX);
        let value = strip_control_characters(value.trim());
        if name.is_empty() || value.is_empty() || self.entries.contains_key(&name) {
            return true;
        }
        if self.entries.len() == METADATA_ENTRIES_MAX {
            return false;
        }
        self.entries
            .insert(name, shorten_text(&value, METADATA_VALUE_BYTES_MAX));
        true
    }

    /// Adds a value as text: strings unchanged, other values as JSON; null is ignored.
    pub(super) fn put_value(&mut self, name: &str, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => self.put_entry(name, text),
            Value::Array(items) if items.is_empty() => true,
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                self.put_entry(name, &texts.join(", "))
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.put_entry(name, &value.to_string())
            }
        }
    }

    /// Adds the named fields of an object that exist.
    pub(super) fn put_fields(&mut self, object: &Value, names: &[&str]) {
        for name in names {
            if let Some(value) = object.get(name) {
                self.put_value(name, value);
            }
        }
    }
}

/// Returns the text of the first named field that has one; numbers count as text.
pub(super) fn first_text_field(object: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match object.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    })
}

/// Returns an exported name as an id or a session: prefixed with the name of the program, and as a digest if it is too long.
pub(super) fn prefixed_name(program: &str, name: &str) -> String {
    let full_name = format!("{program}:{}", one_line(name));
    if full_name.len() <= NAME_BYTES_MAX {
        full_name
    } else {
        format!("{program}:{}", digest_texts(&[name]))
    }
}

/// Returns a digest of texts as 32 hex digits; equal texts have equal digests.
pub(super) fn digest_texts(texts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    to_hex(&digest.finalize()[..16])
}

/// Returns a text if it can be the URI of an image: it has a scheme and no white space.
pub(super) fn parse_image_uri(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
    let is_uri = is_scheme && !rest.is_empty() && text.len() <= URI_BYTES_MAX;
    (is_uri && !text.contains(|it: char| it.is_whitespace() || it.is_control())).then(|| text.to_owned())
}

/// Returns a text without control characters other than line breaks and tabs.
pub(super) fn strip_control_characters(text: &str) -> String {
    let is_kept = |it: &char| !it.is_control() || matches!(it, '\n' | '\r' | '\t');
    text.chars().filter(is_kept).collect()
}

/// Returns a text without control characters; a run of them becomes one space.
pub(super) fn one_line(text: &str) -> String {
    let parts = text.split(char::is_control).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// Returns the beginning of a text, at most `most` bytes, with an ellipsis if the text was cut.
pub(super) fn shorten_text(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub('…'.len_utf8()));
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stays_within_the_limits_of_a_server() {
        let mut metadata = Metadata::from_source("chatgpt");
        assert!(metadata.put_entry("title", &"é".repeat(1_000)));
        assert!(metadata.put_entry("source", "another") && metadata.put_entry("empty", "  "));
        assert!(metadata.put_value("tags", &json!(["a", "b"])) && metadata.put_value("score", &json!(0.5)));
        let fits: Vec<bool> = (0..40).map(|it| metadata.put_entry(&format!("n{it}"), "x")).collect();
        assert_eq!(fits.iter().filter(|it| **it).count(), 28);
        let draft = Draft {
            id: prefixed_name("chatgpt", "a\nb"),
            session: prefixed_name("chatgpt", &"x".repeat(300)),
            text: "red \u{1b}[1mbold\u{0}\n".to_owned(),
            metadata,
            ..Draft::default()
        };
        let record = draft.into_record();
        assert_eq!(record["id"], "chatgpt:a b");
        assert_eq!(record["session"].as_str().map(str::len), Some(8 + 32));
        assert_eq!(record["text"], "red [1mbold\n");
        let metadata = record["metadata"].as_object().unwrap();
        assert_eq!((metadata.len(), metadata["source"].as_str()), (32, Some("chatgpt")));
        assert_eq!(
            (metadata["tags"].as_str(), metadata["score"].as_str()),
            (Some("a, b"), Some("0.5"))
        );
        let title = metadata["title"].as_str().unwrap();
        assert!(title.len() <= 1_024 && title.ends_with("é…"), "{title}");
        assert!(record.get("actor").is_none() && record.get("observed_at").is_none());
    }

    #[test]
    fn only_uris_are_accepted_as_addresses_of_images() {
        assert_eq!(
            parse_image_uri("file-service://file-abc").as_deref(),
            Some("file-service://file-abc")
        );
        assert_eq!(
            parse_image_uri("https://example.org/a.png").as_deref(),
            Some("https://example.org/a.png")
        );
        for text in ["file-abc", "://x", "a b://c", "https://", "https://a b"] {
            assert_eq!(parse_image_uri(text), None, "{text}");
        }
    }
}
