//! Readings: what language models said about records.

use chrono::{DateTime, Utc};
use domain::id::{ReadingId, SessionId};
use domain::port::{ModelCost, Usage};
use domain::reading::{ReadingKind, ReadingOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::object::{object, objects};

/// A reading: what a language model said about records, such as a passage of a session, and what was derived from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reading {
    /// Its id. A passage has one reading.
    pub id: ReadingId,
    /// What the model was asked.
    pub kind: ReadingKind,
    /// Mnemic's id of the session.
    pub session: SessionId,
    /// Your ids of the records that were read, in the order of the session.
    pub records: Vec<String>,
    /// Name and version of the prompt.
    pub prompt: String,
    /// The model.
    pub model: String,
    /// When the model replied.
    pub at: DateTime<Utc>,
    /// Whether something is derived from it.
    pub state: ReadingState,
    /// Why it failed; only if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How much was derived from it, and what of the reply was left out.
    pub outcome: ReadingOutcome,
    /// What it cost, including earlier readings of the same passage.
    pub cost: ReadingCost,
    /// The reply of the model, word for word; in a list only with `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// Whether something is derived from a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadingState {
    /// Its reply is used.
    Done,
    /// The model gave no reply that can be used.
    Failed,
}

/// What the calls of a language model cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadingCost {
    /// Calls.
    #[serde(default)]
    pub model_calls: u32,
    /// Tokens that they read and wrote, as the model counts them; estimated if it does not report them.
    #[serde(default)]
    pub usage: Usage,
    /// Milliseconds that they took, including the wait for a turn at the endpoint.
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

/// How far the readings of a space are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadingSummary {
    /// Sessions that wait until the writer looks at them.
    pub waiting_sessions: u64,
    /// Readings whose replies are used.
    pub done: u64,
    /// Readings that failed.
    pub failed: u64,
    /// What all readings cost.
    pub cost: ReadingCost,
    /// What the readings made today cost; a day begins at midnight UTC.
    pub cost_today: ReadingCost,
}

/// Some of the readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadingPage {
    /// By id.
    pub items: Vec<Reading>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
    /// How far the readings of the whole space are.
    pub summary: ReadingSummary,
}

/// Some of the readings, in the form in which another space takes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PortableReadingPage {
    /// By Mnemic's ids.
    pub items: Vec<PortableReading>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// A page of readings: in the portable form if `portable` was `true`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ReadingList {
    /// For people and programs that look at them.
    Page(ReadingPage),
    /// For another space.
    Portable(PortableReadingPage),
}

/// A reading that names session and records as you do, so that another space can take it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PortableReading {
    /// Your name of the session.
    #[schema(min_length = 1, max_length = 256)]
    pub session: String,
    /// What the model was asked; `passage` if left out.
    #[serde(default, skip_serializing_if = "ReadingKind::is_passage")]
    pub kind: ReadingKind,
    /// Your ids of the records that were read, in the order of the session: up to 48 of an event, a name, a topic or a page, up to 24 of anything else.
    #[schema(min_items = 1, max_items = 48)]
    pub records: Vec<String>,
    /// Your ids of the other records that the model was shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 64)]
    pub beside: Vec<String>,
    /// The earlier gists that the model was shown, in the order of their labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects")]
    #[schema(max_items = 64)]
    pub earlier: Vec<PortableGist>,
    /// SHA-256 of what the model was shown of the session, in hexadecimal digits; of a page, of its dimension and what it is
    /// about; of names, of both.
    #[schema(min_length = 64, max_length = 64, pattern = "^[0-9a-fA-F]{64}$")]
    pub digest: String,
    /// Name and version of the prompt.
    #[schema(min_length = 1, max_length = 256)]
    pub prompt: String,
    /// The model.
    #[schema(min_length = 1, max_length = 256)]
    pub model: String,
    /// When the model replied.
    pub at: DateTime<Utc>,
    /// The reply of the model, at most 256 KiB; empty if there is none.
    #[serde(default)]
    pub output: String,
    /// Why it failed; only if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub failure: Option<String>,
    /// How much was derived from it, and what of the reply was left out.
    #[serde(default, deserialize_with = "object")]
    pub outcome: ReadingOutcome,
    /// What it cost, including earlier readings of the same passage.
    #[serde(default, deserialize_with = "object")]
    pub spent: ReadingCost,
}

/// A gist, by the passage in which it was read.
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
    /// The readings. One takes the place of the reading of the same passage.
    #[serde(deserialize_with = "objects")]
    #[schema(min_items = 1, max_items = 100)]
    pub items: Vec<PortableReading>,
}

/// What became of the readings from another space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredReadings {
    /// Outcomes in the order given.
    pub items: Vec<StoredReading>,
}

/// What became of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredReading {
    /// Index in the request, from 0.
    pub index: usize,
    /// What became of it.
    pub status: StoredReadingStatus,
}

/// What became of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoredReadingStatus {
    /// It is stored, and its session waits until the writer derives from it.
    Stored,
    /// The space does not have every record that the model was shown.
    LeftOut,
}

/// What is to be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Backfill {
    /// Only count and estimate; no session waits to be read because of it.
    pub dry_run: bool,
    /// Only this session: your name for it, or Mnemic's id.
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// Remove the readings that failed first, so that their records are read again, and have pictures described that nobody
    /// described.
    pub again: bool,
    /// The `next` of the response before; leave it out in the first request.
    pub after: Option<String>,
}

/// What is going to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackfillReport {
    /// Sessions with records that were not read.
    pub sessions: u64,
    /// Records that were not read.
    pub records: u64,
    /// What it may cost to read them.
    pub estimate: ReadingEstimate,
    /// The walk through the records ended with the time of the request: send the same again with `after` set to this. None
    /// after the last record. A session whose records are in both parts is counted in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What it may cost to read records: a rough estimate from their number and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadingEstimate {
    /// Calls: one for each 16 records of a session.
    pub model_calls: u64,
    /// Tokens that the model reads: one for each 4 bytes of the records, and 1,100 for each call.
    pub prompt_tokens: u64,
    /// Tokens that the model writes: a third of the tokens of the records.
    pub completion_tokens: u64,
}
