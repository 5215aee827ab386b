//! Readings: replies of a language model about records, stored as received.
//!
//! A reading is an input, like a record: rules derive gists, relations and facts from it and from its records. A
//! rebuild repeats this without another call. A reading is deleted together with any of the records that the model saw.
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ReadingId, RecordId, SessionId, SpaceId};
use crate::model_cost::ModelCost;

/// The kind of question about records that a language model answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReadingKind {
    /// The content of a passage of a session: gists, relations, facts.
    #[default]
    Passage,
    /// The content of the picture of one record.
    Picture,
    /// Judgement whether two events are the same, and how they are related. `records` are those of the later event;
    /// `beside` are those of the earlier one.
    Events,
    /// Name and summary of a topic. `records` are those of its founding event; `beside` are those of the other events
    /// that the model saw.
    Label,
    /// Summaries of a page and its sections. `records` are those of the unit of the page's first line; `beside` are
    /// those of the units of the other lines that the model saw. The digest identifies the page.
    Page,
    /// Judgement whether two names mean the same person. `records` are those of the first unit with the shorter name
    /// that the model saw; `beside` are those of the other units that it saw. The digest identifies the names.
    People,
}

impl ReadingKind {
    /// Returns true for the reading of a passage.
    pub fn is_passage(&self) -> bool {
        *self == ReadingKind::Passage
    }
}

/// A reply of a language model about records, such as a passage of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Derived from the target of the reading, so each target has one reading.
    pub id: ReadingId,
    /// The kind of question.
    #[serde(default, skip_serializing_if = "ReadingKind::is_passage")]
    pub kind: ReadingKind,
    /// The session of `records`; if they are of several sessions, that of the first.
    pub session: SessionId,
    /// The records that were read, in session order; not empty.
    pub records: Vec<RecordId>,
    /// Other records whose text the model saw: those before the passage, and the sources of earlier gists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<RecordId>,
    /// The earlier gists that the model saw, in the order of their labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<GistRef>,
    /// SHA-256 in hexadecimal digits. For most kinds: of the text of the session that the model saw. For a page: of its
    /// dimension and subject. For two names: of both names.
    pub digest: String,
    /// Name and version of the prompt.
    pub prompt: String,
    /// Name of the model.
    pub model: String,
    /// Time at which the model replied.
    pub at: DateTime<Utc>,
    /// The reply; empty if the reading failed. The reply to a second call is appended after a line that begins with the
    /// character U+001E and names its prompt. For a page: an object with the reply (`said`) and digests of the lines
    /// that the model saw (`shown`).
    #[serde(default)]
    pub output: String,
    /// Reason of the failure; absent if the reading did not fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Counts of the derived objects, at the time of the reading.
    #[serde(default)]
    pub outcome: ReadingOutcome,
    /// The cost of this reading and of the readings that it replaced.
    pub spent: ModelCost,
}

impl Reading {
    /// Returns the id of a reading of this kind. It is derived from the first record and, for events, the first record
    /// of `beside`; for pages and names, from the space and the digest. Returns `None` if `records` is empty, and for
    /// events also if `beside` is empty.
    pub fn id_of(
        space: &SpaceId,
        kind: ReadingKind,
        records: &[RecordId],
        beside: &[RecordId],
        digest: &str,
    ) -> Option<ReadingId> {
        let first = *records.first()?;
        Some(match kind {
            ReadingKind::Passage => ReadingId::of_passage(first),
            ReadingKind::Picture => ReadingId::of_picture(first),
            ReadingKind::Events => ReadingId::of_events(*beside.first()?, first),
            ReadingKind::Label => ReadingId::of_topic_label(first),
            ReadingKind::Page => ReadingId::of_page(space, digest),
            ReadingKind::People => ReadingId::of_people(space, digest),
        })
    }

    /// Returns all records whose text the model saw.
    pub fn records_seen_by_model(&self) -> impl Iterator<Item = RecordId> {
        self.records.iter().chain(&self.beside).copied()
    }
}

/// Counts of the objects derived from a reading, and the parts of the reply that were not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReadingOutcome {
    /// Number of gists.
    pub gists: u32,
    /// Number of facts, before folding.
    pub facts: u32,
    /// Number of relations between gists.
    pub relations: u32,
    /// Number of events in the topic when it was labelled; 0 for other kinds of readings.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub events: u32,
    /// Statements of the model that the records do not support.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// True if a second look at the passage is planned. The first reply is used until then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waits_for_second_look: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A statement of a language model that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeftOut {
    /// The beginning of the statement.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// A reference to a gist, by the passage that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GistRef {
    /// First record of the passage.
    pub first: RecordId,
    /// Number of the gist in the reading.
    pub number: u16,
}

/// Id and time of a stored reading: enough to see that it was deleted or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingVersion {
    /// The reading.
    pub id: ReadingId,
    /// Time at which the model replied, in whole milliseconds.
    pub at: DateTime<Utc>,
}

/// A session in the queue for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledSession {
    /// Space of the session.
    pub space: SpaceId,
    /// The session.
    pub session: SessionId,
    /// Time at which the reading is due, in whole milliseconds.
    pub due: DateTime<Utc>,
    /// Time at which the reading was last scheduled, in whole milliseconds; usually the time of the last write to the
    /// session.
    pub wanted_at: DateTime<Utc>,
    /// Time at which the lease of the caller ends, in whole milliseconds.
    pub leased_until: DateTime<Utc>,
}

/// Totals of the readings of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadingTally {
    /// Number of readings from which something was derived.
    pub done: u64,
    /// Number of failed readings.
    pub failed: u64,
    /// Total cost of all readings.
    pub spent: ModelCost,
}
