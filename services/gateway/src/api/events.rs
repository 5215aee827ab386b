use chrono::{DateTime, Utc};
use domain::id::{ErasureId, SpaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Kinds of events in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The records of every batch up to the watermark are searchable.
    Searchable,
    /// Events, facts, entities, topics and pages of every batch up to the watermark have been derived.
    Organised,
    /// An erasure is complete in every store.
    Erased,
}

/// An event in a space. It contains no text of a record. Several batches may share one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The space.
    pub space: SpaceId,
    /// The kind of event.
    pub kind: EventKind,
    /// Watermark up to which the event holds. For an erasure of records, the watermark in the response to the request;
    /// left out for the erasure of a space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<String>,
    /// Time at which the event was noticed; for an erasure, the time at which it was complete.
    pub at: DateTime<Utc>,
    /// The receipt of the erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureId>,
}

/// The stream cannot continue from the caller's last event, because the events since then are not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventGap {
    /// The space.
    pub space: SpaceId,
    /// Watermark up to which records are searchable; the stream continues from here.
    pub watermark: String,
    /// Time at which the stream began.
    pub at: DateTime<Utc>,
    /// Reason why the stream cannot continue.
    pub reason: String,
}
