use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId, SessionId, SpaceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The receipt of an erasure. It outlives what was erased, also a whole space, and holds no word of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Its id.
    pub id: ErasureId,
    /// The space, of which another one of the same name may exist by now.
    pub space: SpaceId,
    /// What was asked to be erased: `records` (one, or those of a session) or the `space`.
    pub kind: ErasureKind,
    /// How far it is.
    pub state: ErasureState,
    /// Name of the key that asked; empty without keys.
    pub by: String,
    /// When it was asked for.
    pub requested_at: DateTime<Utc>,
    /// When every store had erased it; none until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<DateTime<Utc>>,
    /// Mnemic's ids of the records erased, at most 1000; empty for a space.
    #[serde(default)]
    pub records: Vec<RecordId>,
    /// Mnemic's ids of the sessions that have no record any more since then; empty for a space.
    #[serde(default)]
    pub sessions: Vec<SessionId>,
    /// How much was stored of it when it was erased, by kind: `records`, `units`, `facts`, `relations`, `remembered` (responses
    /// of idempotency keys) and, of a space, what each table or label of its store held.
    pub erased: BTreeMap<String, u64>,
}

/// How far an erasure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErasureState {
    /// It is being done.
    Erasing,
    /// Every store has done it.
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

/// What a look into every store found of what was erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErasureCheck {
    /// The receipt.
    pub erasure: Erasure,
    /// When the stores were looked at.
    pub checked_at: DateTime<Utc>,
    /// Whether every store was looked at and none holds anything of it.
    pub absent: bool,
    /// Records that were accepted again under the same ids since, which is no remnant: they are not looked for.
    pub accepted_again: u64,
    /// Store by store.
    pub stores: Vec<StoreCheck>,
}

/// What a look into one store found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreCheck {
    /// `records`, `graph` (units, relations and all that is derived), `index` (vectors and words), `messages` (what waits to be
    /// worked on) or `dead_letters`.
    pub store: String,
    /// What was found.
    pub outcome: Presence,
    /// How much was looked for and found, by kind.
    pub found: BTreeMap<String, u64>,
    /// Why it was not looked at; empty if it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Whether a store holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Nothing of it is there.
    Absent,
    /// Something of it is there.
    Found,
    /// The store could not be looked at.
    NotChecked,
}
