use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use domain::id::{ErasureId, RecordId, SessionId};
use domain::record::Modality;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::object::object_or_none;
use crate::problem::Problem;

/// A batch of what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRecords {
    /// At least one; at most the server's `batch_max` (1000).
    #[schema(min_items = 1)]
    pub records: Vec<NewRecord>,
}

/// One observation. It needs a text, a caption or a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewRecord {
    /// Your id, unique in the space; the same id with the same content is stored once, with other content it is a
    /// conflict. Without one, it derives from the `Idempotency-Key` and the index, else from the content. Not `.` or `..`.
    #[schema(min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// Name of the session; `default` if not given. Not `.` or `..`.
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// Orders records of a session that were observed at the same moment. Without one, later requests come after
    /// earlier ones and, inside a request, records keep their order.
    pub ordinal: Option<u64>,
    /// Kind of observation; `action` if there is a tool, `visual` if there is only a caption, else `text`.
    pub modality: Option<Modality>,
    /// Who said or did it.
    #[schema(max_length = 256)]
    pub actor: Option<String>,
    /// What was said or done.
    pub text: Option<String>,
    /// What a shared image shows, in words. It counts more than what a language model says of the image.
    pub image_caption: Option<String>,
    /// Where a shared image lies, or the image itself as `data:image/png;base64,...` (PNG, JPEG, WebP, GIF); an address has at
    /// most 2048 bytes. It is kept as it is. Where a language model is set up to describe pictures and you give no
    /// `image_caption`, the image is fetched, if its host is on the operator's list, and described; the description is used
    /// like a caption of yours.
    #[schema(max_length = 131_072)]
    pub image_uri: Option<String>,
    /// The tool that was called.
    #[serde(deserialize_with = "object_or_none")]
    pub tool: Option<NewTool>,
    /// When it was observed: RFC 3339, or ISO 8601 without a zone (then UTC); the time of the request if not given.
    #[schema(format = DateTime)]
    pub observed_at: Option<String>,
    /// Whatever you want back: at most 32 entries, names up to 64 and values up to 1024 bytes.
    pub metadata: BTreeMap<String, String>,
}

/// A call of a tool or an action in a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTool {
    /// Name of the tool or action.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 128, required = true)]
    pub name: String,
    /// Arguments: text, or any JSON.
    #[serde(default)]
    pub arguments: Value,
    /// What came of it: text, or any JSON.
    #[serde(default)]
    pub result: Value,
}

/// What became of a batch: 202 means that every accepted record is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Accepted {
    /// Names this write; a query with `after` set to it sees the records.
    pub watermark: String,
    /// Outcomes in the order given.
    pub items: Vec<Item>,
}

/// What became of one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Item {
    /// Index in the batch, from 0.
    pub index: usize,
    /// The caller's id, or the derived one; empty if it could not be read.
    pub id: String,
    /// Mnemic's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    /// What became of it.
    pub status: ItemStatus,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub problem: Option<Box<Problem>>,
}

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// It is on disk and will be searchable.
    Accepted,
    /// It was accepted before, with the same content.
    Duplicate,
    /// It was not taken.
    Rejected,
}

/// What is erased of a session: 202 means that it is on disk and will be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Erased {
    /// Names this write; once it is reached, the records are gone.
    pub watermark: String,
    /// Mnemic's id of the session.
    pub session: SessionId,
    /// Number of records erased by this request, at most 1000.
    pub records: u64,
    /// Whether there are more: ask again once the watermark is reached.
    pub more: bool,
    /// The id of the receipt, which is there once the watermark is reached.
    pub erasure: ErasureId,
}

/// How far writing is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// The write asked about.
    pub watermark: String,
    /// Whether it is searchable.
    pub written: bool,
    /// Accepted batches of this space that are not searchable yet.
    pub backlog: u64,
    /// Batches of this space that are searchable and still wait for what is derived from them: entities, facts, events,
    /// topics and pages.
    #[serde(default)]
    pub deriving: u64,
    /// Whether the space was deleted and a store that was away then is still to erase what it holds.
    #[serde(default)]
    pub erasing: bool,
}

/// A stored record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    /// The caller's id.
    pub id: String,
    /// Mnemic's id.
    pub record: RecordId,
    /// Name of the session.
    pub session: String,
    /// Orders records observed at the same moment.
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// Who said or did it.
    pub actor: String,
    /// What was said or done.
    pub text: String,
    /// What a shared image shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Where a shared image lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// When it was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// What the caller wanted back.
    pub metadata: BTreeMap<String, String>,
}

/// A call of a tool, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tool {
    /// Name of the tool or action.
    pub name: String,
    /// Arguments, as JSON text.
    pub arguments: String,
    /// What came of it, as text.
    pub result: String,
}

impl From<domain::record::Record> for Record {
    fn from(it: domain::record::Record) -> Record {
        Record {
            id: it.external_id,
            record: it.id,
            session: it.session_name,
            ordinal: it.ordinal,
            modality: it.modality,
            actor: it.actor,
            text: it.text,
            image_caption: it.image_caption,
            image_uri: it.image_uri,
            tool: it.tool.map(|tool| Tool {
                name: tool.name,
                arguments: tool.arguments,
                result: tool.result,
            }),
            observed_at: it.observed_at,
            metadata: it.metadata,
        }
    }
}
