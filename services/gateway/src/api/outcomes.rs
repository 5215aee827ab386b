//! The outcome of a request that was refused, and of each record of a batch.

use domain::id::RecordId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// URI of the kind of problem: `urn:mnemic:problem:...`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Title of the kind of problem, for people.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Description of this problem.
    pub detail: String,
    /// Outcome for each record, if a batch was refused as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub items: Vec<Item>,
    /// Address of the section of docs/ERRORS.md on this kind of problem: causes and solutions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub help: String,
    /// Progress of the writer, if a wait for it timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Box<Progress>>,
    /// Id of the dead letter that holds the write, if the write failed permanently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_letter: Option<String>,
}

/// Result for one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Item {
    /// Index in the batch, from 0.
    pub index: usize,
    /// Your id, or the derived one; empty if it could not be read.
    pub id: String,
    /// Mnemic's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// The result.
    pub status: ItemStatus,
    /// Reason why the record was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub problem: Option<Box<ProblemDocument>>,
}

/// Result for one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// It is on disk and will be searchable.
    Accepted,
    /// The same content was accepted earlier.
    Duplicate,
    /// The record was not accepted.
    Rejected,
}

/// Progress of a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// The watermark in the request.
    pub watermark: String,
    /// Whether the write is searchable.
    pub written: bool,
    /// Number of accepted batches of this space that are not searchable yet.
    pub backlog: u64,
    /// Number of searchable batches of this space whose derived data (entities, facts, events, topics and pages) are
    /// not complete yet.
    #[serde(default)]
    pub deriving: u64,
    /// Whether the space was deleted and a store that was not available then still has to erase its data.
    #[serde(default)]
    pub erasing: bool,
}
