//! Evidence: what a question gets.

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};

use crate::anchor::AnswerKind;
pub use crate::code::ReasonCode;
use crate::id::{RecordId, SessionId, TopicId, UnitId};
use crate::time::TimeSpan;

/// The way a candidate was proposed (S3Mem, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Near in embedding space.
    Semantic,
    /// Shares words, or words near in meaning.
    Lexical,
    /// Matches an anchor: subject, state key, step, source.
    Anchor,
    /// Near in time to what is asked.
    Temporal,
    /// Shares people or things.
    Entity,
    /// Shares or continues an image.
    Visual,
    /// Linked by a relation to a strong candidate.
    Causal,
    /// Stands beside a strong candidate in its session.
    Continuity,
}

/// The scores of a unit by head, each a logit; higher is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Scores {
    /// It holds answer-relevant evidence.
    pub support: f32,
    /// It grounds what the question fixes.
    pub anchor: f32,
    /// It belongs with what is packed already.
    pub edge: f32,
}

/// How a language model words an answer; without one it changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerStyle {
    /// A few words that the lines say.
    #[default]
    Short,
    /// A few words that may be concluded where no line says them ("likely yes").
    Infer,
    /// A few sentences, each with the lines that support it.
    Free,
}

impl AnswerStyle {
    /// All of them, the default first.
    pub const ALL: [AnswerStyle; 3] = [AnswerStyle::Short, AnswerStyle::Infer, AnswerStyle::Free];

    /// Returns the name, as it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            AnswerStyle::Short => "short",
            AnswerStyle::Infer => "infer",
            AnswerStyle::Free => "free",
        }
    }

    /// Returns true for the style of those who ask for none.
    pub fn is_default(&self) -> bool {
        *self == AnswerStyle::default()
    }
}

/// One line of a pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PackItem {
    /// The unit shown.
    pub unit: UnitId,
    /// The records it points to.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`.
    pub external_ids: Vec<String>,
    /// The session it belongs to.
    pub session: SessionId,
    /// When it was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Who said or did it; of a gist empty if it was read in what several said.
    pub actor: String,
    /// The line as the reader sees it; starts with a date header of its own line when the date changes.
    pub text: String,
    /// Cost of `text` with its line break, o200k tokens.
    pub tokens: u32,
    /// Scores by head.
    pub scores: Scores,
    /// Probability among all candidates, turns and gists each for themselves, 0 to 1; what the packer weighs against the price.
    pub probability: f32,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
}

/// Ordered evidence inside a budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidencePack {
    /// The lines, in reading order.
    pub items: Vec<PackItem>,
    /// Sum of the items' tokens.
    pub tokens: u32,
    /// What `tokens` must not exceed.
    pub budget: u32,
}

/// One feature of one unit, as explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FeatureValue {
    /// Name of the feature.
    pub name: String,
    /// Its value.
    pub value: f32,
    /// What it added to the support score.
    pub moved: f32,
}

/// Why one unit is in the pack or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnitExplanation {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of its records.
    pub external_ids: Vec<String>,
    /// Rank by support, from 1; where gists are used by probability, among turns and gists together.
    pub rank: u32,
    /// Scores by head.
    pub scores: Scores,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
    /// The features that moved it most, strongest first.
    pub features: Vec<FeatureValue>,
    /// Price in tokens.
    pub price: u32,
    /// Whether it is in the pack.
    pub packed: bool,
    /// Why, in words.
    pub reason: String,
}

/// A unit in rank order with the text it would show, for measuring and paging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankedUnit {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of its records.
    pub external_ids: Vec<String>,
    /// The line it would show.
    pub text: String,
    /// Its support score.
    pub score: f32,
    /// The topic of the event that holds it, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<TopicId>,
}

/// A turn as the reader needs it to judge who owns which sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of its records.
    pub external_ids: Vec<String>,
    /// The session it belongs to.
    pub session: SessionId,
    /// When it was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Who said it.
    pub actor: String,
    /// Who is spoken to.
    pub addressee: String,
    /// The whole text.
    pub text: String,
    /// The question of another speaker that it answers; empty if it answers none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Short caption of a shared image.
    pub caption: String,
    /// Times named in it.
    pub times: Vec<TimeSpan>,
    /// What was decided by hand about what it states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amended: Vec<Amendment>,
}

/// What was decided by hand about something that a turn states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// The value, as the turn states it.
    pub was: String,
    /// What holds instead; none if the statement is not to be told any more.
    pub now: Option<String>,
    /// When that was decided.
    pub at: DateTime<Utc>,
}

/// A strong candidate with its surroundings: what the reader judges and answers from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Support score of the turn in the middle.
    pub score: f32,
    /// Probability among all candidates, 0 to 1.
    pub probability: f32,
    /// Index of the candidate in `turns`.
    pub center: usize,
    /// Up to three turns before and two after, of the same session, in order.
    pub turns: Vec<Turn>,
    /// Whether the pack shows the candidate, or a gist that was read in it.
    pub packed: bool,
}

/// How rare a word of the question is in the space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordWeight {
    /// The stem, as `text` makes it.
    pub stem: String,
    /// `ln(1 + (N - df + 0.5) / (df + 0.5))` over the parts of the space.
    pub idf: f32,
    /// Number of parts that hold it.
    pub df: u32,
}

/// Whether the evidence supports an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sufficiency {
    /// It does.
    Supported,
    /// It supports a part of what was asked.
    Partial,
    /// It does not; no answer is given.
    Insufficient,
    /// It supports answers that exclude each other.
    Conflicting,
}

/// A unit that nearly answers, and why it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NearMiss {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of its records.
    pub external_ids: Vec<String>,
    /// Its text, short.
    pub text: String,
    /// Why it does not answer: `said_by_other`, `detail_differs`, `weak`.
    pub reason: String,
}

/// Sufficiency with reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// Whether the evidence supports an answer.
    pub status: Sufficiency,
    /// Why there is no answer; none if there is one, or if a language model decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReasonCode>,
    /// Why, in sentences for people.
    pub reasons: Vec<String>,
    /// The nearest misses, when the answer is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearMiss>,
}

/// A short answer with what supports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Answer {
    /// The answer itself, short.
    pub text: String,
    /// What kind of answer it is.
    pub kind: AnswerKind,
    /// The units it stands on.
    pub supports: Vec<UnitId>,
    /// The callers' ids of the records it stands on.
    pub external_ids: Vec<String>,
    /// 0 to 1.
    pub confidence: f32,
}
