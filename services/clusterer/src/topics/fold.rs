//! The fold: units in order, topics at each length, and a new clustering whenever the number of units has grown by
//! half.
//!
//! The result depends on the units alone. Between two clusterings the centres are fixed, so a late unit changes
//! nothing for others unless it founds a topic. A unit that belongs before the last clustering makes the fold return
//! to an earlier checkpoint.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::{TopicId, UnitId};
use serde::{Deserialize, Serialize};
use text::dot_product;

use super::kmeans::{direction_from_mean, distance_from_mean, find_nearest_centre};
use super::label::{Name, Spread, name_topic};
use super::terms::Term;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::symbols::Symbols;

mod reclustering;

/// Number of units in the first clustering.
const FIRST: usize = 8;
/// Maximum number of topics at any time.
const TOPICS_MAX: usize = 64;
/// A unit nearer to the mean than this founds no topic, because its direction from the mean is noise.
const FAR: f32 = 0.4;
/// Maximum number of units that are used to name a topic founded since the last clustering.
const NAMING: usize = 32;

/// Position of a unit: the time at which it was observed, then its id.
pub(super) type Key = (DateTime<Utc>, UnitId);

/// A unit in the fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldedUnit {
    /// Vector of the unit, of length 1; shared with the events.
    pub(super) vector: Arc<[f32]>,
    pub(super) terms: Box<[Term]>,
}

/// The topic that a unit was assigned to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Assignment {
    /// Index of the topic, less than [`TOPICS_MAX`].
    topic: u8,
    /// Cosine of the unit to the topic's centre.
    pub(super) similarity: f32,
}

impl Assignment {
    fn new(topic: usize, similarity: f32) -> Assignment {
        Assignment {
            topic: u8::try_from(topic).unwrap_or(u8::MAX),
            similarity,
        }
    }

    /// Returns the index of the topic in [`Fold::topics`].
    pub(super) fn topic(self) -> usize {
        usize::from(self.topic)
    }
}

/// The current state of a topic.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cluster {
    pub(super) id: TopicId,
    /// The unit that founded the topic, if that was after the last clustering.
    founder: Option<Key>,
    centre: Vec<f32>,
    pub(super) units: BTreeSet<Key>,
    pub(super) name: Name,
    /// True if the units that name the topic changed since it was named.
    stale: bool,
}

impl Cluster {
    fn insert_unit(&mut self, key: Key) {
        self.units.insert(key);
        self.stale |= self.is_named_by(&key);
    }

    fn remove_unit(&mut self, key: &Key) {
        self.stale |= self.is_named_by(key);
        self.units.remove(key);
    }

    /// Returns true if a unit of the topic is among the first [`NAMING`] ones.
    fn is_named_by(&self, key: &Key) -> bool {
        self.units.iter().nth(NAMING).is_none_or(|it| key < it)
    }
}

/// The state after a clustering, from which the fold can continue.
#[derive(Clone, Debug, PartialEq)]
struct Checkpoint {
    size: usize,
    last: Key,
    mean: Vec<f32>,
    topics: Vec<(TopicId, Vec<f32>, Name)>,
    /// The topic's index for each unit, in order.
    places: Vec<u8>,
}

/// All units and their topics.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    pub(super) line: SortedChunks<Key, FoldedUnit>,
    /// The assignments of the same units. They are never spilled, so that all of them can be read and changed without
    /// the units.
    pub(super) assignments: SortedChunks<Key, Option<Assignment>>,
    pub(super) topics: Vec<Cluster>,
    /// The texts of the terms.
    pub(super) symbols: Symbols,
    checkpoints: Vec<Checkpoint>,
    spread: Spread,
}

/// The units that a change moved.
#[derive(Clone, Debug, Default)]
pub(super) struct MovedUnits {
    /// Units whose topic or similarity may have changed.
    pub(super) units: BTreeSet<Key>,
    /// True if the topic or similarity of any unit may have changed.
    pub(super) all: bool,
}

impl Fold {
    /// Removes the units of `removed` and adds the `new` ones.
    pub(super) fn apply_changes(&mut self, removed: &[Key], new: Vec<(Key, FoldedUnit)>) -> MovedUnits {
        let mut moved = MovedUnits::default();
        let border = self.checkpoints.last().map(|it| it.last);
        let edited = removed.iter().copied().chain(new.iter().map(|it| it.0));
        let cut = edited.filter(|it| border.is_some_and(|border| *it <= border)).min();
        // The first founder that was removed. Units after it may belong to other topics now.
        let mut unfounded: Option<Key> = None;
        for key in removed {
            self.line.remove(key);
            let Some(assignment) = self.assignments.remove(key).flatten() else {
                continue;
            };
            let topic = &mut self.topics[assignment.topic()];
            topic.remove_unit(key);
            if topic.founder == Some(*key) {
                unfounded = unfounded.into_iter().chain([*key]).min();
            }
        }
        let fresh: BTreeSet<Key> = new.iter().map(|it| it.0).collect();
        for (key, folded) in new {
            self.line.insert(key, folded);
            self.assignments.insert(key, None);
        }
        let waiting = match cut {
            Some(cut) => {
                moved.all = true;
                self.restore_checkpoint_before(cut)
            }
            None => {
                let mut waiting = fresh;
                if let Some(from) = unfounded {
                    waiting.extend(self.unassign_units_from(from));
                }
                waiting
            }
        };
        self.assign_and_cluster(waiting, &mut moved);
        moved
    }

    /// Returns the topic that a unit is assigned to, or none if the unit is not assigned or not in the fold.
    pub(super) fn assignment_of(&self, key: &Key) -> Option<Assignment> {
        self.assignments.get(key).copied().flatten()
    }

    /// Restores the last checkpoint before `cut`, or the empty state if there is none, and drops later ones. Returns the
    /// units to assign again.
    fn restore_checkpoint_before(&mut self, cut: Key) -> BTreeSet<Key> {
        self.checkpoints.retain(|it| it.last < cut);
        for (_, assignment) in self.assignments.iter_mut() {
            *assignment = None;
        }
        self.topics.clear();
        self.spread = Spread::default();
        let Some(checkpoint) = self.checkpoints.last() else {
            return self.assignments.iter().map(|it| *it.0).collect();
        };
        self.topics = checkpoint
            .topics
            .iter()
            .map(|(id, centre, name)| empty_cluster(*id, centre.clone(), name.clone()))
            .collect();
        for ((key, assignment), &place) in self.assignments.iter_mut().zip(&checkpoint.places) {
            let Some(folded) = self.line.get(key) else { continue };
            let topic = &mut self.topics[usize::from(place)];
            let similarity = dot_product(&direction_from_mean(&folded.vector, &checkpoint.mean), &topic.centre);
            *assignment = Some(Assignment {
                topic: place,
                similarity,
            });
            topic.units.insert(*key);
        }
        self.spread = Spread::from_units(self.line.iter().take(checkpoint.size).map(|it| &*it.1.terms));
        let later = self.assignments.iter().skip(checkpoint.size);
        later.map(|it| *it.0).collect()
    }

    /// Removes the units from `from` on from their topics, and the topics that they founded. Returns these units.
    fn unassign_units_from(&mut self, from: Key) -> BTreeSet<Key> {
        let first = self
            .topics
            .iter()
            .position(|it| it.founder.is_some_and(|it| it >= from));
        self.topics.truncate(first.unwrap_or(self.topics.len()));
        let mut out = BTreeSet::new();
        for (key, assignment) in self.assignments.entries_mut_from(&from) {
            if let Some(former) = assignment.take()
                && let Some(topic) = self.topics.get_mut(former.topic())
            {
                topic.remove_unit(key);
            }
            out.insert(*key);
        }
        out
    }

    fn assign_and_cluster(&mut self, mut waiting: BTreeSet<Key>, moved: &mut MovedUnits) {
        loop {
            let size = self.checkpoints.last().map_or(FIRST, |it| (it.size * 3).div_ceil(2));
            if self.assignments.len() < size {
                self.assign_units(&mut waiting, moved);
                self.name_founded();
                return;
            }
            let Some(border) = self.assignments.nth_key(size - 1).copied() else {
                return;
            };
            // Units after the border take no part in this clustering.
            let behind: Option<Key> = self.assignments.nth_key(size).copied();
            let mut later = behind.map(|it| self.unassign_units_from(it)).unwrap_or_default();
            waiting.retain(|it| *it <= border);
            self.assign_units(&mut waiting, moved);
            self.cluster_anew(size, border);
            moved.all = true;
            waiting.append(&mut later);
        }
    }

    /// Assigns units in order. When a unit founds a topic, later units are assigned again.
    fn assign_units(&mut self, waiting: &mut BTreeSet<Key>, moved: &mut MovedUnits) {
        while let Some(key) = waiting.pop_first() {
            let Some(folded) = self.line.get(&key) else { continue };
            let first = self.checkpoints.is_empty();
            let mean = self.checkpoints.last().map_or(&[][..], |it| &it.mean);
            let direction = direction_from_mean(&folded.vector, mean);
            // Topics founded later do not exist for this unit.
            let known = self.topics.iter().take_while(|it| it.founder.is_none_or(|it| it < key));
            let count = known.clone().count();
            let best = find_nearest_centre(&direction, known.map(|it| it.centre.as_slice()));
            let near = if first { super::NEAR_FIRST } else { super::NEAR };
            let (topic, similarity) = match best {
                Some(best)
                    if best.1 > near || count >= TOPICS_MAX || distance_from_mean(&folded.vector, mean) < FAR =>
                {
                    best
                }
                Some(_) | None => {
                    waiting.append(&mut self.loosened_behind(key));
                    let mut topic = empty_cluster(self.free_id(key), direction, Name::default());
                    topic.founder = Some(key);
                    self.topics.push(topic);
                    (self.topics.len() - 1, 1.0)
                }
            };
            self.topics[topic].insert_unit(key);
            if let Some(assignment) = self.assignments.get_mut(&key) {
                *assignment = Some(Assignment::new(topic, similarity));
            }
            moved.units.insert(key);
        }
    }

    /// Does the same as [`Fold::unassign_units_from`] for the assigned units after `key`.
    fn loosened_behind(&mut self, key: Key) -> BTreeSet<Key> {
        let mut behind = self.assignments.entries_after(Some(&key));
        let assigned = behind.find(|it| it.1.is_some()).map(|it| *it.0);
        assigned.map(|it| self.unassign_units_from(it)).unwrap_or_default()
    }

    /// Returns the id that derives from a unit, or the next one that no topic has.
    fn free_id(&self, key: Key) -> TopicId {
        first_free_id(key, &self.topics.iter().map(|it| it.id).collect())
    }

    fn name_founded(&mut self) {
        for topic in self.topics.iter_mut().filter(|it| it.stale && it.founder.is_some()) {
            let units = topic.units.iter().take(NAMING).filter_map(|it| self.line.get(it));
            topic.name = name_topic(units.map(|it| &*it.terms), &self.spread, &self.symbols);
            topic.stale = false;
        }
    }
}

/// Returns the id that derives from a unit; if that is taken, the id that derives from it, and so on.
fn first_free_id(key: Key, taken: &BTreeSet<TopicId>) -> TopicId {
    let mut id = TopicId::from_founding_unit(key.1);
    while taken.contains(&id) {
        id = TopicId::from_founding_unit(UnitId::from_uuid(id.uuid()));
    }
    id
}

fn empty_cluster(id: TopicId, centre: Vec<f32>, name: Name) -> Cluster {
    Cluster {
        id,
        founder: None,
        centre,
        units: BTreeSet::new(),
        name,
        stale: true,
    }
}
