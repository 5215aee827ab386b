//! Recall: what a memory says unasked, and when it stays silent (MemCog, section 3.4).

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{FactId, HintId, SessionId, UnitId};

/// Why a hint is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The message says otherwise than the memory.
    Contradiction,
    /// A standing instruction or preference bears on it.
    Preference,
    /// It names somebody or something that is known.
    Entity,
    /// It names a place that is known.
    Place,
    /// It speaks of what is known under a topic.
    Topic,
    /// It tells of a state that changed before.
    State,
    /// It names a time at which something is planned or happened.
    Time,
    /// It does again what was done often.
    Pattern,
    /// It shows a feeling that has a history.
    Emotion,
    /// It is tied to something by a way over something else.
    MultiHop,
}

/// How careful one should be with a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// May be said.
    Open,
    /// About somebody's private life.
    Personal,
    /// Health, money, faith, love, law, grief: only if asked for.
    Sensitive,
}

/// One thing worth saying.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Hint {
    /// Equal for what tells the same.
    pub id: HintId,
    /// Why it is given.
    pub trigger: Trigger,
    /// What the memory holds, as a dated line.
    pub text: String,
    /// What in the message woke it, in words.
    pub reason: String,
    /// The units it stands on, strongest first.
    pub units: Vec<UnitId>,
    /// The callers' ids of their records.
    pub external_ids: Vec<String>,
    /// The facts it tells.
    #[serde(default)]
    pub facts: Vec<FactId>,
    /// When what it tells was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Whether it still holds, as far as is known.
    pub valid: bool,
    /// Until when it held, if it does not any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<DateTime<Utc>>,
    /// How careful one should be.
    pub sensitivity: Sensitivity,
    /// Both sides of a contradiction: what the message says, what the memory says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<String>,
    /// 0 to 1.
    pub score: f32,
}

/// Returns the scope of what was said and not wanted in a session, which is named as its caller names it.
pub fn session_scope(session: &str) -> String {
    format!("recall/{session}")
}

/// Returns the scope of the erasures of a session.
pub fn erasures_scope(session: SessionId) -> String {
    format!("erased/{session}")
}

/// Notes that are kept of the sessions of a space, unless a setting says otherwise: of the hints in them, and of their erasures.
pub const NOTES_MAX: usize = 20_000;

/// What became of something that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A hint was given.
    Said,
    /// A hint was not wanted.
    Dismissed,
    /// A page was read.
    Read,
    /// What the scope says of hints was erased.
    Erased,
}

/// A line of the ledger of a scope (a session of a caller, or the pages of a space).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// The hint or page.
    pub subject: Uuid,
    /// What became of it.
    pub kind: NoteKind,
    /// When.
    pub at: DateTime<Utc>,
}
