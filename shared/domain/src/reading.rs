//! Readings: what a language model said about records, kept as it was said.
//!
//! A reading is an input, as records are: gists, relations and facts are derived from it and from its records by rules, so it
//! can be derived from again without another call. It goes with any of the records that the model was shown.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ReadingId, RecordId, SessionId, SpaceId};
use crate::port::ModelCost;

/// What a language model was asked about records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReadingKind {
    /// What a passage of a session tells: gists, relations, facts.
    #[default]
    Passage,
    /// What the picture of one record shows.
    Picture,
    /// Whether two events are one, and how they stand to each other: the records are those of the later one, and the earlier
    /// one's stand beside.
    Events,
    /// What a topic is called, and what it is about: the records are those of the event it was founded on, and those of the
    /// other events that were shown stand beside.
    Label,
    /// What a page and its sections say in short: the records are those of the unit that its first line comes from, and those of the
    /// units of the other lines that were shown stand beside. Its digest says which page it is of.
    Page,
    /// Whether two names are one person's: the records are those of the first unit that was shown of the shorter name, and those of the
    /// other units that were shown stand beside. Its digest says which names.
    People,
}

impl ReadingKind {
    /// Says whether it is about a passage.
    pub fn is_passage(&self) -> bool {
        *self == ReadingKind::Passage
    }
}

/// What a language model said about records, such as a passage of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Derived from what was read, so that has one reading.
    pub id: ReadingId,
    /// What the model was asked.
    #[serde(default, skip_serializing_if = "ReadingKind::is_passage")]
    pub kind: ReadingKind,
    /// The session of what was read; of records of several sessions, that of the first.
    pub session: SessionId,
    /// The records that were read, in session order; not empty.
    pub records: Vec<RecordId>,
    /// Other records whose words the model was shown: those before the passage, and those that earlier gists came from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<RecordId>,
    /// The earlier gists that it was shown, in the order of their labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<GistRef>,
    /// SHA-256 of what it was shown of the session, in hexadecimal digits; of a page, of its dimension and what it is about; of
    /// names, of both.
    pub digest: String,
    /// Name and version of the prompt.
    pub prompt: String,
    /// The model.
    pub model: String,
    /// When it replied.
    pub at: DateTime<Utc>,
    /// What it said; empty if nothing came of it. A reply to a second call follows behind a line that begins with the character
    /// U+001E and names its prompt. Of a page, an object with what it said (`said`) and digests of the lines that it was shown
    /// (`shown`).
    #[serde(default)]
    pub output: String,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What came of it when it was made.
    #[serde(default)]
    pub outcome: ReadingOutcome,
    /// What it cost, with what the readings cost that it took the place of.
    pub spent: ModelCost,
}

impl Reading {
    /// Returns the id of a reading of this kind, by the records it is of and the first of those beside them, or by its space and
    /// digest; none if it needs a record that there is not.
    pub fn id_of(
        space: &SpaceId,
        kind: ReadingKind,
        records: &[RecordId],
        beside: &[RecordId],
        digest: &str,
    ) -> Option<ReadingId> {
        let first = *records.first()?;
        Some(match kind {
            ReadingKind::Passage => ReadingId::derive(first),
            ReadingKind::Picture => ReadingId::picture(first),
            ReadingKind::Events => ReadingId::events(*beside.first()?, first),
            ReadingKind::Label => ReadingId::label(first),
            ReadingKind::Page => ReadingId::page(space, digest),
            ReadingKind::People => ReadingId::people(space, digest),
        })
    }

    /// Returns every record whose words the model was shown.
    pub fn shown(&self) -> impl Iterator<Item = RecordId> {
        self.records.iter().chain(&self.beside).copied()
    }
}

/// What was derived of a reading, and what of its reply was not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReadingOutcome {
    /// Gists.
    pub gists: u32,
    /// Facts, before they are folded.
    pub facts: u32,
    /// Relations between gists.
    pub relations: u32,
    /// Events in the topic when it was labelled; of readings of other kinds 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub events: u32,
    /// What the model said and the records do not bear out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Something that a language model said and that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeftOut {
    /// The beginning of it.
    pub what: String,
    /// Why.
    pub why: String,
}

/// A gist, by the passage that it was read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GistRef {
    /// First record of the passage.
    pub first: RecordId,
    /// Number of the gist in the reading.
    pub number: u16,
}

/// A stored reading without what it says: enough to see that it is gone, or that another one took its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingVersion {
    /// The reading.
    pub id: ReadingId,
    /// When the model replied, in whole milliseconds.
    pub at: DateTime<Utc>,
}

/// A session in which something may have to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedSession {
    /// Its space.
    pub space: SpaceId,
    /// The session.
    pub session: SessionId,
    /// When it was to be looked at, in whole milliseconds.
    pub due: DateTime<Utc>,
    /// When it was wanted last: when something was last written to it, as a rule. In whole milliseconds.
    pub wanted_at: DateTime<Utc>,
    /// Nobody else gets it until then, in whole milliseconds.
    pub leased_until: DateTime<Utc>,
}

/// How much of a space was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadingTally {
    /// Readings from which something is derived.
    pub done: u64,
    /// Readings of which nothing came.
    pub failed: u64,
    /// What all of them cost.
    pub spent: ModelCost,
}
