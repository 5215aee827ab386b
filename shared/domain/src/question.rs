//! What is read from a question, once: the router reads it (`text::question`), and whoever answers uses this reading.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::anchor::AnswerKind;

/// The reading of a question. Words are in lower case, stems as `text` makes them; of a question in another language the
/// words are the English ones as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The question in lower case.
    pub lower: String,
    /// Kind of answer wanted.
    pub kind: AnswerKind,
    /// The class that it names for its answer; none also if another release sends one that is not known here.
    #[serde(deserialize_with = "known")]
    pub class: Option<AnswerClass>,
    /// The only speaker it asks about, if there is one.
    pub subject: Option<String>,
    /// Whom it asks about that asks only who that is: "who is Ann?".
    pub identity: Option<String>,
    /// The value that a fact states, if it asks for one; none also if another release sends one that is not known here.
    #[serde(deserialize_with = "known")]
    pub slot: Option<Slot>,
    /// Content words in order, without speakers and dates.
    pub words: Vec<QuestionWord>,
    /// The two options of a choice; empty without one.
    pub options: Vec<String>,
    /// Stem of the word after "which", "what kind of" or "how many"; empty without one.
    pub head: String,
    /// Where in a sentence the answer is.
    pub gap: Gap,
    /// 1 if it asks what will be, -1 if it asks what was, else 0.
    pub tense: f32,
    /// Points of the newest turn over the oldest: what holds now is said last.
    pub recency: f32,
    /// Everything else that it may be.
    #[serde(flatten)]
    pub traits: Traits,
}

/// What a question is or does, each for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traits {
    /// It asks for the other side: "who bought it from Ann".
    pub converse: bool,
    /// It asks what somebody said, thinks or advises, so that the words of the sayer count.
    pub speech: bool,
    /// It asks for several things.
    pub plural: bool,
    /// It asks how many there are of something, and not of money.
    pub many: bool,
    /// It asks for the time of day.
    pub clock: bool,
    /// It asks when something is again and again, and not when it was or will be.
    pub habitual: bool,
    /// It asks when something was spoken of, and not when that was.
    pub telling: bool,
    /// It asks when something began.
    pub begins: bool,
    /// A time or a length of time can be what it asks for.
    pub timely: bool,
    /// It asks how long ago something was.
    pub ago: bool,
    /// It says "not".
    pub negated: bool,
}

/// A content word of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionWord {
    /// Its stem.
    pub stem: String,
    /// Share of the question's rarity; all shares sum to 1.
    pub weight: f32,
    /// Rarity in the space, `ln` of one over its share of the parts.
    pub idf: f32,
    /// Whether it is the verb asked about.
    pub verb: bool,
    /// Whether it is directly after the content word before it.
    pub adjoins: bool,
    /// Whether it is a name or a number: no other word means the same.
    pub specific: bool,
    /// Whether a part of the space holds it.
    pub known: bool,
}

/// A class that a question names for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerClass {
    /// "What colour".
    Colour,
    /// "What did it cost", "how much did she pay".
    Money,
    /// "How often".
    Rate,
    /// "How far", "how heavy".
    Measure(Measure),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// "How far", "how tall", "how deep".
    Length,
    /// "How heavy", "how much does it weigh".
    Mass,
    /// "How hot", "how cold".
    Heat,
    /// "How fast".
    Speed,
    /// "How big": a length, an area, a volume or a mass.
    Size,
}

/// The place of the answer in a sentence that says what is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    /// The stem of the noun that it is said to be: "what is the rent of the garden".
    pub equals: Option<String>,
    /// Whether it is what somebody has: "how many cats does she have".
    pub had: bool,
}

/// A value that a fact states and a question may ask for, in whatever words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// What somebody is called.
    Name,
    /// Where somebody lives.
    Home,
    /// Where somebody comes from.
    Origin,
    /// Where or for whom somebody works.
    Employer,
    /// What somebody works as.
    Job,
    /// How old somebody is.
    Age,
    /// What somebody is allergic to; this may be several things.
    Allergy,
    /// Who is this to somebody, in lower case: "sister", "best friend", "dog".
    Relative(String),
}

/// Reads a value if this release knows it.
fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Sent<T> {
        Known(T),
        Unknown(IgnoredAny),
    }
    Ok(match Option::<Sent<T>>::deserialize(from)? {
        Some(Sent::Known(value)) => Some(value),
        Some(Sent::Unknown(_)) | None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_other_releases_are_read_without_what_is_not_known_here() {
        let sent = r#"{"lower": "what is it called?", "kind": "what_is", "class": "name", "slot": {"shoe_size": "left"},
            "things": "dog", "gap": {"agent": true, "equals": "rent", "tail": {"stem": "call", "preposition": ""}}}"#;
        let read: Question = serde_json::from_str(sent).unwrap();
        assert_eq!((read.class, &read.slot), (None, &None));
        assert_eq!(read.gap.equals.as_deref(), Some("rent"));
        let known = r#"{"class": {"measure": "mass"}, "slot": {"relative": "sister"}}"#;
        let known: Question = serde_json::from_str(known).unwrap();
        assert_eq!(known.class, Some(AnswerClass::Measure(Measure::Mass)));
        assert_eq!(known.slot, Some(Slot::Relative("sister".to_owned())));
    }
}
