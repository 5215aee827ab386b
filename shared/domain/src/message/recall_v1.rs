use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::id::{HintId, SessionId, SpaceId};
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
}

/// What is worth saying; nothing, most of the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecalledV1 {
    /// Best first, ties by id.
    pub hints: Vec<Hint>,
    /// Number of candidates looked at.
    pub considered: u32,
    /// Milliseconds by step.
    pub steps: Vec<(String, f32)>,
    /// What could not be used, and why.
    pub degraded: Vec<String>,
}

impl Request for RecallV1 {
    const SUBJECT: &'static str = "recall.v1";
    type Reply = RecalledV1;
}
