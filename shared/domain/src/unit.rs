//! Units: the objects that are searched and shown.
use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::fact::Stated;
use crate::id::{RecordId, SessionId, UnitId};
use crate::record::{Modality, Version};
use crate::time::TimeSpan;

/// The extent of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    /// One record; available immediately after acceptance.
    Turn,
    /// One segment of a session.
    Event,
    /// One thing that a language model read in a passage of a session, as a separate line.
    Gist,
}

/// The status of a unit.
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
    /// Kept, but no longer proposed.
    Archived,
}

/// A change of the state of something (S3Mem's `ds`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StateChange {
    /// The person or thing whose state changes.
    pub subject: String,
    /// Name of the state.
    pub key: String,
    /// The old value; empty if unknown.
    pub before: String,
    /// The new value.
    pub after: String,
}

/// The scene-event unit of S3Mem, section 3: CompassMem's event, REMem's gist, MRAgent's episode.
///
/// Empty fields are allowed; a unit never replaces its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Unit {
    /// Derived from the record or the segment.
    pub id: UnitId,
    /// Turn, event or gist.
    pub grain: Grain,
    /// The session the unit belongs to.
    pub session: SessionId,
    /// The records of the unit, in session order. The first record determines the place of the unit.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`, in the same order.
    pub external_ids: Vec<String>,
    /// Time at which the unit was observed; for an event, when its first record was.
    pub observed_at: DateTime<FixedOffset>,
    /// Position in the session among units with equal `observed_at`; ties break by id.
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// Person or agent that spoke or acted; empty for events with several actors.
    pub actor: String,
    /// The person addressed; empty if there is none or it is unknown.
    #[serde(default)]
    pub addressee: String,
    /// The short text that is shown: the observation itself.
    pub text: String,
    /// Short caption of a shared image, without "a photo of".
    #[serde(default)]
    pub caption: String,
    /// The self-contained text: its date, who speaks to whom, its own words, and the dates of relative times.
    pub summary: String,
    /// Times named in the text, resolved against `observed_at`, in order of appearance.
    #[serde(default)]
    pub times: Vec<TimeSpan>,
    /// Names of people and things mentioned, as written, without duplicates.
    #[serde(default)]
    pub participants: Vec<String>,
    /// Place or source, if mentioned.
    #[serde(default)]
    pub location: String,
    /// The act, as a verb phrase or the name of a tool.
    #[serde(default)]
    pub action: String,
    /// Step of an agent's run, if the unit is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// State changes that the unit mentions.
    #[serde(default)]
    pub changes: Vec<StateChange>,
    /// Facts that a language model read in the records; only for gists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
    /// Set if its record is a version of another record; only for the first turn unit of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// At most two words for its subject.
    #[serde(default)]
    pub tag: String,
    /// Lower-case keywords that activate it.
    #[serde(default)]
    pub cues: Vec<String>,
    /// The question that this unit answers, if the record before it asked one (MRAgent's question-answer merge).
    #[serde(default)]
    pub question: String,
    /// The tags of its record; only for turn units. Events and gists are filtered by the tags of their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The metadata of its record; only for turn units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Name and version of the pipeline that wrote it.
    pub derived_by: String,
    /// Whether it is in use, and if not, why.
    #[serde(default)]
    pub status: Status,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

impl Unit {
    /// Returns the form in which a removed unit is kept: id, grain and place, with status `superseded` and without any
    /// content.
    pub fn without_content(&self) -> Unit {
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
