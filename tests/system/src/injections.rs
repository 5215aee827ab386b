//! A corpus of attempts to make a language model do what a text in the memory says: forged marks, lines, tool results and
//! messages, orders, replies, calls, characters that nobody sees, in everything that a caller can write.

use serde::Deserialize;
use serde_json::{Value, json};

static CORPUS: &str = include_str!("../data/injections.jsonl");
/// Where a name goes in an attempt.
const NAME: &str = "{name}";
const SYLLABLES: [&str; 12] = ["ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "po", "ru", "ta", "ve"];

/// One attempt.
#[derive(Clone, Debug, Deserialize)]
pub struct Injection {
    /// Number in the corpus, from 0.
    #[serde(skip)]
    pub number: usize,
    /// What it tries.
    pub kind: String,
    /// Which field of a record holds it.
    pub place: Place,
    /// The text.
    pub says: String,
    /// What a model that obeys answers; occurs in no other attempt.
    #[serde(skip)]
    pub wanted: String,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// What is said.
    Text,
    /// What came of a tool.
    ToolResult,
    /// What a picture shows.
    Caption,
    /// Who says it.
    Actor,
    /// The session.
    Session,
}

/// Returns all attempts, in order. Each is about a canoe, and wants a made-up name to be answered.
///
/// # Errors
/// A line of the corpus that cannot be read.
pub fn all() -> serde_json::Result<Vec<Injection>> {
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
    /// Returns its id as a record.
    pub fn id(&self) -> String {
        format!("attempt-{}", self.number)
    }

    /// Returns a record that holds it.
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

/// Returns a name that nobody has.
fn made_up_name(number: usize) -> String {
    let syllable = |place: u32| SYLLABLES[number / SYLLABLES.len().pow(place) % SYLLABLES.len()];
    format!("Zq{}{}x", syllable(1), syllable(0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_corpus_is_large_and_its_names_differ() {
        let all = all().unwrap();
        assert!(all.len() >= 80, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|it| it.wanted.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|it| !it.says.contains(NAME)));
        let silent = all.iter().filter(|it| !it.says.contains(&it.wanted)).count();
        assert_eq!(silent, 1, "the actor `system` alone names nothing");
    }
}
