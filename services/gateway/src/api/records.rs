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

/// A batch of what happened: records, or chat messages as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum NewBatch {
    /// Records.
    Records(NewRecords),
    /// Chat messages.
    Messages(NewMessages),
}

/// Chat messages of one session, as clients of language models have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessages {
    /// At least one, and no more records of them than the server's `batch_max` (1000). A text alone or one message is taken
    /// too.
    #[schema(min_items = 1)]
    pub messages: Vec<NewMessage>,
    /// Name of the session of those that name none; `default` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
}

/// A chat message. Each becomes a record whose actor is the name, or else the role; each of its calls of tools becomes one more.
/// Messages with the role `system` or `developer` are left out: they are what a program tells a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewMessage {
    /// Who says it: `user`, `assistant`, `tool`, `system`, `developer`, or another role.
    #[schema(min_length = 1, max_length = 256)]
    pub role: String,
    /// A text, or a list of parts, of which the texts and the first picture are kept.
    #[serde(default)]
    pub content: Value,
    /// Name of whoever says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 256)]
    pub name: Option<String>,
    /// Tools that the message calls, each with `id` and `function` (`name`, `arguments`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// The call that the message, with the role `tool`, brings the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Your id, as that of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// Name of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// As that of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
    /// When it was said, as that of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub observed_at: Option<String>,
    /// Tags, as those of a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whatever you want back, as that of a record.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
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
    /// Which version it is of another record; as an export has it. `PUT .../records/{id}` sets it by itself.
    #[serde(deserialize_with = "object_or_none")]
    pub version: Option<NewVersion>,
    /// What you want to find it by: at most 32 tags of 1 to 128 bytes. They are kept sorted, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 32)]
    pub tags: Vec<String>,
    /// Whatever you want back: at most 32 entries, names up to 64 and values up to 1024 bytes.
    pub metadata: BTreeMap<String, String>,
}

/// Which version of another record a record is: version 2 of `a` has the id `a#v2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewVersion {
    /// Your id of the first version.
    #[schema(min_length = 1, max_length = 256)]
    pub of: String,
    /// From 2 to 1000; 1 is the first version itself.
    #[schema(minimum = 2, maximum = 1000)]
    pub number: u32,
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
    /// Outcomes in the order given; of chat messages, of the records that they became.
    pub items: Vec<Item>,
    /// Chat messages that are not stored: those of the system and of developers, and those that say nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
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
    /// Which version it is of another record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<NewVersion>,
    /// When it was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Its tags, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
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
            version: it.version.map(|it| NewVersion {
                of: it.of,
                number: it.number,
            }),
            observed_at: it.observed_at,
            tags: it.tags,
            metadata: it.metadata,
        }
    }
}

/// The versions of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordVersions {
    /// All that are stored, the first one first; at most 1000.
    pub items: Vec<Record>,
}
