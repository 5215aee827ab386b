//! Anchors: constraints that the router reads from the question alone (S3Mem, section 3.2).

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::time::TimeSpan;

/// The kind of answer that a question asks for. The router decides it by rule; the first rule that matches wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// A message rather than a question.
    Message,
    /// A date or time.
    When,
    /// A duration.
    Duration,
    /// A number or amount.
    Number,
    /// A place.
    Where,
    /// A person.
    Who,
    /// A reason.
    Why,
    /// A manner.
    How,
    /// A kind of thing, or one of several things.
    Kind,
    /// Yes or no.
    YesNo,
    /// What a person does or did.
    WhatDoes,
    /// What something is.
    WhatIs,
    /// Anything else.
    #[default]
    Other,
}

/// Whether one unit can be enough to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HopShape {
    /// One fact in one place.
    #[default]
    Single,
    /// Several facts gathered or chained.
    Multi,
}

/// The constraints that a question sets. `words` and `subjects` are data for scoring, never a query language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Anchors {
    /// Kind of answer asked for.
    pub answer: AnswerKind,
    /// One or several hops.
    pub hops: HopShape,
    /// Speakers of the space that the question names, in order of appearance, by their full names.
    pub subjects: Vec<String>,
    /// Other names in the question.
    pub names: Vec<String>,
    /// The question without the names of speakers.
    pub bare: String,
    /// Word after "what kind of", "which", "how many".
    pub head: String,
    /// The main verb, as written.
    pub action: String,
    /// Time at which the question is asked; the times in the question are resolved against this moment. Absent if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The time that the question asks about.
    pub window: Option<TimeSpan>,
    /// The state that the question asks about ("status of ...").
    pub state_key: String,
    /// The step of an agent's run that the question asks about.
    pub step: Option<u32>,
    /// The source that the question asks about: session, tool or image.
    pub source: String,
    /// Whether the pack is ordered by time.
    pub chronological: bool,
}
