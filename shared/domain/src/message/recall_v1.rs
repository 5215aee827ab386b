use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::code::DegradedCode;
use crate::filter::Filter;
use crate::id::{HintId, SessionId, SpaceId, UnitId};
use crate::recall::Hint;

/// The gateway asks whether a message brings up something worth saying unasked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecallV1 {
    /// The space to search.
    pub space: SpaceId,
    /// The message, as received.
    pub message: String,
    /// The speaker; empty if unknown.
    #[serde(default)]
    pub actor: String,
    /// The session of the message, if known. The message may answer the last question of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Time at which the message is said. Nothing later is used, and relative times are resolved against this moment.
    pub at: DateTime<FixedOffset>,
    /// Maximum number of hints.
    pub limit: u32,
    /// Whether sensitive hints are allowed.
    #[serde(default)]
    pub sensitive: bool,
    /// Hints that were already given in this session or were dismissed, sorted.
    #[serde(default)]
    pub silent: Vec<HintId>,
    /// Whether to return more hints than the rules alone would give, including less likely ones, so that a language
    /// model can choose among them. All other conditions apply unchanged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// If not empty, only hints about exactly these units are returned, in this order, however little they share with
    /// the message. A unit that another condition excludes gives no hint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<UnitId>,
    /// Only hints about records with these tags and this metadata.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    pub labels: Filter,
}

/// The hints for a message; usually there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecalledV1 {
    /// Best first, ties by id. Hints of chosen units are in the order of the choice.
    pub hints: Vec<Hint>,
    /// Number of candidates considered.
    pub considered: u32,
    /// Duration of each step, in milliseconds.
    pub steps: Vec<(String, f32)>,
    /// Components that could not be used, with the reasons.
    pub degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order; an entry beyond their end has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<DegradedCode>,
}

impl Request for RecallV1 {
    const SUBJECT: &'static str = "recall.v1";
    type Reply = RecalledV1;
}
