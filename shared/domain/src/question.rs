//! The reading of a question. The router reads each question once (`text::question`), and every later step uses this
//! reading.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::anchor::AnswerKind;

/// The reading of a question. Words are in lower case, stems as the crate `text` computes them. For a question in
/// another language, the words are the English translations as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The question in lower case.
    pub lower: String,
    /// Kind of answer asked for.
    pub kind: AnswerKind,
    /// The class of answer that the question names, or none if another release sends a class that is unknown here.
    #[serde(deserialize_with = "deserialize_known")]
    pub class: Option<AnswerClass>,
    /// The speaker that the question is about, if there is exactly one.
    pub subject: Option<String>,
    /// The person whose identity is the whole question: "who is Ann?".
    pub identity: Option<String>,
    /// The kind of fact value that the question asks for, if any, or none if another release sends a kind that is
    /// unknown here.
    #[serde(deserialize_with = "deserialize_known")]
    pub slot: Option<Slot>,
    /// Content words in order, without names of speakers and dates.
    pub words: Vec<QuestionWord>,
    /// The two options of a choice; empty if there is no choice.
    pub options: Vec<String>,
    /// Stem of the word after "which", "what kind of" or "how many"; empty if there is none.
    pub head: String,
    /// The position of the answer in a sentence.
    pub gap: Gap,
    /// 1 if the question asks about the future, -1 if about the past, otherwise 0.
    pub tense: f32,
    /// Bonus in points of the newest turn over the oldest, because the current value is usually stated last.
    pub recency: f32,
    /// All other properties.
    #[serde(flatten)]
    pub traits: Traits,
}

/// Independent properties of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traits {
    /// True if the question asks for the other party: "who bought it from Ann".
    pub converse: bool,
    /// True if the question asks what a person said, thinks or advises, so that this person's own words count.
    pub speech: bool,
    /// True if the question asks for several things.
    pub plural: bool,
    /// True if the question asks for a count, but not for an amount of money.
    pub many: bool,
    /// True if the question asks for the time of day.
    pub clock: bool,
    /// True if the question asks when something happens regularly, not when it happened or will happen once.
    pub habitual: bool,
    /// True if the question asks when something was mentioned, not when it happened.
    pub telling: bool,
    /// True if the question asks when something began.
    pub begins: bool,
    /// A time or a duration can be the answer.
    pub timely: bool,
    /// True if the question asks how long ago something was.
    pub ago: bool,
    /// True if the question contains a negation.
    pub negated: bool,
}

/// A content word of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionWord {
    /// Stem of the word.
    pub stem: String,
    /// Share of the word in the total rarity of the question's words; all shares sum to 1.
    pub weight: f32,
    /// Rarity in the space: `ln` of the inverse share of parts that contain it.
    pub idf: f32,
    /// Whether it is the main verb of the question.
    pub verb: bool,
    /// Whether it directly follows the previous content word.
    pub adjoins: bool,
    /// Whether it is a name or a number, which has no synonyms.
    pub specific: bool,
    /// Whether a part of the space contains it.
    pub known: bool,
}

/// A class of answer that a question names.
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

/// The quantity that is measured.
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

/// The position of the answer in a sentence that states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    /// The stem of the noun that the answer is equated with: "what is the rent of the garden".
    pub equals: Option<String>,
    /// Whether the answer is the object of "have": "how many cats does she have".
    pub had: bool,
}

/// A kind of value that a fact states and a question may ask for, in any words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// A person's name.
    Name,
    /// Where a person lives.
    Home,
    /// Where a person comes from.
    Origin,
    /// A person's employer or place of work.
    Employer,
    /// A person's job.
    Job,
    /// A person's age.
    Age,
    /// A thing to which a person is allergic; there may be several values.
    Allergy,
    /// The person or animal that has a role for another person; holds the role in lower case: "sister", "best friend",
    /// "dog".
    Relative(String),
}

/// Reads a value if this release knows it.
fn deserialize_known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
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
    fn unknown_fields_in_readings_of_other_releases_are_ignored() {
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
