use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::code::DegradedCode;
use crate::filter::Filter;
use crate::id::{HintId, SessionId, SpaceId, UnitId};
use crate::recall::Hint;

/// The gateway asks whether a message wakes something worth saying.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecallV1 {
    /// Where to look.
    pub space: SpaceId,
    /// The message, as it came.
    pub message: String,
    /// Who says it; empty if not known.
    #[serde(default)]
    pub actor: String,
    /// The session in which it is said, if that is known: it may answer what was asked there last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// When it is said: nothing later is used, and relative times are resolved against it.
    pub at: DateTime<FixedOffset>,
    /// Hints wanted at most.
    pub limit: u32,
    /// Whether what is sensitive may be said.
    #[serde(default)]
    pub sensitive: bool,
    /// Hints that were said in this session or are not wanted, sorted.
    #[serde(default)]
    pub silent: Vec<HintId>,
    /// Whether hints are wanted that are less likely worth saying than those that are said by rule: a language model chooses
    /// among them. All other conditions stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// If not empty, hints of exactly these units, in this order, however little they share with the message. A unit that
    /// another condition withholds gives no hint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<UnitId>,
    /// Only hints on records with these tags and this metadata.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub labels: Filter,
}

/// What is worth saying; nothing, most of the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecalledV1 {
    /// Best first, ties by id; those of chosen units in the order of the choice.
    pub hints: Vec<Hint>,
    /// Number of candidates looked at.
    pub considered: u32,
    /// Milliseconds by step.
    pub steps: Vec<(String, f32)>,
    /// What could not be used, and why.
    pub degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order; an entry beyond their end has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<DegradedCode>,
}

impl Request for RecallV1 {
    const SUBJECT: &'static str = "recall.v1";
    type Reply = RecalledV1;
}
