//! Evidence: the result of a question.

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};

use crate::anchor::AnswerKind;
pub use crate::code::ReasonCode;
use crate::id::{RecordId, SessionId, TopicId, UnitId};
use crate::time::TimeSpan;

/// The channel that proposed a candidate (S3Mem, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Close in embedding space.
    Semantic,
    /// Shares words, or words of similar meaning.
    Lexical,
    /// Matches an anchor: subject, state key, step, source.
    Anchor,
    /// Close to the time that the question asks about.
    Temporal,
    /// Shares people or things.
    Entity,
    /// Shares or continues an image.
    Visual,
    /// Linked by a relation to a strong candidate.
    Causal,
    /// Next to a strong candidate in its session.
    Continuity,
}

/// The scores of a unit by head, each a logit; higher is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Scores {
    /// Probability that the unit holds evidence for the answer, as a logit.
    pub support: f32,
    /// Match of the unit with the anchors of the question.
    pub anchor: f32,
    /// Fit of the unit with the units that are already packed.
    pub edge: f32,
}

/// How a language model words an answer. Without a language model it has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerStyle {
    /// A few words, as the lines say them.
    #[default]
    Short,
    /// A few words; the model may infer them where no line states them ("likely yes").
    Infer,
    /// A few sentences, each with the lines that support it.
    Free,
}

impl AnswerStyle {
    /// All styles, the default first.
    pub const ALL: [AnswerStyle; 3] = [AnswerStyle::Short, AnswerStyle::Infer, AnswerStyle::Free];

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            AnswerStyle::Short => "short",
            AnswerStyle::Infer => "infer",
            AnswerStyle::Free => "free",
        }
    }

    /// Returns true for the default style.
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
    /// The records that the unit was made from.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`.
    pub external_ids: Vec<String>,
    /// The session of the unit.
    pub session: SessionId,
    /// Time at which the unit was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Person or agent that spoke or acted. Empty for a gist of records of several actors.
    pub actor: String,
    /// The line as the reader sees it. If the date changes, a line with the date comes first.
    pub text: String,
    /// Cost of `text` including its line break, in o200k tokens.
    pub tokens: u32,
    /// Scores by head.
    pub scores: Scores,
    /// Probability among all candidates, 0 to 1, computed for turns and gists separately. The packer weighs it against
    /// the cost in tokens.
    pub probability: f32,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
}

/// Ordered evidence inside a budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidencePack {
    /// The lines, in reading order.
    pub items: Vec<PackItem>,
    /// Sum of the tokens of the items.
    pub tokens: u32,
    /// Upper limit of `tokens`.
    pub budget: u32,
}

/// One feature of one unit, for an explanation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FeatureValue {
    /// Name of the feature.
    pub name: String,
    /// Value of the feature.
    pub value: f32,
    /// Contribution of the feature to the support score.
    pub moved: f32,
}

/// The reason why one unit is in the pack or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnitExplanation {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of the unit's records.
    pub external_ids: Vec<String>,
    /// Rank by support, from 1. If gists are used: rank by probability among turns and gists together.
    pub rank: u32,
    /// Scores by head.
    pub scores: Scores,
    /// The channels that proposed it.
    pub channels: Vec<Channel>,
    /// The features with the largest contributions, strongest first.
    pub features: Vec<FeatureValue>,
    /// Cost in tokens.
    pub price: u32,
    /// Whether the unit is in the pack.
    pub packed: bool,
    /// The reason, in words.
    pub reason: String,
}

/// A ranked unit with its line, for evaluation and paging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankedUnit {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of the unit's records.
    pub external_ids: Vec<String>,
    /// The line as a pack would show it.
    pub text: String,
    /// The support score.
    pub score: f32,
    /// The topic of the event that contains the unit, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<TopicId>,
}

/// A turn with the data that the reader needs to attribute each sentence to a speaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of the unit's records.
    pub external_ids: Vec<String>,
    /// The session of the unit.
    pub session: SessionId,
    /// Time at which the turn was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// The speaker.
    pub actor: String,
    /// The person addressed.
    pub addressee: String,
    /// The whole text.
    pub text: String,
    /// The question of another speaker that this turn answers; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Short caption of a shared image.
    pub caption: String,
    /// Times named in the text.
    pub times: Vec<TimeSpan>,
    /// Curations of facts that the turn states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amended: Vec<Amendment>,
}

/// A curation of one fact that a turn states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// The value as the turn states it.
    pub was: String,
    /// The corrected value; absent if the fact was retracted.
    pub now: Option<String>,
    /// Time at which the curation was made.
    pub at: DateTime<Utc>,
}

/// A strong candidate with its surroundings. The reader judges it and answers from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Support score of the candidate.
    pub score: f32,
    /// Probability among all candidates, 0 to 1.
    pub probability: f32,
    /// Index of the candidate in `turns`.
    pub center: usize,
    /// The candidate with up to three turns before and two turns after it, from the same session, in order.
    pub turns: Vec<Turn>,
    /// Whether the pack shows the candidate, or a gist that was read from it.
    pub packed: bool,
}

/// Rarity of one word of the question in the space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordWeight {
    /// The stem, as the crate `text` computes it.
    pub stem: String,
    /// Inverse document frequency, `ln(1 + (N - df + 0.5) / (df + 0.5))`, over the `N` parts of the space.
    pub idf: f32,
    /// Number of parts that contain it.
    pub df: u32,
}

/// Whether the evidence supports an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sufficiency {
    /// The evidence supports an answer.
    Supported,
    /// The evidence supports a part of the answer.
    Partial,
    /// The evidence does not support an answer; none is given.
    Insufficient,
    /// The evidence supports answers that exclude each other.
    Conflicting,
}

/// A unit that almost answers the question, with the reason why it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NearMiss {
    /// The unit.
    pub unit: UnitId,
    /// The callers' ids of the unit's records.
    pub external_ids: Vec<String>,
    /// Text of the unit, shortened.
    pub text: String,
    /// Why it does not answer: `said_by_other`, `detail_differs`, `weak`.
    pub reason: String,
}

/// The verdict on the evidence, with reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// Whether the evidence supports an answer.
    pub status: Sufficiency,
    /// Why there is no answer. Absent if there is an answer, or if a language model decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReasonCode>,
    /// The reasons, in sentences for people.
    pub reasons: Vec<String>,
    /// The closest units that do not answer; only if the answer is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearMiss>,
}

/// A short answer with its supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Answer {
    /// The answer itself, short.
    pub text: String,
    /// The kind of answer.
    pub kind: AnswerKind,
    /// The units that support the answer.
    pub supports: Vec<UnitId>,
    /// The callers' ids of the records that support the answer.
    pub external_ids: Vec<String>,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}
