//! Topic labels and summaries by a language model: which topics it is asked about, and how much of its reply is used.
//! Everything here is pure; `label_call` makes the calls.
//!
//! The rules label every topic. The model is also shown a sample of each topic of [`LABELLED_FROM`] or more events,
//! and again whenever the number of events has doubled. Its reply counts as long as all events that it was shown
//! still exist and none of them is hidden.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::id::{ReadingId, RecordId, TopicId, UnitId};
use domain::reading::{Reading, ReadingKind};
use domain::unit::{Grain, Status, Unit};

pub(crate) mod prompt;
pub(crate) mod reply;

pub use prompt::label_digest;

use crate::judgements::reading_lookup::{ReadingContent, ReadingLookups, ReadingSubject};
use crate::space::hidden_units::HiddenUnits;
use reply::{UncheckedLabel, UsableLabel};

/// Minimum number of events of a topic that the model labels. A clustering makes topics of five events on average.
pub(crate) const LABELLED_FROM: usize = 4;
/// Growth factor of the number of events after which a topic is labelled again.
const GROWN: usize = 2;

/// A topic and the reading in which a model labels it. The id of the reading derives from the first record of the
/// topic's founding event.
pub type LabelSubject = ReadingSubject<TopicId>;

/// A question to the language model about a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelQuestion {
    /// The topic, and the reading that stores the reply.
    pub place: LabelSubject,
    /// The event that the topic was founded on.
    pub founder: UnitId,
    /// At most 19 other events, the nearest to the centre of the topic, in order of time.
    pub others: Vec<UnitId>,
    /// Number of events of the topic.
    pub size: u32,
    /// Time of a reading that does not answer the question, because the model was shown a unit that is hidden now.
    pub outdated: Option<DateTime<Utc>>,
}

/// The usable content of the reading of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicLabel {
    reading: ReadingId,
    /// Time at which the model replied.
    at: DateTime<Utc>,
    /// The events that the model was shown, and the first turn unit of each of their records.
    shown: BTreeSet<UnitId>,
    turns: BTreeSet<UnitId>,
    /// True if one of these is hidden now. The label is not used then, and the model is asked again.
    is_hidden: bool,
    /// Number of events of the topic when the model was asked.
    size: usize,
    /// None if the reading has no usable content; the rules then label the topic until it has grown.
    label: Option<UsableLabel>,
    /// True if the reading was made with the current prompt. An older one counts until a current one exists.
    is_current: bool,
}

impl TopicLabel {
    /// Returns the content of the reading of a topic. Returns none for a reading of another kind, or if a record that
    /// the model was shown belongs to no active event of `units`: the record was erased, or events are now divided
    /// differently.
    pub fn from_reading(reading: &Reading, units: &BTreeMap<UnitId, Unit>) -> Option<TopicLabel> {
        if reading.kind != ReadingKind::Label {
            return None;
        }
        let events = shown_events(reading, units)?;
        let label = match reading.failure {
            None => UncheckedLabel::parse_stored(&reading.output),
            Some(_) => None,
        };
        let is_as_shown = label_digest(&events) == reading.digest;
        let label = label.and_then(|it| match is_as_shown {
            true => it.check_cited_events(&events).usable,
            // The line numbers in the reply may refer to other lines now.
            false => it.check_against_all(&events).usable,
        });
        Some(TopicLabel {
            reading: reading.id,
            at: reading.at,
            shown: events.iter().map(|it| it.id).collect(),
            turns: reading.records_seen_by_model().map(UnitId::of_turn).collect(),
            is_hidden: false,
            size: usize::try_from(reading.outcome.events).unwrap_or(usize::MAX),
            label,
            is_current: reading.prompt == prompt::PROMPT,
        })
    }

    /// Returns true if the reading has a name that the shown events support.
    pub(crate) fn is_usable(&self) -> bool {
        self.label.is_some()
    }
}

/// Returns the events that a model was shown, in the same order. Returns none if one of their records belongs to no
/// active event.
fn shown_events<'a>(reading: &Reading, units: &'a BTreeMap<UnitId, Unit>) -> Option<Vec<&'a Unit>> {
    let events = reading
        .records_seen_by_model()
        .filter_map(|it| units.get(&UnitId::of_event(it)));
    let events: Vec<&Unit> = events.filter(|it| is_current_event(it)).collect();
    let records_of_events: BTreeSet<RecordId> = events.iter().flat_map(|it| it.records.iter().copied()).collect();
    reading
        .records_seen_by_model()
        .all(|it| records_of_events.contains(&it))
        .then_some(events)
}

/// Returns true if a unit is an active or merged event.
pub(crate) fn is_current_event(unit: &Unit) -> bool {
    match unit.status {
        Status::Active | Status::Merged => unit.grain == Grain::Event,
        Status::Superseded | Status::Archived => false,
    }
}

impl ReadingContent for TopicLabel {
    /// Number of events of the topic.
    type Size = usize;

    fn reading_id(&self) -> ReadingId {
        self.reading
    }

    fn has_shown_unit(&self, unit: UnitId) -> bool {
        self.shown.contains(&unit)
    }

    fn is_fresh(&self, size: &usize) -> bool {
        self.is_current && !self.is_hidden && *size < self.size.saturating_mul(GROWN)
    }
}

/// The model's labels for the topics of one space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels(ReadingLookups<TopicId, TopicLabel>);

impl Labels {
    /// Replaces the set of topics, each given with its number of events. Called after events were added, changed or
    /// removed.
    pub(crate) fn set_topics(&mut self, topics: impl Iterator<Item = (LabelSubject, usize)>) {
        self.0.set_all(topics.filter(|it| it.1 >= LABELLED_FROM));
    }

    /// Marks the reading of each topic for which a model was shown this event, to be looked up again; see
    /// [`ReadingLookups::mark_for_lookup`].
    pub(crate) fn mark_for_lookup(&mut self, event: UnitId) {
        self.0.mark_for_lookup(event);
    }

    /// Marks all topics about which the model has to be asked, so that their readings are looked up again.
    pub(crate) fn mark_open_questions(&mut self) {
        self.0.mark_open_questions();
    }

    /// Returns the topics whose readings have to be looked up.
    pub(crate) fn topics_to_look_up(&self) -> Vec<LabelSubject> {
        self.0.subjects_to_look_up()
    }

    /// Applies the labels that were found for `places`; a topic without one loses its label.
    pub(crate) fn apply_readings(&mut self, places: &[LabelSubject], labels: &[TopicLabel]) {
        self.0.apply_readings(places, labels);
    }

    /// Marks the labels for which the model was shown a unit that is hidden now. All others count again.
    pub(crate) fn hide_labels(&mut self, hidden: &HiddenUnits) {
        for label in self.0.contents_mut() {
            let mut turns = label.turns.iter();
            label.is_hidden =
                label.shown.iter().any(|it| hidden.hides(*it)) || turns.any(|it| hidden.hides_turn_of_record(*it));
        }
    }

    /// Returns the model's label for a topic. Returns none if the model was not asked, if its reply was not usable, or
    /// if it was shown a unit that is hidden now.
    pub(crate) fn find_label(&self, topic: TopicId) -> Option<&UsableLabel> {
        let content = self.0.find_content(&topic).filter(|it| !it.is_hidden);
        content?.label.as_ref()
    }

    /// Returns the time of the reading of a topic if the model was shown a unit that is hidden now.
    pub(crate) fn time_of_hidden_label(&self, topic: TopicId) -> Option<DateTime<Utc>> {
        let content = self.0.find_content(&topic).filter(|it| it.is_hidden);
        content.map(|it| it.at)
    }

    /// Returns the topics about which the model has to be asked, with their number of events, largest first, ties by
    /// id.
    pub(crate) fn due_topics(&self) -> Vec<(LabelSubject, usize)> {
        let mut due: Vec<(LabelSubject, usize)> = self
            .0
            .subjects_to_ask_about()
            .map(|(place, size)| (place, *size))
            .collect();
        due.sort_by_key(|it| std::cmp::Reverse(it.1));
        due
    }
}
