//! Event units to topics (CompassMem, section 3.3; MRAgent's topic layer).
//!
//! Topics are a fold over the units in the order in which they were observed: a unit joins the nearest topic or founds one,
//! and whenever their number has grown by half all are clustered anew by k-means, warm-started, with ids matched by overlap.
//! So topics depend on the set of units alone, and the cost for each unit stays the same as the space grows.

use std::collections::{BTreeMap, HashMap};

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{TopicId, UnitId};
use domain::topic::{Member, Topic};
use domain::unit::{Grain, Status, Unit};
use fold::{Fold, Held, Key, Moved};

use crate::Changed;

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
    /// What arrived since it was asked last; none: the unit is to go.
    pending: BTreeMap<UnitId, Option<(Key, Held)>>,
    told: BTreeMap<TopicId, Topic>,
    members: HashMap<UnitId, (TopicId, f32)>,
}

impl Topics {
    /// Takes in a unit as it stands now, with the vector of its summary. Only event units in use have a topic; one without a
    /// direction (no vector, zeros) has none.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        let used = match unit.status {
            Status::Active | Status::Merged => unit.grain == Grain::Event,
            Status::Superseded | Status::Archived => false,
        };
        let vector = vector.filter(|it| used && text::dot(it, it).is_normal());
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

    /// Returns the topics and members that differ from what was returned before. May take a second in a large space: not for
    /// an async thread.
    pub fn changed(&mut self) -> Changed {
        let mut out = Changed::default();
        if self.pending.is_empty() {
            return out;
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
                    if self.members.remove(&id).is_some() {
                        out.gone.push(DerivedId {
                            kind: DerivedKind::Member,
                            id: id.uuid(),
                        });
                    }
                }
            }
        }
        let moved = self.fold.change(&gone, new);
        self.tell_topics(&mut out);
        self.tell_members(&moved, &mut out);
        out
    }

    fn tell_topics(&mut self, out: &mut Changed) {
        let mut told = BTreeMap::new();
        // What cannot be named is not shown.
        for cluster in self.fold.topics.iter().filter(|it| !it.name.label.is_empty()) {
            let (Some(first), Some(last)) = (cluster.units.first(), cluster.units.last()) else {
                continue;
            };
            let topic = Topic {
                id: cluster.id,
                label: cluster.name.label.clone(),
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

    fn tell_members(&mut self, moved: &Moved, out: &mut Changed) {
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
