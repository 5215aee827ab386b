//! Labels and summaries of topics by a language model: of which topics it is asked, and how much of its reply is used. All of it is
//! pure; `label_call` makes the calls.
//!
//! The rules name every topic. A topic of [`LABELLED_FROM`] events is shown to the model in part, and again whenever it has
//! twice as many events as it had then. What the model said counts as long as all events that it was shown are there.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{ReadingId, RecordId, TopicId, UnitId};
use domain::reading::{Reading, ReadingKind};
use domain::unit::{Grain, Status, Unit};

pub(crate) mod prompt;
pub(crate) mod reply;

pub use prompt::label_digest;

use crate::looked_up::{LookedUp, Place, Saying};
use reply::{Said, Usable};

/// Events from which a topic is labelled: a clustering makes topics of five events on average.
const LABELLED_FROM: usize = 4;
/// A topic is labelled again once it has so many times as many events.
const GROWN: usize = 2;

/// A topic with the reading in which a model labels it; the id of the reading derives from the first record of the event that the
/// topic was founded on.
pub type LabelPlace = Place<TopicId>;

/// A topic about which a language model is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelQuestion {
    /// Where what it says goes.
    pub place: LabelPlace,
    /// The event that the topic was founded on.
    pub founder: UnitId,
    /// At most 19 others, those nearest to the centre of the topic, in order of time.
    pub others: Vec<UnitId>,
    /// Number of events of the topic.
    pub size: u32,
}

/// What the reading of a topic says, as far as it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicLabel {
    reading: ReadingId,
    /// The events that the model was shown.
    shown: BTreeSet<UnitId>,
    /// Number of events of the topic at the time.
    size: usize,
    /// None if nothing came of the reading: such a topic is left to the rules until it has grown.
    said: Option<Usable>,
    /// Whether it was made with the prompt of now. Else it counts until there is one that was.
    is_current: bool,
}

impl TopicLabel {
    /// Returns what a reading says of a topic; none if it is a reading of something else, or if a record that the model was shown is
    /// in none of `units` that stand: it was erased, or events begin elsewhere now.
    pub fn of(reading: &Reading, units: &BTreeMap<UnitId, Unit>) -> Option<TopicLabel> {
        if reading.kind != ReadingKind::Label {
            return None;
        }
        let events = shown_events(reading, units)?;
        let said = match reading.failure {
            None => Said::read(&reading.output),
            Some(_) => None,
        };
        let is_as_shown = label_digest(&events) == reading.digest;
        let said = said.and_then(|it| match is_as_shown {
            true => it.check(&events).usable,
            // Its numbers may be those of other lines.
            false => it.check_against_all(&events).usable,
        });
        Some(TopicLabel {
            reading: reading.id,
            shown: events.iter().map(|it| it.id).collect(),
            size: usize::try_from(reading.outcome.events).unwrap_or(usize::MAX),
            said,
            is_current: reading.prompt == prompt::PROMPT,
        })
    }
}

/// Returns the events that a model was shown, in the order in which it was; none if one of their records is in none that stand.
fn shown_events<'a>(reading: &Reading, units: &'a BTreeMap<UnitId, Unit>) -> Option<Vec<&'a Unit>> {
    let events = reading.shown().filter_map(|it| units.get(&UnitId::event(it)));
    let events: Vec<&Unit> = events.filter(|it| stands(it)).collect();
    let held: BTreeSet<RecordId> = events.iter().flat_map(|it| it.records.iter().copied()).collect();
    reading.shown().all(|it| held.contains(&it)).then_some(events)
}

/// Returns true if a unit is an event that is in use.
pub(crate) fn stands(unit: &Unit) -> bool {
    match unit.status {
        Status::Active | Status::Merged => unit.grain == Grain::Event,
        Status::Superseded | Status::Archived => false,
    }
}

impl Saying for TopicLabel {
    /// Number of events of the topic.
    type Size = usize;

    fn reading(&self) -> ReadingId {
        self.reading
    }

    fn shows(&self, unit: UnitId) -> bool {
        self.shown.contains(&unit)
    }

    fn is_fresh(&self, size: &usize) -> bool {
        self.is_current && *size < self.size.saturating_mul(GROWN)
    }
}

/// The labels of the topics of one space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels(LookedUp<TopicId, TopicLabel>);

impl Labels {
    /// Takes these for the topics there are, each with its number of events, after some event came, changed or went.
    pub(crate) fn set_topics(&mut self, topics: impl Iterator<Item = (LabelPlace, usize)>) {
        self.0.set_all(topics.filter(|it| it.1 >= LABELLED_FROM));
    }

    /// Has the reading of each topic looked up again for which a model was shown an event; see [`LookedUp::look_again`].
    pub(crate) fn look_again(&mut self, event: UnitId) {
        self.0.look_again(event);
    }

    /// Has the readings looked up again of all topics about which a model is to be asked.
    pub(crate) fn look_for_open(&mut self) {
        self.0.look_for_open();
    }

    /// Returns the topics whose readings are to be looked up.
    pub(crate) fn unlooked(&self) -> Vec<LabelPlace> {
        self.0.unlooked()
    }

    /// Takes in what was found for topics that were looked up; a topic without a label has none any more.
    pub(crate) fn take_in(&mut self, places: &[LabelPlace], labels: &[TopicLabel]) {
        self.0.take_in(places, labels);
    }

    /// Returns what a model calls a topic; none if it is not asked about it, or said nothing that can be used.
    pub(crate) fn said(&self, topic: TopicId) -> Option<&Usable> {
        self.0.saying(&topic)?.said.as_ref()
    }

    /// Returns the topics about which a model is to be asked, with their number of events, greatest first, ties by id.
    pub(crate) fn due(&self) -> Vec<(LabelPlace, usize)> {
        let mut due: Vec<(LabelPlace, usize)> = self.0.due().map(|(place, size)| (place, *size)).collect();
        due.sort_by_key(|it| std::cmp::Reverse(it.1));
        due
    }
}
