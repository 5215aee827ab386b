//! Units: what is found and shown.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::fact::Stated;
use crate::id::{RecordId, SessionId, UnitId};
use crate::record::Modality;
use crate::time::TimeSpan;
use crate::version::Version;

/// How much a unit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    /// One record; there at once after acceptance.
    Turn,
    /// One segment of a session.
    Event,
    /// One thing that a language model read in a stretch of a session, in a line of its own.
    Gist,
}

/// What became of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// Merged into another unit.
    Merged,
    /// Replaced by a newer one.
    Superseded,
    /// Kept, but not proposed any more.
    Archived,
}

/// A change of the state of something (S3Mem's `ds`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StateChange {
    /// Whose state.
    pub subject: String,
    /// Which state.
    pub key: String,
    /// What it was; empty if not said.
    pub before: String,
    /// What it is now.
    pub after: String,
}

/// The scene-event unit of S3Mem, section 3: CompassMem's event, REMem's gist, MRAgent's episode.
///
/// Empty fields are allowed; the record is never replaced by its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Unit {
    /// Derived from the record or the segment.
    pub id: UnitId,
    /// Turn, event or gist.
    pub grain: Grain,
    /// The session it belongs to.
    pub session: SessionId,
    /// The records it came from, in session order; the first one places it.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`, in the same order.
    pub external_ids: Vec<String>,
    /// When it was observed (of an event: its first record).
    pub observed_at: DateTime<FixedOffset>,
    /// Place inside the session, beside `observed_at`; ties break by id.
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// Who said or did it; empty for events of several.
    pub actor: String,
    /// Who is spoken to; empty if nobody or not known.
    #[serde(default)]
    pub addressee: String,
    /// The short text that is shown: the observation itself.
    pub text: String,
    /// Short caption of a shared image, without "a photo of".
    #[serde(default)]
    pub caption: String,
    /// The self-contained searchable text: dated, names instead of pronouns, relative times resolved.
    pub summary: String,
    /// Times named in the text, resolved against `observed_at`, in order of appearance.
    #[serde(default)]
    pub times: Vec<TimeSpan>,
    /// Names of people and things mentioned, as written, without duplicates.
    #[serde(default)]
    pub participants: Vec<String>,
    /// Place or source, if said.
    #[serde(default)]
    pub location: String,
    /// What was done, as a verb phrase or the name of a tool.
    #[serde(default)]
    pub action: String,
    /// Step of an agent's run, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What changed.
    #[serde(default)]
    pub changes: Vec<StateChange>,
    /// What a language model read in the records as facts; only of gists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
    /// Which version its record is of another one; only of the first turn unit of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// At most two words that name what it is about.
    #[serde(default)]
    pub tag: String,
    /// Lower-case keywords that wake it.
    #[serde(default)]
    pub cues: Vec<String>,
    /// The question this unit answers, when the record before it asked one (MRAgent's question-answer merge).
    #[serde(default)]
    pub question: String,
    /// The tags of its record; only of turn units. Events and gists are filtered by the tags of their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The metadata of its record; only of turn units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Name and version of the pipeline that wrote it.
    pub derived_by: String,
    /// What became of it.
    #[serde(default)]
    pub status: Status,
    /// 0 to 1.
    pub confidence: f32,
}

impl Unit {
    /// Returns what is left of it once it is removed: id, grain and place, with status `superseded`, and nothing of what it
    /// said or of whom.
    pub fn emptied(&self) -> Unit {
        Unit {
            id: self.id,
            grain: self.grain,
            session: self.session,
            records: Vec::new(),
            external_ids: Vec::new(),
            observed_at: self.observed_at,
            ordinal: self.ordinal,
            modality: self.modality,
            actor: String::new(),
            addressee: String::new(),
            text: String::new(),
            caption: String::new(),
            summary: String::new(),
            times: Vec::new(),
            participants: Vec::new(),
            location: String::new(),
            action: String::new(),
            step: None,
            changes: Vec::new(),
            version: None,
            stated: Vec::new(),
            tag: String::new(),
            cues: Vec::new(),
            question: String::new(),
            tags: Vec::new(),
            metadata: BTreeMap::new(),
            derived_by: self.derived_by.clone(),
            status: Status::Superseded,
            confidence: self.confidence,
        }
    }
}
