//! Groups event units into topics (CompassMem, section 3.3; MRAgent's topic layer).
//!
//! Topics are a fold over the units in the order in which they were observed: a unit joins the nearest topic or
//! founds one. Whenever the number of units has grown by half, all of them are clustered again by k-means,
//! warm-started, and new topics take over ids by overlap. Topics therefore depend on the set of units alone, and the
//! cost per unit stays the same as the space grows. A language model's label is an input like a user's decision and
//! replaces the label by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{ReadingId, TopicId, UnitId};
use domain::topic::{Member, Topic};
use domain::unit::{Grain, Status, Unit};
use fold::{Assignment, Fold, FoldedUnit, Key, MovedUnits};
use founders::{Founder, Founders};

use crate::judgements::labels::prompt::LINES_MAX;
use crate::judgements::labels::{LABELLED_FROM, LabelQuestion, LabelSubject, Labels, TopicLabel};
use crate::space::hidden_units::HiddenUnits;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;
use crate::{Acts, ChangedObjects};

mod fold;
mod founders;
mod kmeans;
mod label;
#[cfg(test)]
mod spilled_tests;
mod terms;

/// A unit joins its nearest topic above this cosine; otherwise it founds one. Vectors are relative to the mean of the
/// space. There, the built-in static vectors of one topic have a cosine of 0.3 to 0.7, and those of different topics
/// about 0.
const NEAR: f32 = 0.2;
/// The same limit before the first clustering. Without a mean, all vectors of a space are similar.
const NEAR_FIRST: f32 = 0.75;

/// The topics of the event units of one space.
#[derive(Clone, Debug, Default)]
pub struct Topics {
    fold: Fold,
    keys: SortedChunks<UnitId, Key>,
    /// Changes since the last fold; none for a unit to remove.
    pending: BTreeMap<UnitId, Option<(Key, FoldedUnit)>>,
    /// Units that the fold moved, and units that were removed, since the last call of [`Topics::take_changes`].
    moved: MovedUnits,
    removed: BTreeSet<UnitId>,
    reported: BTreeMap<TopicId, Topic>,
    members: SortedChunks<UnitId, (TopicId, f32)>,
    founders: Founders,
    labels: Labels,
    /// Topics whose label by a language model was rejected.
    unlabelled: BTreeSet<TopicId>,
    hidden: HiddenUnits,
}

impl Topics {
    /// Applies the current state of a unit, with the vector of its summary, of length 1. Only active and merged event
    /// units with a vector that is not zero have a topic.
    pub fn apply_unit(&mut self, unit: &Unit, vector: Option<&Arc<[f32]>>) {
        // An erased record may have removed readings about it, even if the remaining text is the same.
        self.labels.mark_for_lookup(unit.id);
        self.hidden.apply_unit(unit);
        let used = match unit.status {
            Status::Active | Status::Merged => unit.grain == Grain::Event,
            Status::Superseded | Status::Archived => false,
        };
        let vector = vector.filter(|it| used && text::dot_product(it, it).is_normal());
        let founded = TopicId::from_founding_unit(unit.id);
        if vector.is_some() && !unit.records.is_empty() {
            let founder = Founder {
                unit: unit.id,
                records: unit.records.clone().into(),
            };
            self.founders.insert(founded, founder);
        } else {
            self.founders.remove(founded);
        }
        let known = self.keys.get(&unit.id);
        let Some(vector) = vector else {
            if known.is_some() || self.pending.contains_key(&unit.id) {
                self.pending.insert(unit.id, None);
            }
            return;
        };
        let key = (unit.observed_at.to_utc(), unit.id);
        let folded = FoldedUnit {
            vector: Arc::clone(vector),
            terms: terms::extract_terms(unit, &mut self.fold.symbols),
        };
        if known == Some(&key) && self.fold.line.get(&key) == Some(&folded) {
            self.pending.remove(&unit.id);
        } else {
            self.pending.insert(unit.id, Some((key, folded)));
        }
    }

    /// Spills what was not used since the last call to a file.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.fold.line.spill_unused(file);
        self.founders.spill_unused(file);
    }

    /// Returns the topics whose readings have to be looked up before [`Topics::take_changes`] is called. It may take a
    /// second in a large space, so do not call it on an async thread.
    pub fn topics_to_look_up(&mut self) -> Vec<LabelSubject> {
        self.fold_pending();
        self.labels.topics_to_look_up()
    }

    /// Marks all topics about which the model has to be asked, so that their readings are looked up again: another
    /// process or an import may have stored one.
    pub fn mark_open_questions(&mut self) {
        self.labels.mark_open_questions();
    }

    /// Applies the labels that were found for `places`; a topic without one loses its label.
    pub fn apply_readings(&mut self, places: &[LabelSubject], labels: &[TopicLabel]) {
        self.labels.apply_readings(places, labels);
    }

    /// Returns at most `limit` questions about topics for a language model, as of the last call of
    /// [`Topics::take_changes`]. They cover topics that were looked up, have no label or have grown since, and whose
    /// label no user rejected. Hidden events are left out. A topic is not asked about if its founding event is hidden,
    /// since the reply belongs to the records of that event, or if too few events are left.
    pub fn open_questions(&self, limit: usize) -> Vec<LabelQuestion> {
        let due = self.labels.due_topics().into_iter();
        let due = due.filter(|it| !self.unlabelled.contains(&it.0.of));
        due.filter_map(|it| self.build_question(it.0, it.1))
            .take(limit)
            .collect()
    }

    fn build_question(&self, place: LabelSubject, size: usize) -> Option<LabelQuestion> {
        let founder = self.founders.get(place.of)?.unit;
        if self.is_hidden(founder) {
            return None;
        }
        let cluster = self.fold.topics.iter().find(|it| it.id == place.of)?;
        let similarity = |it: &Key| self.fold.assignment_of(it).map(|it| it.similarity);
        let others = cluster.units.iter().filter(|it| it.1 != founder);
        let mut nearest: Vec<(f32, Key)> = others.filter_map(|it| Some((similarity(it)?, *it))).collect();
        nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let visible = nearest.into_iter().map(|it| it.1).filter(|it| !self.is_hidden(it.1));
        let mut shown: Vec<Key> = visible.take(LINES_MAX - 1).collect();
        if shown.len() + 1 < LABELLED_FROM {
            return None;
        }
        shown.sort();
        Some(LabelQuestion {
            place,
            founder,
            others: shown.into_iter().map(|it| it.1).collect(),
            size: u32::try_from(size).unwrap_or(u32::MAX),
            outdated: self.labels.time_of_hidden_label(place.of),
        })
    }

    /// Returns true if a language model must not be shown an event.
    fn is_hidden(&self, event: UnitId) -> bool {
        // In most spaces no unit is hidden, and the founders need not be read.
        if self.hidden.is_empty() {
            return false;
        }
        let founder = self.founders.get(TopicId::from_founding_unit(event));
        founder.is_some_and(|it| self.hidden.hides_event(event, &it.records))
    }

    /// Returns the topics and members that changed since the last call. It may take a second in a large space, so do
    /// not call it on an async thread.
    pub fn take_changes(&mut self, acts: &Acts) -> ChangedObjects {
        self.fold_pending();
        self.unlabelled.clone_from(acts.topics_with_rejected_label());
        self.hidden.set_forgotten(acts.forgotten_unit_ids());
        self.labels.hide_labels(&self.hidden);
        let mut out = ChangedObjects::default();
        self.report_changed_topics(&mut out);
        self.report_changed_members(&mut out);
        for id in std::mem::take(&mut self.removed) {
            // The unit may have come back, or may never have been reported.
            if !self.keys.contains_key(&id) && self.members.remove(&id).is_some() {
                out.removed.push(DerivedId {
                    kind: DerivedKind::Member,
                    id: id.uuid(),
                });
            }
        }
        out
    }

    /// Adds and removes the pending units.
    fn fold_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let (mut removed, mut new) = (Vec::new(), Vec::new());
        for (id, change) in std::mem::take(&mut self.pending) {
            removed.extend(self.keys.remove(&id));
            match change {
                Some((key, folded)) => {
                    self.keys.insert(id, key);
                    new.push((key, folded));
                }
                None => {
                    self.removed.insert(id);
                }
            }
        }
        let MovedUnits { units, all } = self.fold.apply_changes(&removed, new);
        self.moved.units.extend(units);
        self.moved.all |= all;
        self.founders.set_current(self.fold.topics.iter().map(|it| it.id));
        let topics = self.fold.topics.iter();
        let places = topics.filter_map(|it| {
            // A topic whose id derives from another topic's id has no founding event, and is left to the rules.
            let record = *self.founders.get(it.id)?.records.first()?;
            let place = LabelSubject {
                of: it.id,
                reading: ReadingId::of_topic_label(record),
            };
            Some((place, it.units.len()))
        });
        self.labels.set_topics(places);
    }

    fn report_changed_topics(&mut self, out: &mut ChangedObjects) {
        let mut shown_topics = BTreeMap::new();
        for cluster in &self.fold.topics {
            let (Some(first), Some(last)) = (cluster.units.first(), cluster.units.last()) else {
                continue;
            };
            let model_label = self.labels.find_label(cluster.id);
            let model_label = model_label.filter(|_| !self.unlabelled.contains(&cluster.id));
            let label = model_label.map_or(&cluster.name.label, |it| &it.name);
            if label.is_empty() {
                // A topic without a label is not shown.
                continue;
            }
            let topic = Topic {
                id: cluster.id,
                label: label.clone(),
                summary: model_label.and_then(|it| it.summary.clone()),
                keywords: cluster.name.keywords.clone(),
                units: cluster.units.len() as u64,
                first_seen: first.0,
                last_seen: last.0,
            };
            if self.reported.get(&topic.id) != Some(&topic) {
                out.put.push(Derived::Topic(topic.clone()));
            }
            shown_topics.insert(topic.id, topic);
        }
        let lost = self.reported.keys().filter(|it| !shown_topics.contains_key(it));
        out.removed.extend(lost.map(|it| DerivedId {
            kind: DerivedKind::Topic,
            id: it.uuid(),
        }));
        self.reported = shown_topics;
    }

    fn report_changed_members(&mut self, out: &mut ChangedObjects) {
        let moved = std::mem::take(&mut self.moved);
        let ids = self.fold.topics.iter().map(|it| it.id).collect::<Vec<_>>();
        let mut tell = |key: &Key, assignment: Option<Assignment>| {
            let Some(assignment) = assignment else {
                return;
            };
            // Later digits are noise and would cause a change after each clustering.
            let similarity = (assignment.similarity * 100.0).round() / 100.0;
            let member = (ids[assignment.topic()], similarity);
            if self.members.insert(key.1, member) != Some(member) {
                out.put.push(Derived::Member(Member {
                    unit: key.1,
                    topic: member.0,
                    similarity,
                }));
            }
        };
        if moved.all {
            let assignments = self.fold.assignments.iter();
            assignments.for_each(|(key, assignment)| tell(key, *assignment));
        } else {
            let moved = moved.units.iter();
            moved.for_each(|it| tell(it, self.fold.assignment_of(it)));
        }
    }
}
