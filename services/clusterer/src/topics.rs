//! Event units to topics (CompassMem, section 3.3; MRAgent's topic layer).
//!
//! Topics are a fold over the units in the order in which they were observed: a unit joins the nearest topic or founds one,
//! and whenever their number has grown by half all are clustered anew by k-means, warm-started, with ids matched by overlap.
//! So topics depend on the set of units alone, and the cost for each unit stays the same as the space grows. What a language model
//! calls a topic is taken in like an act, and counts in the place of the label by rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{ReadingId, RecordId, TopicId, UnitId};
use domain::topic::{Member, Topic};
use domain::unit::{Grain, Status, Unit};
use fold::{Fold, Held, Key, Moved};

use crate::labels::prompt::LINES_MAX;
use crate::labels::{LabelPlace, LabelQuestion, Labels, TopicLabel};
use crate::{Acts, Changed};

mod fold;
mod kmeans;
mod label;
mod terms;

/// A unit joins its nearest topic above this cosine, else it founds one. Vectors are taken from the mean of the space, where
/// the built-in static vectors of one topic stand at 0.3 to 0.7 and those of different ones around 0.
const NEAR: f32 = 0.2;
/// The same before the first clustering, when there is no mean yet and all vectors of a space look alike.
const NEAR_FIRST: f32 = 0.75;

/// Topics of the event units of one space.
#[derive(Clone, Debug, Default)]
pub struct Topics {
    fold: Fold,
    keys: HashMap<UnitId, Key>,
    /// What arrived since the fold was changed last; none: the unit is to go.
    pending: BTreeMap<UnitId, Option<(Key, Held)>>,
    /// What the fold moved, and the units that went, since it was asked last what changed.
    moved: Moved,
    gone: BTreeSet<UnitId>,
    told: BTreeMap<TopicId, Topic>,
    members: HashMap<UnitId, (TopicId, f32)>,
    /// By the topic that is founded on it, each event with its first record.
    founders: HashMap<TopicId, Founder>,
    labels: Labels,
    /// Topics whose label was taken back.
    unlabelled: BTreeSet<TopicId>,
}

/// An event on which a topic may be founded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Founder {
    unit: UnitId,
    record: RecordId,
}

impl Topics {
    /// Takes in a unit as it stands now, with the vector of its summary. Only event units in use have a topic; one without a
    /// direction (no vector, zeros) has none.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        // What a model said of it may have gone with one of its records, though all that is left reads the same.
        self.labels.look_again(unit.id);
        let used = match unit.status {
            Status::Active | Status::Merged => unit.grain == Grain::Event,
            Status::Superseded | Status::Archived => false,
        };
        let vector = vector.filter(|it| used && text::dot(it, it).is_normal());
        let founded = TopicId::derive(unit.id);
        match unit.records.first().filter(|_| vector.is_some()) {
            Some(&record) => {
                let unit = unit.id;
                self.founders.insert(founded, Founder { unit, record });
            }
            None => {
                self.founders.remove(&founded);
            }
        }
        let known = self.keys.get(&unit.id);
        let Some(vector) = vector else {
            if known.is_some() || self.pending.contains_key(&unit.id) {
                self.pending.insert(unit.id, None);
            }
            return;
        };
        let key = (unit.observed_at.to_utc(), unit.id);
        let held = Held {
            vector: kmeans::centred(vector, &[]).into(),
            terms: terms::terms(unit).into(),
            place: None,
        };
        let same = |it: &Held| it.vector == held.vector && it.terms == held.terms;
        if known == Some(&key) && self.fold.line.get(&key).is_some_and(same) {
            self.pending.remove(&unit.id);
        } else {
            self.pending.insert(unit.id, Some((key, held)));
        }
    }

    /// Returns the topics whose readings are to be looked up before it is asked what changed. May take a second in a large
    /// space: not for an async thread.
    pub fn unlooked(&mut self) -> Vec<LabelPlace> {
        self.fold_pending();
        self.labels.unlooked()
    }

    /// Has the readings of all topics looked up again about which a model is to be asked: others may have made one, or brought
    /// it from elsewhere.
    pub fn look_for_open(&mut self) {
        self.labels.look_for_open();
    }

    /// Takes in what models said of topics that were looked up; one without a label has none any more.
    pub fn take_in(&mut self, places: &[LabelPlace], labels: &[TopicLabel]) {
        self.labels.take_in(places, labels);
    }

    /// Returns up to `limit` topics about which a language model is to be asked: those that were looked up, have no label or have
    /// grown since, and whose label nobody took back. As of the last time that it was asked what changed.
    pub fn questions(&self, limit: usize) -> Vec<LabelQuestion> {
        let due = self.labels.due().into_iter();
        let due = due.filter(|it| !self.unlabelled.contains(&it.0.of)).take(limit);
        due.filter_map(|it| self.question(it.0, it.1)).collect()
    }

    fn question(&self, place: LabelPlace, size: usize) -> Option<LabelQuestion> {
        let founder = self.founders.get(&place.of)?.unit;
        let cluster = self.fold.topics.iter().find(|it| it.id == place.of)?;
        let similarity = |it: &Key| self.fold.line.get(it)?.place.map(|it| it.1);
        let others = cluster.units.iter().filter(|it| it.1 != founder);
        let mut nearest: Vec<(f32, Key)> = others.filter_map(|it| Some((similarity(it)?, *it))).collect();
        nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        nearest.truncate(LINES_MAX - 1);
        nearest.sort_by_key(|it| it.1);
        Some(LabelQuestion {
            place,
            founder,
            others: nearest.into_iter().map(|it| it.1.1).collect(),
            size: u32::try_from(size).unwrap_or(u32::MAX),
        })
    }

    /// Returns the topics and members that differ from what was returned before. May take a second in a large space: not for
    /// an async thread.
    pub fn changed(&mut self, acts: &Acts) -> Changed {
        self.fold_pending();
        self.unlabelled.clone_from(acts.unlabelled());
        let mut out = Changed::default();
        self.tell_topics(&mut out);
        self.tell_members(&mut out);
        for id in std::mem::take(&mut self.gone) {
            // It may be back, or was never told.
            if !self.keys.contains_key(&id) && self.members.remove(&id).is_some() {
                out.gone.push(DerivedId {
                    kind: DerivedKind::Member,
                    id: id.uuid(),
                });
            }
        }
        out
    }

    /// Puts what arrived on the line and takes what went off it.
    fn fold_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for (id, change) in std::mem::take(&mut self.pending) {
            gone.extend(self.keys.remove(&id));
            match change {
                Some((key, held)) => {
                    self.keys.insert(id, key);
                    new.push((key, held));
                }
                None => {
                    self.gone.insert(id);
                }
            }
        }
        let Moved { units, all } = self.fold.change(&gone, new);
        self.moved.units.extend(units);
        self.moved.all |= all;
        let topics = self.fold.topics.iter();
        let places = topics.filter_map(|it| {
            // One whose id follows from another topic's has no event of its own, and is left to the rules.
            let record = self.founders.get(&it.id)?.record;
            let place = LabelPlace {
                of: it.id,
                reading: ReadingId::label(record),
            };
            Some((place, it.units.len()))
        });
        self.labels.set_topics(places);
    }

    fn tell_topics(&mut self, out: &mut Changed) {
        let mut told = BTreeMap::new();
        for cluster in &self.fold.topics {
            let (Some(first), Some(last)) = (cluster.units.first(), cluster.units.last()) else {
                continue;
            };
            let said = self.labels.said(cluster.id);
            let said = said.filter(|_| !self.unlabelled.contains(&cluster.id));
            let label = said.map_or(&cluster.name.label, |it| &it.name);
            if label.is_empty() {
                // What cannot be named is not shown.
                continue;
            }
            let topic = Topic {
                id: cluster.id,
                label: label.clone(),
                summary: said.and_then(|it| it.summary.clone()),
                keywords: cluster.name.keywords.clone(),
                units: cluster.units.len() as u64,
                first_seen: first.0,
                last_seen: last.0,
            };
            if self.told.get(&topic.id) != Some(&topic) {
                out.put.push(Derived::Topic(topic.clone()));
            }
            told.insert(topic.id, topic);
        }
        let lost = self.told.keys().filter(|it| !told.contains_key(it));
        out.gone.extend(lost.map(|it| DerivedId {
            kind: DerivedKind::Topic,
            id: it.uuid(),
        }));
        self.told = told;
    }

    fn tell_members(&mut self, out: &mut Changed) {
        let moved = std::mem::take(&mut self.moved);
        let ids = self.fold.topics.iter().map(|it| it.id).collect::<Vec<_>>();
        let mut tell = |key: &Key, held: &Held| {
            let Some((place, similarity)) = held.place else { return };
            // Later digits are noise, and would be told again after each clustering.
            let similarity = (similarity * 100.0).round() / 100.0;
            let member = (ids[place], similarity);
            if self.members.insert(key.1, member) != Some(member) {
                out.put.push(Derived::Member(Member {
                    unit: key.1,
                    topic: member.0,
                    similarity,
                }));
            }
        };
        if moved.all {
            self.fold.line.iter().for_each(|(key, held)| tell(key, held));
        } else {
            let moved = moved.units.iter();
            moved.for_each(|it| {
                self.fold.line.get(it).into_iter().for_each(|held| tell(it, held));
            });
        }
    }
}
