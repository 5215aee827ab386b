use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use domain::id::{ErasureId, RecordId, SessionId};
use domain::record::Modality;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::json_object::object_or_none;
use super::outcomes::Item;

/// A batch of observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRecords {
    /// At least one; at most the server's `batch_max` (1000).
    #[schema(min_items = 1)]
    pub records: Vec<NewRecord>,
}

/// A batch of observations: records, or chat messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum NewBatch {
    /// Records.
    Records(NewRecords),
    /// Chat messages.
    Messages(NewMessages),
}

/// Chat messages of one session, in the form that clients of language models use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessages {
    /// At least one message. The records that the messages become must not exceed the server's `batch_max` (1000). A
    /// single text or a single message is accepted too.
    #[schema(min_items = 1)]
    pub messages: Vec<NewMessage>,
    /// Name of the session for messages that name none; default `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
}

/// A chat message. Each message becomes a record whose actor is the name, or else the role; each of its tool calls
/// becomes one more record. Messages with the role `system` or `developer` are left out, because they are instructions
/// from a program to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewMessage {
    /// Role of the author: `user`, `assistant`, `tool`, `system`, `developer`, or another role.
    #[schema(min_length = 1, max_length = 256)]
    pub role: String,
    /// A text, or a list of parts. The texts and the first picture are kept.
    #[serde(default)]
    pub content: Value,
    /// Name of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 256)]
    pub name: Option<String>,
    /// Tools that the message calls, each with `id` and `function` (`name`, `arguments`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// Id of the tool call whose result the message contains; for the role `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Your id, as for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// Name of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// Order within the session, as for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
    /// Time of the message, as for a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub observed_at: Option<String>,
    /// Tags, as for a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Metadata, as for a record.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// One observation. It needs a text, a caption or a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewRecord {
    /// Your id, unique in the space. The same id with the same content is stored once; with other content it is a
    /// conflict. If left out, the id derives from the `Idempotency-Key` and the index, or else from the content. Not
    /// `.` or `..`. At most 256 bytes; the id of a version is up to 6 bytes longer than that of its record.
    #[schema(min_length = 1, max_length = 262)]
    pub id: Option<String>,
    /// Name of the session; default `default`. Not `.` or `..`.
    #[schema(min_length = 1, max_length = 256)]
    pub session: Option<String>,
    /// Orders records of a session that were observed at the same time. If left out, later requests come after earlier
    /// ones, and records of one request keep their order.
    pub ordinal: Option<u64>,
    /// Kind of observation; default `action` if there is a tool call, `visual` if there is only a caption, else `text`.
    pub modality: Option<Modality>,
    /// The person or program that said or did it.
    #[schema(max_length = 256)]
    pub actor: Option<String>,
    /// The text or action.
    pub text: Option<String>,
    /// Description of a shared image in words. It takes precedence over the description by a language model.
    pub image_caption: Option<String>,
    /// Address of a shared image, or the image itself as `data:image/png;base64,...` (PNG, JPEG, WebP, GIF). An address
    /// has at most 2048 bytes. It is stored unchanged. If the server has a language model that describes pictures and
    /// there is no `image_caption`, the server fetches the image (only from hosts on the operator's list) and uses the
    /// description of the model like a caption.
    #[schema(max_length = 131_072)]
    pub image_uri: Option<String>,
    /// The tool call.
    #[serde(deserialize_with = "object_or_none")]
    pub tool: Option<NewTool>,
    /// Time of the observation: RFC 3339, or ISO 8601 without a zone (then UTC); default: the time of the request.
    #[schema(format = DateTime)]
    pub observed_at: Option<String>,
    /// The version number if this record is a version of another record, as in an export. `PUT .../records/{id}` sets
    /// it automatically.
    #[serde(deserialize_with = "object_or_none")]
    pub version: Option<NewVersion>,
    /// Tags for filters: at most 32, each of 1 to 128 bytes. They are stored sorted and without duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 32)]
    pub tags: Vec<String>,
    /// Your own data, returned unchanged: at most 32 entries, names of at most 64 and values of at most 1024 bytes.
    pub metadata: BTreeMap<String, String>,
}

/// The version number of a record: version 2 of `a` has the id `a#v2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewVersion {
    /// Your id of the first version.
    #[schema(min_length = 1, max_length = 256)]
    pub of: String,
    /// 2 to 1000; number 1 is the first version itself.
    #[schema(minimum = 2, maximum = 1000)]
    pub number: u32,
}

/// A tool call, or an action in a world.
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
    /// Result: text, or any JSON.
    #[serde(default)]
    pub result: Value,
}

/// Result of a batch: 202 means that every accepted record is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Accepted {
    /// Watermark of this write; a query with `after` set to it sees the records.
    pub watermark: String,
    /// Results in the order of the request; for chat messages, of the records that they became. The `index` of a result
    /// is that of the element of `records` which became the record, so several results may have one index. For
    /// `messages`, it counts the records that they became.
    pub items: Vec<Item>,
    /// Number of chat messages that are not stored: those with the role `system` or `developer`, and those that hold no
    /// text, no tool call and no picture that a record can hold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The erasure of a session: 202 means that it is on disk and will be applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Erased {
    /// Watermark of this write; once it is reached, the records are erased.
    pub watermark: String,
    /// Mnemic's id of the session.
    pub session: SessionId,
    /// Number of records erased by this request, at most 1000.
    pub records: u64,
    /// Whether the session has more records: repeat the request once the watermark is reached.
    pub more: bool,
    /// The id of the receipt, which exists once the watermark is reached.
    pub erasure: ErasureId,
}

/// A stored record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    /// Your id.
    pub id: String,
    /// Mnemic's id.
    pub record: RecordId,
    /// Name of the session.
    pub session: String,
    /// Orders records observed at the same time.
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// The person or program that said or did it.
    pub actor: String,
    /// The text or action.
    pub text: String,
    /// Description of a shared image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Address of a shared image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The first version, and the number of this one, if the record is a later version of another record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<NewVersion>,
    /// Time of the observation.
    pub observed_at: DateTime<FixedOffset>,
    /// Tags of the record, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Your own data.
    pub metadata: BTreeMap<String, String>,
}

/// A tool call, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tool {
    /// Name of the tool or action.
    pub name: String,
    /// Arguments, as JSON text.
    pub arguments: String,
    /// Result, as text.
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

/// The versions of a record, or a page of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordVersions {
    /// The stored versions, the first one first; a record has at most 1000.
    pub items: Vec<Record>,
    /// The `after` of the next page; left out on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
