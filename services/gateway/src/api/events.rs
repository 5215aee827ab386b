use chrono::{DateTime, Utc};
use domain::id::{ErasureId, SpaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What happened in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The records of every batch up to the watermark are searchable.
    Searchable,
    /// Events, facts, entities, topics and pages of every batch up to the watermark are made.
    Organised,
    /// An erasure is complete in every store.
    Erased,
}

/// Something that happened in a space. It holds no word of a record. Several batches may share one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The space.
    pub space: SpaceId,
    /// What happened.
    pub kind: EventKind,
    /// Up to where; of an erasure of records, the watermark that the request was answered with; none of that of a space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<String>,
    /// When it was noticed; of an erasure, when it was complete.
    pub at: DateTime<Utc>,
    /// The receipt of the erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}

/// A stream cannot go on from where the caller was: what happened since is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventGap {
    /// The space.
    pub space: SpaceId,
    /// Up to where records are searchable; the stream goes on from here.
    pub watermark: String,
    /// When the stream began.
    pub at: DateTime<Utc>,
    /// Why it cannot go on.
    pub reason: String,
}
