use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId, SessionId, SpaceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The receipt of an erasure. It is kept after the erased data are gone, even after a whole space is gone, and contains
/// no text of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Id of the erasure.
    pub id: ErasureId,
    /// The space. Another space of the same name may exist by now.
    pub space: SpaceId,
    /// The scope of the erasure: `records` (one record, or those of a session) or the whole `space`.
    pub kind: ErasureKind,
    /// Progress of the erasure.
    pub state: ErasureState,
    /// Name of the key that requested the erasure; empty on a server without keys.
    pub by: String,
    /// Time of the request.
    pub requested_at: DateTime<Utc>,
    /// Time at which every store had erased the data; left out until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<DateTime<Utc>>,
    /// Mnemic's ids of the records erased, at most 1000; empty for a space.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// Mnemic's ids of the sessions that have no record left after the erasure; empty for a space.
    #[serde(default)]
    pub sessions: Vec<SessionId>,
    /// Number of items stored when the erasure began, by kind: `records`, `units`, `facts`, `relations`, `remembered`
    /// (responses of idempotency keys) and, for a space, the contents of each table or label of its store.
    pub erased: BTreeMap<String, u64>,
}

/// Progress of an erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErasureState {
    /// Not every store has erased the data yet.
    Erasing,
    /// Every store has erased the data.
    Complete,
}

impl From<Receipt> for Erasure {
    fn from(it: Receipt) -> Erasure {
        let state = match it.completed_at {
            Some(_) => ErasureState::Complete,
            None => ErasureState::Erasing,
        };
        Erasure {
            id: it.id,
            space: it.space,
            kind: it.kind,
            state,
            by: it.by,
            requested_at: it.requested_at,
            completed_at: it.completed_at,
            records: it.records,
            sessions: it.sessions,
            erased: it.erased,
        }
    }
}

/// Result of a search of every store for erased data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErasureCheck {
    /// The receipt.
    pub erasure: Erasure,
    /// Time at which the stores were searched.
    pub checked_at: DateTime<Utc>,
    /// True if every store was searched and no store holds any of the erased data.
    pub absent: bool,
    /// Number of records that were accepted again under the same ids after the erasure. They are not remnants and are
    /// not searched for.
    pub accepted_again: u64,
    /// Results for each store.
    pub stores: Vec<StoreCheck>,
}

/// Result of the search of one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreCheck {
    /// `records`, `graph` (units, relations and everything derived), `index` (vectors and words), `messages` (messages
    /// that wait to be processed) or `dead_letters`.
    pub store: String,
    /// The result.
    pub outcome: Presence,
    /// Number of items that were searched for and found, by kind.
    pub found: BTreeMap<String, u64>,
    /// Reason why the store was not searched; empty if it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Whether a store holds erased data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// The store holds none of the erased data.
    Absent,
    /// The store holds some of the erased data.
    Found,
    /// The store could not be searched.
    NotChecked,
}
