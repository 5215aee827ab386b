//! Merges of near-duplicate events: event units that describe the same event (CompassMem, section 3.2).
//!
//! Each event unit is compared with the most similar earlier ones, and is merged into the first that is judged the
//! same event. Two accounts of one event share its rare words. Candidates are therefore looked up by the event's
//! [`KEYS_MAX`] rarest cues and names, among the [`RECENT_MAX`] latest earlier events of each. The work for one event
//! does not grow with the space, and the result depends on the set of units alone. The earliest event is kept, and
//! represents the records of all.
//!
//! A pair that the rules cannot decide is a candidate for a language model. The model's judgement is an input like a
//! user's decision and replaces that of the rules, so the same units and readings give the same merges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{MergeId, ReadingId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::relation::RelationKind;
use domain::unit::{Grain, Status, Unit};
use serde::{Deserialize, Serialize};

use crate::judgements::coreference::prompt::joint_digest;
use crate::judgements::coreference::{Pair, PairJudgement, Question};
use crate::space::hidden_units::HiddenUnits;
use crate::space::id_map::IdMap;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;
use crate::{Acts, ChangedObjects};

mod candidates;
mod event_features;
mod judge;
mod scene_map;
#[cfg(test)]
mod spilled_tests;
mod standings;
mod vector_code;

use candidates::Candidates;
use event_features::EventFeatures;
use judge::{Judgement, judge_by_rules};
use scene_map::SceneMap;
use standings::Standings;

/// Number of cues by which an event is looked up.
pub(crate) const KEYS_MAX: usize = 8;
/// Maximum number of earlier events considered for one cue.
const RECENT_MAX: usize = 16;
/// Minimum cosine of events that can be related.
const RELATED_MIN: f32 = 0.8;
/// Maximum number of earlier events that are judged; the most similar ones are taken.
const JUDGED_MAX: usize = 3;
/// Maximum length of a chain of merges.
const STEPS_MAX: usize = 64;

/// Position of an event in time; ties break by id.
type EventPosition = (DateTime<Utc>, UnitId);

/// An event under one of its keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct KeyedEvent {
    key: Box<str>,
    position: EventPosition,
}

impl KeyedEvent {
    fn new(key: &str, position: EventPosition) -> KeyedEvent {
        KeyedEvent {
            key: key.into(),
            position,
        }
    }
}

/// The events of one space, and the merges between them.
#[derive(Clone, Debug, Default)]
pub struct Events {
    scenes: SceneMap,
    /// The events of each key, in order of time.
    keys: SortedChunks<KeyedEvent, ()>,
    dirty: BTreeSet<UnitId>,
    /// Events judged since the last call of [`Events::take_changes`].
    judged_anew: BTreeSet<UnitId>,
    /// The judgements of each event against earlier ones: those that are the same event, most similar first, or else
    /// the first related one.
    judged: IdMap<UnitId, Vec<(UnitId, Judgement)>>,
    /// The inverse of `judged`.
    followers: IdMap<UnitId, BTreeSet<UnitId>>,
    /// Merges as last reported, by the event that is merged into another one.
    reported_merges: IdMap<UnitId, Merge>,
    standings: Standings,
    acts: Acts,
    candidates: Candidates,
    hidden: HiddenUnits,
}

/// The judgements of one event against earlier ones.
#[derive(Default)]
struct EventJudgements {
    judged: Vec<(UnitId, Judgement)>,
    /// Pairs that the rules cannot decide, with the digest of the text that a model is shown of both.
    unsure: Vec<(Pair, String)>,
}

impl Events {
    /// Applies the current state of a unit; `vector` is the vector of its summary, of length 1. An event without a
    /// vector is not compared.
    pub fn apply_unit(&mut self, unit: &Unit, vector: Option<&Arc<[f32]>>) {
        self.hidden.apply_unit(unit);
        // A merged event is kept here, because its merge depends on it.
        let stands = unit.grain == Grain::Event && matches!(unit.status, Status::Active | Status::Merged);
        let now = vector.filter(|_| stands).map(|it| EventFeatures::new(unit, it));
        if now.is_some() {
            self.candidates.mark_for_lookup(unit.id);
        }
        if self.scenes.get(unit.id) == now.as_ref() {
            return;
        }
        if let Some(before) = self.scenes.remove(unit.id) {
            self.index_event(unit.id, &before, false);
        }
        if let Some(now) = now {
            self.index_event(unit.id, &now, true);
            self.scenes.insert(unit.id, now);
        }
        self.dirty.insert(unit.id);
    }

    /// Spills what was not used since the last call to a file.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.scenes.spill_unused(file);
        self.keys.spill_unused(file);
        self.judged.spill_unused(file);
        self.followers.spill_unused(file);
        self.reported_merges.spill_unused(file);
    }

    /// Returns the number of event units.
    pub fn count_event_units(&self) -> usize {
        self.scenes.len()
    }

    /// Returns the undecided pairs whose readings were not looked up since one of their events was last applied.
    pub fn pairs_to_look_up(&mut self) -> Vec<Pair> {
        self.judge_dirty();
        self.candidates.pairs_to_look_up()
    }

    /// Marks all undecided pairs without a current judgement, so that their readings are looked up again: another
    /// process or an import may have stored one.
    pub fn mark_open_questions(&mut self) {
        self.candidates.mark_open_questions();
    }

    /// Applies the judgements that were found for `pairs`; a pair without one loses its judgement.
    pub fn apply_readings(&mut self, pairs: &[Pair], verdicts: &[PairJudgement]) {
        let changed = self.candidates.apply_readings(pairs, verdicts);
        self.dirty.extend(changed);
    }

    /// Returns at most `limit` questions about events for a language model. They cover pairs that were looked up,
    /// have no judgement, were not separated by a user, and have no hidden event, as of the last call of
    /// [`Events::take_changes`].
    pub fn open_questions(&self, limit: usize) -> Vec<Question> {
        // In most spaces no unit is hidden, and the events need not be read.
        let is_hidden = |id: UnitId| {
            let hides = |it: &EventFeatures| self.hidden.hides_event(id, &it.records);
            !self.hidden.is_empty() && self.scenes.get(id).is_some_and(hides)
        };
        let is_excluded = |it: &Pair| {
            let merge = MergeId::from_pair(it.earlier.uuid(), it.later.uuid());
            self.acts.is_parted(merge) || is_hidden(it.earlier) || is_hidden(it.later)
        };
        self.candidates.open_questions(limit, is_excluded)
    }

    /// Returns the merges and standings that changed since the last call, by id.
    pub fn take_changes(&mut self, acts: &Acts) -> ChangedObjects {
        let mut again = self.update_acts(acts);
        self.judge_dirty();
        again.append(&mut self.judged_anew);
        // An event that follows one with another root has that root too.
        let mut waiting: Vec<UnitId> = again.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            let later = self.followers.get(id).into_iter().flatten();
            waiting.extend(later.filter(|it| again.insert(**it)));
        }
        let mut put = BTreeMap::new();
        let mut removed = BTreeSet::new();
        for id in again {
            let now = self.build_merge(id);
            let before = self.reported_merges.remove(id);
            if let Some(before) = &before {
                removed.insert(before.id);
                self.standings.set_merge(id, before, false);
            }
            if let Some(now) = now {
                if before.as_ref() != Some(&now) {
                    put.insert(now.id, now.clone());
                }
                removed.remove(&now.id);
                self.standings.set_merge(id, &now, true);
                self.reported_merges.insert(id, now);
            }
        }
        let id = |it: MergeId| DerivedId {
            kind: DerivedKind::Merge,
            id: it.uuid(),
        };
        let mut out = ChangedObjects {
            put: put.into_values().map(Derived::Merge).collect(),
            removed: removed.into_iter().map(id).collect(),
        };
        self.standings.add_changed_standings(&mut out);
        out
    }

    /// Adds an event to the index of its keys or removes it, and marks the later events that may see it.
    fn index_event(&mut self, id: UnitId, scene: &EventFeatures, add: bool) {
        let place = (scene.at, id);
        for key in scene.keys.iter() {
            let keyed = KeyedEvent::new(key, place);
            // One event more than the limit: the last event that saw this one no longer sees it, or sees it again.
            let later = self.keys.entries_after(Some(&keyed)).map(|it| it.0);
            let later = later.take_while(|it| *it.key == *key).take(RECENT_MAX);
            self.dirty.extend(later.map(|it| it.position.1));
            if add {
                self.keys.insert(keyed, ());
            } else {
                self.keys.remove(&keyed);
            }
        }
    }

    /// Returns the events whose merge may change because a user separated or rejoined two events. These are all judged
    /// events, since the reported merges do not show the chains of judgements that led to them.
    fn update_acts(&mut self, acts: &Acts) -> BTreeSet<UnitId> {
        let turned = acts.undone_merges() != self.acts.undone_merges();
        self.acts = acts.clone();
        self.hidden.set_forgotten(acts.forgotten_unit_ids());
        if turned {
            self.judged.ids().collect()
        } else {
            BTreeSet::new()
        }
    }

    /// Judges all events whose judgement may change because of units applied since.
    fn judge_dirty(&mut self) {
        for id in std::mem::take(&mut self.dirty) {
            self.judge_event(id);
            self.judged_anew.insert(id);
        }
    }

    /// Finds the earlier events that are the same as this one or related to it.
    fn judge_event(&mut self, id: UnitId) {
        for (before, _) in self.judged.remove(id).unwrap_or_default() {
            if let Some(followers) = self.followers.get_mut(before) {
                followers.remove(&id);
                if followers.is_empty() {
                    self.followers.remove(before);
                }
            }
        }
        let EventJudgements { judged, unsure } = self
            .scenes
            .get(id)
            .map(|it| self.find_judgements(id, it))
            .unwrap_or_default();
        self.candidates.replace_pairs(id, unsure);
        if judged.is_empty() {
            return;
        }
        for (before, _) in &judged {
            self.followers.get_or_default(*before).insert(id);
        }
        self.judged.insert(id, judged);
    }

    fn find_judgements(&self, id: UnitId, scene: &EventFeatures) -> EventJudgements {
        let place = (scene.at, id);
        let latest_of_key = |key: &str| -> Vec<EventPosition> {
            let before = self.keys.entries_before(&KeyedEvent::new(key, place)).rev();
            let before = before.map(|it| it.0).take_while(|it| *it.key == *key);
            before.take(RECENT_MAX).map(|it| it.position).collect()
        };
        let earlier: BTreeSet<EventPosition> = scene.keys.iter().flat_map(latest_of_key).collect();
        let similar = self.scenes.find_similar(scene, &earlier, RELATED_MIN);
        let (mut same, mut related, mut unsure) = (Vec::new(), None, Vec::new());
        for other in similar.into_iter().take(JUDGED_MAX) {
            let mut judgement = judge_by_rules(other.features, scene, other.cosine);
            let pair = build_pair(other.position.1, other.features, id, scene).filter(|_| judgement.unsure);
            if let Some(pair) = pair {
                let digest = joint_digest(&other.features.digest, &scene.digest);
                if let Some(model_judgement) = self.candidates.find_judgement(&pair, &digest) {
                    judgement = judgement.by_model(model_judgement);
                }
                unsure.push((pair, digest));
            }
            if judgement.same {
                same.push((other.position.1, judgement));
            } else if related.is_none() && judgement.is_related() {
                related = Some((other.position.1, judgement));
            }
        }
        let judged = if same.is_empty() { Vec::from_iter(related) } else { same };
        EventJudgements { judged, unsure }
    }

    /// Returns the merge of an event in the form in which it is reported, or none if it is not merged and not
    /// related.
    fn build_merge(&self, id: UnitId) -> Option<Merge> {
        let scene = self.scenes.get(id)?;
        let (kept, judgement) = self.taken_for(id)?;
        let first = self.scenes.get(kept)?;
        let merge = MergeId::from_pair(kept.uuid(), id.uuid());
        let kind = if judgement.same {
            Some(RelationKind::SameAs)
        } else {
            judgement.kind
        };
        Some(Merge {
            id: merge,
            of: MergeOf::Units,
            kept: kept.uuid(),
            merged: id.uuid(),
            names: [first.tag.to_string(), scene.tag.to_string()],
            similarity: judgement.similarity,
            same_event: judgement.same,
            has_overlap: judgement.overlap,
            relation_type: kind,
            reason: judgement.reason.clone(),
            records: scene.records.to_vec(),
            since: Some(scene.at.max(first.at)),
            undone: self.acts.is_parted(merge),
            undone_at: self.acts.parted_at(merge),
        })
    }

    /// Returns the earlier event that an event is merged into or related to.
    fn taken_for(&self, id: UnitId) -> Option<(UnitId, &Judgement)> {
        let (other, judgement) = self.judged.get(id)?.first()?;
        if !judgement.same {
            return Some((*other, judgement));
        }
        Some(
            self.find_user_separation(id)
                .unwrap_or_else(|| (self.find_root(*other), judgement)),
        )
    }

    /// Returns the event from which a user separated this one. It then stays separate, whatever that other event is
    /// merged into now: an older account that arrives late does not rejoin them.
    fn find_user_separation(&self, id: UnitId) -> Option<(UnitId, &Judgement)> {
        if self.acts.undone_merges().is_empty() {
            return None;
        }
        let is_parted = |it: &UnitId| self.acts.is_parted(MergeId::from_pair(it.uuid(), id.uuid()));
        let same = self.judged.get(id)?.iter().filter(|it| it.1.same);
        let mut parted =
            same.filter_map(|(other, judgement)| Some((self.merge_chain(*other).find(is_parted)?, judgement)));
        parted.next()
    }

    /// Returns the chain of events that this one is merged into, itself first, without regard to separations by
    /// users.
    fn merge_chain(&self, id: UnitId) -> impl Iterator<Item = UnitId> {
        let before = move |it: &UnitId| {
            let (other, judgement) = self.judged.get(*it)?.first()?;
            judgement.same.then_some(*other)
        };
        std::iter::successors(Some(id), before).take(STEPS_MAX)
    }

    /// Returns the last event of the chain before the first separation by a user.
    fn find_root(&self, id: UnitId) -> UnitId {
        let mut root = id;
        for event in self.merge_chain(id) {
            root = event;
            if self.find_user_separation(event).is_some() {
                break;
            }
        }
        root
    }
}

/// Returns the pair of two events, or none if one of them has no record.
fn build_pair(earlier: UnitId, before: &EventFeatures, later: UnitId, scene: &EventFeatures) -> Option<Pair> {
    Some(Pair {
        later,
        earlier,
        reading: ReadingId::of_events(*before.records.first()?, *scene.records.first()?),
    })
}
