//! Recall: when a memory says something unasked, and when it stays silent (MemCog, section 3.4).

use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{FactId, HintId, SessionId, UnitId};

/// The reason for a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The message contradicts the memory.
    Contradiction,
    /// A standing instruction or preference applies to the message.
    Preference,
    /// The message names a known person or thing.
    Entity,
    /// The message names a known place.
    Place,
    /// The message is about a known topic.
    Topic,
    /// The message mentions a state that has changed before.
    State,
    /// The message names a time at which something is planned or happened.
    Time,
    /// The message describes a repeated behaviour.
    Pattern,
    /// The message expresses a feeling that has a history.
    Emotion,
    /// The message is connected with the hint through a third thing.
    MultiHop,
}

/// The sensitivity of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// May always be given.
    Open,
    /// About a person's private life.
    Personal,
    /// About health, money, faith, love, law or grief; given only on request.
    Sensitive,
}

/// One hint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Hint {
    /// Equal for hints with the same content.
    pub id: HintId,
    /// The kind of rule that triggered the hint.
    pub trigger: Trigger,
    /// The content of the memory, as a dated line.
    pub text: String,
    /// Part of the message that triggered the hint, in words.
    pub reason: String,
    /// The units that support the hint, strongest first.
    pub units: Vec<UnitId>,
    /// The callers' ids of the records of these units.
    pub external_ids: Vec<String>,
    /// The facts that the hint states.
    #[serde(default)]
    pub facts: Vec<FactId>,
    /// Time at which the content of the hint was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Whether it still holds, as far as is known.
    pub valid: bool,
    /// Time at which the fact of the hint stopped holding, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<DateTime<Utc>>,
    /// Sensitivity of the hint.
    pub sensitivity: Sensitivity,
    /// Both sides of a contradiction: the message's and the memory's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<String>,
    /// Score, 0 to 1.
    pub score: f32,
}

/// Returns the scope of the notes about hints that were given or dismissed in a session; `session` is the caller's name
/// for it.
pub fn session_scope(session: &str) -> String {
    format!("recall/{session}")
}

/// Returns the scope of the notes about the erasures of a session.
pub fn erasures_scope(session: SessionId) -> String {
    format!("erased/{session}")
}

/// Default for the maximum number of notes about the sessions of a space: about their hints and their erasures.
pub const NOTES_MAX: usize = 20_000;

/// The kind of an event in the ledger, for a hint or a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A hint was given.
    Said,
    /// A hint was dismissed.
    Dismissed,
    /// A page was read.
    Read,
    /// The notes about hints in the scope were erased.
    Erased,
}

/// A note in the ledger of a scope (a session of a caller, or the pages of a space).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// The hint or page.
    pub subject: Uuid,
    /// Kind of the event.
    pub kind: NoteKind,
    /// Time at which the event happened.
    pub at: DateTime<Utc>,
}
