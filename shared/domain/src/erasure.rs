//! Receipts of erasures. A receipt proves which erasure was requested, when it was completed and how much was erased.
//! It contains no word of the erased content.
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ErasureId, RecordId, SessionId, SpaceId};
use crate::position::Position;

/// The target of an erasure request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErasureKind {
    /// Records: one, or those of a session.
    Records,
    /// A whole space.
    Space,
}

/// A receipt of one erasure. It outlives the erased content, even a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id of the erasure.
    pub id: ErasureId,
    /// The space. Another space with the same name may exist by now.
    pub space: SpaceId,
    /// Time at which that space was created.
    pub created_at: DateTime<Utc>,
    /// The target of the request.
    pub kind: ErasureKind,
    /// Name of the API key that was used; empty if the server has no keys.
    #[serde(default)]
    pub by: String,
    /// Time at which the erasure was requested.
    pub requested_at: DateTime<Utc>,
    /// Time at which every store had completed the erasure; absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<DateTime<Utc>>,
    /// Position of the request in the stream of accepted batches; 0 for a space.
    pub position: Position,
    /// The records erased; empty for a space.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// The sessions that have no records left since the erasure; empty for a space.
    #[serde(default)]
    pub sessions: Vec<SessionId>,
    /// Number of objects that were stored at the time of the erasure, by kind.
    #[serde(default)]
    pub erased: BTreeMap<String, u64>,
}

/// The target to look for when an erasure is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Erased {
    /// Records of a space that may still exist.
    Records(Vec<RecordId>),
    /// A whole space, identified by its time of creation: a later space with the same name is a different one.
    Space {
        /// Time at which the erased space was created.
        created_at: DateTime<Utc>,
    },
}
