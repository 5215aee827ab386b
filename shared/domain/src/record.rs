//! Records: the input, word for word.
use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::id::{RecordId, SessionId, SpaceId};

/// The kind of observation of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    /// Something said or written.
    #[default]
    Text,
    /// Something seen; the caption describes it.
    Visual,
    /// A tool call, an action in a world, or its result.
    Action,
}

/// A call of a tool or an action in a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the tool or action.
    pub name: String,
    /// Arguments as the agent gave them, as JSON text.
    #[serde(default)]
    pub arguments: String,
    /// The result of the call or action.
    #[serde(default)]
    pub result: String,
}

/// Makes a record a version of another record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordVersion {
    /// The caller's id of the first version.
    pub of: String,
    /// 2 or more; the first version itself is number 1.
    pub number: u32,
}

/// One raw observation, immutable. It can be erased, but never rewritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Derived from the space and `external_id`.
    pub id: RecordId,
    /// The space it belongs to.
    pub space: SpaceId,
    /// The caller's own id, unique in the space.
    pub external_id: String,
    /// Derived from the space and `session_name`.
    pub session: SessionId,
    /// The caller's name for the session.
    pub session_name: String,
    /// Position in the session: records are ordered by (`observed_at`, `ordinal`, `id`).
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// Person or agent that spoke or acted; empty if there is none.
    pub actor: String,
    /// The words, the observation or the act.
    pub text: String,
    /// Description of a shared image, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Address of a shared image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// Time at which the record was observed, with the observer's UTC offset; "yesterday" is resolved in it.
    pub observed_at: DateTime<FixedOffset>,
    /// Set if the record is a version of another record; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<RecordVersion>,
    /// The caller's tags, sorted and without duplicates (see [`crate::filter::checked_tags`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Other data of the caller; returned unchanged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Record {
    /// Returns the version of another record that this record is, by Mnemic's ids; `None` if it is not a version.
    pub fn resolved_version(&self) -> Option<Version> {
        let RecordVersion { of, number } = self.version.as_ref()?;
        Some(Version {
            of: RecordId::from_external_id(&self.space, of),
            number: *number,
        })
    }

    /// Returns the key by which records are ordered in a session.
    pub fn session_order_key(&self) -> (DateTime<FixedOffset>, u64, RecordId) {
        (self.observed_at, self.ordinal, self.id)
    }
}

/// Which version of a record another record is. The record itself is version 1 and has no such field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Version {
    /// The first version.
    pub of: RecordId,
    /// 2 or more.
    pub number: u32,
}
