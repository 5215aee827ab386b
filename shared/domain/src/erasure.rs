//! Receipts of erasures: proof, without any word of what was erased, of what was asked for, when it was done, and how much it was.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ErasureId, RecordId, SessionId, SpaceId};
use crate::port::Position;

/// What was asked to be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErasureKind {
    /// Records: one, or those of a session.
    Records,
    /// A space with everything in it.
    Space,
}

/// A receipt of one erasure. It outlives what it is about, a space too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its id.
    pub id: ErasureId,
    /// The space, of which another one of the same name may exist by now.
    pub space: SpaceId,
    /// When that space had been created.
    pub created_at: DateTime<Utc>,
    /// What was asked to be erased.
    pub kind: ErasureKind,
    /// Name of the key that asked; empty without keys.
    #[serde(default)]
    pub by: String,
    /// When it was asked for.
    pub requested_at: DateTime<Utc>,
    /// When every store had erased it; none until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<DateTime<Utc>>,
    /// Place of the request among accepted batches; 0 for a space.
    pub position: Position,
    /// The records erased; empty for a space.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// The sessions that have no record any more since then; empty for a space.
    #[serde(default)]
    pub sessions: Vec<SessionId>,
    /// How much was stored of it when it was erased, by kind.
    #[serde(default)]
    pub erased: BTreeMap<String, u64>,
}

/// What to look for when an erasure is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Erased {
    /// Records of a space that may exist.
    Records(Vec<RecordId>),
    /// A whole space, by when it had been created: a later one of its name is another space.
    Space {
        /// When the erased space had been created.
        created_at: DateTime<Utc>,
    },
}
