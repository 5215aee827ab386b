//! The reading of a question. The router reads each question once (`text::question`), and every later step uses this
//! reading.

use serde::{Deserialize, Serialize};

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
    /// The class of answer that the question names.
    pub class: Option<AnswerClass>,
    /// The speaker that the question is about, if there is exactly one.
    pub subject: Option<String>,
    /// The person whose identity is the whole question: "who is Ann?".
    pub identity: Option<String>,
    /// The kind of fact value that the question asks for, if any.
    pub slot: Option<Slot>,
    /// Content words in order, without names of speakers and dates.
    pub words: Vec<QuestionWord>,
    /// The two options of a choice; empty if there is no choice.
    pub options: Vec<String>,
    /// Stem of the word after "which", "what kind of" or "how many"; empty if there is none.
    pub head: String,
    /// The noun for the type of the answer ("person" for an answer like "nurse"); empty if there is none.
    pub things: String,
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
    /// It asks for the other party: "who bought it from Ann".
    pub converse: bool,
    /// It asks what a person said, thinks or advises, so that this person's own words count.
    pub speech: bool,
    /// It asks for several things.
    pub plural: bool,
    /// It asks for a count, but not for an amount of money.
    pub many: bool,
    /// It asks for the time of day.
    pub clock: bool,
    /// It asks when something happens regularly, not when it happened or will happen once.
    pub habitual: bool,
    /// It asks when something was mentioned, not when it happened.
    pub telling: bool,
    /// It asks when something began.
    pub begins: bool,
    /// A time or a duration can be the answer.
    pub timely: bool,
    /// It asks how long ago something was.
    pub ago: bool,
    /// It contains a negation.
    pub negated: bool,
}

/// A content word of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionWord {
    /// Its stem.
    pub stem: String,
    /// Its share of the total rarity of the question's words; all shares sum to 1.
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
    /// "What is the name of", "what is it called".
    Name,
    /// "What is the number of", "which version".
    Figure,
    /// "What did it cost", "how much did she pay".
    Money,
    /// "How often".
    Rate,
    /// "What is her email address".
    Mail,
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
    /// Whether the answer is the subject of the verb.
    pub agent: bool,
    /// The words before the answer, if the question ends with them.
    pub tail: Option<Tail>,
    /// The stem of the noun that the answer is equated with: "what is the secret of the soup".
    pub equals: Option<String>,
    /// Whether the answer is the object of "have": "how many cats does she have".
    pub had: bool,
    /// The preposition before the answer, if the question begins with it: "from which city".
    pub fronted: Option<String>,
}

/// The end of a question after which a statement has the answer: "allergic to".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// Stem of the word.
    pub stem: String,
    /// The preposition after the word; empty if the question ends with the verb.
    pub preposition: String,
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
    /// The person or animal in a role for somebody; holds the role in lower case: "sister", "best friend", "dog".
    Relative(String),
}
