//! Anchors: what a question fixes, read from the question alone (S3Mem, section 3.2).

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::time::TimeSpan;

/// What kind of answer a question wants. Decided by rule, first match wins; see the router.
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
    /// What kind or which of several.
    Kind,
    /// Yes or no.
    YesNo,
    /// What somebody does or did.
    WhatDoes,
    /// What something is.
    WhatIs,
    /// Anything else.
    #[default]
    Other,
}

/// Whether one unit can be enough.
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

/// What the question fixes. `words` and `subjects` are data for scoring, never a query language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Anchors {
    /// Kind of answer wanted.
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
    /// The moment it is asked at, against which the times that it names are read; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The time asked about.
    pub window: Option<TimeSpan>,
    /// The state asked about ("status of ...").
    pub state_key: String,
    /// The step of an agent's run asked about.
    pub step: Option<u32>,
    /// The source asked about: session, tool or image.
    pub source: String,
    /// Whether order in time decides the order of the pack.
    pub chronological: bool,
}
