//! Readings: replies of language models that read records.

use chrono::{DateTime, Utc};
use domain::id::{ReadingId, SessionId};
use domain::port::{ModelCost, Usage};
use domain::reading::{ReadingKind, ReadingOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::json_object::{deserialize_object, deserialize_objects};

/// A reading: the reply of a language model that read records, such as a passage of a session, and the results derived
/// from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reading {
    /// Id of the reading. A passage has one reading.
    pub id: ReadingId,
    /// The task of the model.
    pub kind: ReadingKind,
    /// Mnemic's id of the session.
    pub session: SessionId,
    /// Your ids of the records that were read, in the order of the session.
    pub records: Vec<String>,
    /// Name and version of the prompt.
    pub prompt: String,
    /// The model.
    pub model: String,
    /// Time at which the model replied.
    pub at: DateTime<Utc>,
    /// Whether results are derived from the reading.
    pub state: ReadingState,
    /// Reason of the failure; only if the reading failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of results derived from the reading, and parts of the reply that were ignored.
    pub outcome: ReadingOutcome,
    /// Cost of the reading, including earlier readings of the same passage.
    pub cost: ReadingCost,
    /// The literal reply of the model; in a list only with `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// Whether results are derived from a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadingState {
    /// The reply is used.
    Done,
    /// The model gave no usable reply.
    Failed,
}

/// Cost of calls of a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadingCost {
    /// Number of calls.
    #[serde(default)]
    pub model_calls: u32,
    /// Tokens that they read and wrote, as the model counts them; estimated if it does not report them.
    #[serde(default)]
    pub usage: Usage,
    /// Time that they took in milliseconds, including the wait for a free slot at the endpoint.
    #[serde(default)]
    pub model_ms: f32,
}

impl From<ModelCost> for ReadingCost {
    fn from(it: ModelCost) -> ReadingCost {
        ReadingCost {
            model_calls: it.calls,
            usage: it.usage,
            model_ms: it.ms,
        }
    }
}

impl From<ReadingCost> for ModelCost {
    fn from(it: ReadingCost) -> ModelCost {
        ModelCost {
            calls: it.model_calls,
            usage: it.usage,
            ms: it.model_ms,
        }
    }
}

/// Progress of the readings of a space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadingSummary {
    /// Number of sessions that wait for the writer.
    pub waiting_sessions: u64,
    /// Number of readings whose replies are used.
    pub done: u64,
    /// Number of readings that failed.
    pub failed: u64,
    /// Cost of all readings.
    pub cost: ReadingCost,
    /// Cost of the readings made today; a day begins at midnight UTC.
    pub cost_today: ReadingCost,
}

/// A page of readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadingPage {
    /// Sorted by id.
    pub items: Vec<Reading>,
    /// The `after` of the next page; left out on the last page.
    pub next: Option<String>,
    /// Progress of the readings of the whole space.
    pub summary: ReadingSummary,
}

/// A page of readings in the form that another space accepts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PortableReadingPage {
    /// By Mnemic's ids.
    pub items: Vec<PortableReading>,
    /// The `after` of the next page; left out on the last page.
    pub next: Option<String>,
}

/// A page of readings: in the portable form if `portable` was `true`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ReadingList {
    /// For inspection.
    Page(ReadingPage),
    /// For import into another space.
    Portable(PortableReadingPage),
}

/// A reading that uses your names of session and records, so that another space can import it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PortableReading {
    /// Your name of the session.
    #[schema(min_length = 1, max_length = 256)]
    pub session: String,
    /// The task of the model; default `passage`.
    #[serde(default, skip_serializing_if = "ReadingKind::is_passage")]
    pub kind: ReadingKind,
    /// Your ids of the records that were read, in the order of the session: at most 48 for an event, a name, a topic or
    /// a page, at most 24 for other kinds.
    #[schema(min_items = 1, max_items = 48)]
    pub records: Vec<String>,
    /// Your ids of the other records in the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 64)]
    pub beside: Vec<String>,
    /// The earlier gists in the prompt, in the order of their labels.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "deserialize_objects"
    )]
    #[schema(max_items = 64)]
    pub earlier: Vec<PortableGist>,
    /// SHA-256 in hexadecimal digits. For a page, of its dimension and its subject; for names, of both names;
    /// otherwise, of the part of the session in the prompt.
    #[schema(min_length = 64, max_length = 64, pattern = "^[0-9a-fA-F]{64}$")]
    pub digest: String,
    /// Name and version of the prompt.
    #[schema(min_length = 1, max_length = 256)]
    pub prompt: String,
    /// The model.
    #[schema(min_length = 1, max_length = 256)]
    pub model: String,
    /// Time at which the model replied.
    pub at: DateTime<Utc>,
    /// The reply of the model, at most 256 KiB; empty if there is none.
    #[serde(default)]
    pub output: String,
    /// Reason of the failure; only if the reading failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub failure: Option<String>,
    /// Number of results derived from the reading, and parts of the reply that were ignored.
    #[serde(default, deserialize_with = "deserialize_object")]
    pub outcome: ReadingOutcome,
    /// Cost of the reading, including earlier readings of the same passage.
    #[serde(default, deserialize_with = "deserialize_object")]
    pub spent: ReadingCost,
}

/// A gist, identified by the passage that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PortableGist {
    /// Your id of the first record of the passage; empty if that record was erased.
    #[schema(max_length = 256)]
    pub first: String,
    /// Number of the gist in the reading.
    pub number: u16,
}

/// Readings from another space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReadings {
    /// The readings. Each replaces an existing reading of the same passage.
    #[serde(deserialize_with = "deserialize_objects")]
    #[schema(min_items = 1, max_items = 100)]
    pub items: Vec<PortableReading>,
}

/// Results of the import of readings from another space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredReadings {
    /// Results in the order of the request.
    pub items: Vec<StoredReading>,
}

/// Result for one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredReading {
    /// Index in the request, from 0.
    pub index: usize,
    /// The result.
    pub status: StoredReadingStatus,
}

/// Result for one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoredReadingStatus {
    /// The reading is stored; the writer derives results from it when it processes the session.
    Stored,
    /// The space lacks a record that was in the prompt.
    LeftOut,
}

/// The records to read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Backfill {
    /// Only count and estimate; no session is queued.
    pub dry_run: bool,
    /// Only this session: your name for it, or Mnemic's id.
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// First remove readings that failed, so that their records are read again; also request descriptions of pictures
    /// that have none.
    pub again: bool,
    /// The `next` of the previous response; leave it out in the first request.
    pub after: Option<String>,
}

/// The records that will be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackfillReport {
    /// Number of sessions with records that were not read.
    pub sessions: u64,
    /// Number of records that were not read.
    pub records: u64,
    /// Estimated cost of reading them.
    pub estimate: ReadingEstimate,
    /// Present if the time limit of the request was reached before the last record: repeat the request with `after` set
    /// to this value. A session with records in both parts is counted in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Estimated cost of reading records: a rough estimate from their number and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadingEstimate {
    /// Number of calls: one for each 16 records of a session.
    pub model_calls: u64,
    /// Tokens that the model reads: one for each 4 bytes of the records, and 1,100 for each call.
    pub prompt_tokens: u64,
    /// Tokens that the model writes: a third of the tokens of the records.
    pub completion_tokens: u64,
}
