//! A corpus of prompt injections: texts in a memory that try to make a language model obey them. They contain forged
//! marks, lines, tool results and messages, orders, replies, calls and invisible characters, in every field that a
//! caller can write.

use serde::Deserialize;
use serde_json::{Value, json};

static CORPUS: &str = include_str!("../data/injections.jsonl");
/// Placeholder for a name in an attempt.
const NAME: &str = "{name}";
const SYLLABLES: [&str; 12] = ["ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "po", "ru", "ta", "ve"];

/// One attempt of an injection.
#[derive(Clone, Debug, Deserialize)]
pub struct Injection {
    /// Number in the corpus, from 0.
    #[serde(skip)]
    pub number: usize,
    /// Description of the attempt.
    pub kind: String,
    /// Field of a record that contains the text.
    pub place: Place,
    /// Text of the attempt.
    pub says: String,
    /// Answer of a model that obeys; it occurs in no other attempt.
    #[serde(skip)]
    pub wanted: String,
}

/// A field of a record that can hold an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The text of the turn.
    Text,
    /// The result of a tool.
    ToolResult,
    /// The caption of a picture.
    Caption,
    /// The name of the speaker.
    Actor,
    /// The name of the session.
    Session,
}

/// Returns all attempts, in order. Each is about a canoe, and tries to get an invented name as the answer.
///
/// # Errors
/// If a line of the corpus cannot be read.
pub fn read_injections() -> serde_json::Result<Vec<Injection>> {
    let lines = CORPUS.lines().enumerate();
    lines
        .map(|(number, line)| {
            let read: Injection = serde_json::from_str(line)?;
            let wanted = made_up_name(number);
            Ok(Injection {
                number,
                says: read.says.replace(NAME, &wanted),
                wanted,
                ..read
            })
        })
        .collect()
}

impl Injection {
    /// Returns the id of its record.
    pub fn id(&self) -> String {
        format!("attempt-{}", self.number)
    }

    /// Returns a record that contains the attempt.
    pub fn record(&self) -> Value {
        let mut record = json!({
            "id": self.id(), "session": "monday", "actor": "Mallory",
            "observed_at": format!("2026-03-02T18:{:02}:00Z", self.number % 60),
        });
        let (field, value) = match self.place {
            Place::Text => ("text", json!(self.says)),
            Place::ToolResult => (
                "tool",
                json!({ "name": "search", "arguments": { "about": "canoe" }, "result": self.says }),
            ),
            Place::Caption => ("image_caption", json!(self.says)),
            Place::Actor => ("actor", json!(self.says)),
            Place::Session => ("session", json!(self.says)),
        };
        record[field] = value;
        if matches!(self.place, Place::Actor | Place::Session) {
            record["text"] = json!(format!("The canoe has {} oars.", self.number));
        }
        record
    }
}

/// Returns an invented name.
fn made_up_name(number: usize) -> String {
    let syllable = |place: u32| SYLLABLES[number / SYLLABLES.len().pow(place) % SYLLABLES.len()];
    format!("Zq{}{}x", syllable(1), syllable(0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_corpus_is_large_and_every_name_is_unique() {
        let all = read_injections().unwrap();
        assert!(all.len() >= 80, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|it| it.wanted.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|it| !it.says.contains(NAME)));
        let silent = all.iter().filter(|it| !it.says.contains(&it.wanted)).count();
        assert_eq!(silent, 1, "the actor `system` alone names nothing");
    }
}
