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

use reply::{Said, Usable};

/// Events from which a topic is labelled: a clustering makes topics of five events on average.
const LABELLED_FROM: usize = 4;
/// A topic is labelled again once it has so many times as many events.
const GROWN: usize = 2;

/// A topic with the reading in which a model labels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelPlace {
    /// The topic.
    pub topic: TopicId,
    /// The reading; derived from the first record of the event that the topic was founded on.
    pub reading: ReadingId,
}

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

/// What is known of the label of a topic.
#[derive(Clone, Debug, PartialEq)]
struct TopicState {
    reading: ReadingId,
    size: usize,
    is_looked_up: bool,
    label: Option<TopicLabel>,
}

impl TopicState {
    /// Returns true if a model is to be asked, as far as is known.
    fn is_due(&self) -> bool {
        let is_fresh = |it: &TopicLabel| it.is_current && self.size < it.size.saturating_mul(GROWN);
        !self.label.as_ref().is_some_and(is_fresh)
    }
}

/// The labels of the topics of one space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    of: BTreeMap<TopicId, TopicState>,
}

impl Labels {
    /// Takes these for the topics there are, each with its number of events, after some event came, changed or went. A label stays
    /// with its topic; one that was not found is looked for again, since all events that the model was shown may be there now.
    pub(crate) fn set_topics(&mut self, topics: impl Iterator<Item = (LabelPlace, usize)>) {
        let mut before = std::mem::take(&mut self.of);
        for (place, size) in topics.filter(|it| it.1 >= LABELLED_FROM) {
            let known = before.remove(&place.topic).filter(|it| it.reading == place.reading);
            let known = match known {
                Some(known) => TopicState {
                    size,
                    is_looked_up: known.is_looked_up && known.label.is_some(),
                    ..known
                },
                None => TopicState {
                    reading: place.reading,
                    size,
                    is_looked_up: false,
                    label: None,
                },
            };
            self.of.insert(place.topic, known);
        }
    }

    /// Has the reading of each topic looked up again for which a model was shown an event: it may have gone with a record.
    pub(crate) fn look_again(&mut self, event: UnitId) {
        for known in self.of.values_mut() {
            if known.label.as_ref().is_some_and(|it| it.shown.contains(&event)) {
                known.is_looked_up = false;
            }
        }
    }

    /// Has the readings looked up again of all topics about which a model is to be asked.
    pub(crate) fn look_for_open(&mut self) {
        self.of
            .values_mut()
            .filter(|it| it.is_due())
            .for_each(|it| it.is_looked_up = false);
    }

    /// Returns the topics whose readings are to be looked up.
    pub(crate) fn unlooked(&self) -> Vec<LabelPlace> {
        let unlooked = self.of.iter().filter(|it| !it.1.is_looked_up);
        unlooked.map(|(topic, known)| place(*topic, known)).collect()
    }

    /// Takes in what was found for topics that were looked up; a topic without a label has none any more.
    pub(crate) fn take_in(&mut self, places: &[LabelPlace], labels: &[TopicLabel]) {
        let found: BTreeMap<ReadingId, &TopicLabel> = labels.iter().map(|it| (it.reading, it)).collect();
        for place in places {
            let known = self.of.get_mut(&place.topic);
            let Some(known) = known.filter(|it| it.reading == place.reading) else {
                continue;
            };
            known.is_looked_up = true;
            known.label = found.get(&place.reading).map(|it| (*it).clone());
        }
    }

    /// Returns what a model calls a topic; none if it is not asked about it, or said nothing that can be used.
    pub(crate) fn said(&self, topic: TopicId) -> Option<&Usable> {
        self.of.get(&topic)?.label.as_ref()?.said.as_ref()
    }

    /// Returns the topics about which a model is to be asked, with their number of events, greatest first, ties by id.
    pub(crate) fn due(&self) -> Vec<(LabelPlace, usize)> {
        let due = self.of.iter().filter(|it| it.1.is_looked_up && it.1.is_due());
        let mut due: Vec<(LabelPlace, usize)> = due.map(|(topic, known)| (place(*topic, known), known.size)).collect();
        due.sort_by_key(|it| std::cmp::Reverse(it.1));
        due
    }
}

fn place(topic: TopicId, known: &TopicState) -> LabelPlace {
    LabelPlace {
        topic,
        reading: known.reading,
    }
}
