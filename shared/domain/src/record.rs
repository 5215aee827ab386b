//! Records: what came in, word for word.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::id::{RecordId, SessionId, SpaceId};
use crate::version::Version;

/// What kind of observation a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    /// Something said or written.
    #[default]
    Text,
    /// Something seen; the caption carries it.
    Visual,
    /// A tool call, an action in a world, or what came of it.
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
    /// What the tool or world answered.
    #[serde(default)]
    pub result: String,
}

/// Which version of another record a record is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordVersion {
    /// The caller's id of the first version.
    pub of: String,
    /// From 2 on; 1 is the first version itself.
    pub number: u32,
}

/// One raw observation, immutable. Erased on demand, never rewritten.
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
    /// Place inside the session: records are ordered by (`observed_at`, `ordinal`, `id`).
    pub ordinal: u64,
    /// What kind of observation it is.
    pub modality: Modality,
    /// Who said or did it; empty if nobody did.
    pub actor: String,
    /// What was said, seen or done.
    pub text: String,
    /// What a shared image shows, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_caption: Option<String>,
    /// Where a shared image lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// When it was observed, in the offset of whoever observed it ("yesterday" is resolved there).
    pub observed_at: DateTime<FixedOffset>,
    /// Which version it is of another record; none if it is a record of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<RecordVersion>,
    /// What the caller calls it by to find it again: sorted, each once (see [`crate::filter::checked_tags`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whatever the caller wants back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Record {
    /// Returns which version it is of another record, by Mnemic's ids.
    pub fn version(&self) -> Option<Version> {
        let RecordVersion { of, number } = self.version.as_ref()?;
        Some(Version {
            of: RecordId::derive(&self.space, of),
            number: *number,
        })
    }

    /// The key that orders records inside a session.
    pub fn order(&self) -> (DateTime<FixedOffset>, u64, RecordId) {
        (self.observed_at, self.ordinal, self.id)
    }
}
