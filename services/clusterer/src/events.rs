//! Same-event merges (CompassMem, section 3.2).
//!
//! Each event unit is compared with the most similar earlier ones, and the first that is judged the same event takes it in.
//! Two tellings of one event share its rare words, so an event is looked for under its [`KEYS_MAX`] rarest cues and names,
//! among the [`RECENT_MAX`] latest earlier events of each: the work for one event does not grow with the space, and what is
//! found depends on the set of units alone. The kept one is the earliest; it then stands for the records of both.
//!
//! Where the rules are unsure of a pair, it is a candidate for a language model. What a model said of it is taken in like an act
//! and counts in the place of what the rules say, so that the same units and readings give the same merges.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{MergeId, ReadingId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::relation::RelationKind;
use domain::unit::{Grain, Status, Unit};

use crate::coreference::prompt::joint_digest;
use crate::coreference::{Pair, Question, Verdict};
use crate::{Acts, Changed};

mod candidates;
mod judge;
mod scene;
mod standings;

use candidates::Candidates;
use judge::{Judgement, judge};
use scene::Scene;
use standings::Standings;

/// Cues under which an event is looked for.
pub(crate) const KEYS_MAX: usize = 8;
/// Earlier events that are looked at under one cue.
const RECENT_MAX: usize = 16;
/// Less similar events have nothing to do with each other.
const RELATED_MIN: f32 = 0.8;
/// Earlier events that are judged, the most similar ones.
const JUDGED_MAX: usize = 3;
/// Longest chain of events each taken for the one before.
const STEPS_MAX: usize = 64;

/// Place of an event in time; ties break by id.
type Place = (DateTime<Utc>, UnitId);

/// The events of one space and which of them are one.
#[derive(Clone, Debug, Default)]
pub struct Events {
    scenes: HashMap<UnitId, Scene>,
    keys: BTreeMap<String, BTreeSet<Place>>,
    dirty: BTreeSet<UnitId>,
    /// Judged since it was asked last what changed.
    judged_anew: BTreeSet<UnitId>,
    /// The earlier events that an event was judged against, and how: those that it is, the most similar one first, else the
    /// one that it has to do with.
    judged: HashMap<UnitId, Vec<(UnitId, Judgement)>>,
    /// The other way round.
    followers: HashMap<UnitId, BTreeSet<UnitId>>,
    /// Merges as they were told last, by the event that goes into another one.
    told: BTreeMap<UnitId, Merge>,
    standings: Standings,
    acts: Acts,
    candidates: Candidates,
}

/// What the earlier events say of one.
#[derive(Default)]
struct Found {
    judged: Vec<(UnitId, Judgement)>,
    /// Pairs of which the rules are unsure, with the digest of what a model is shown of both.
    unsure: Vec<(Pair, String)>,
}

impl Events {
    /// Takes a unit in as it stands now; `vector` is that of its summary, of length 1. Without one it is compared with none.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        // A merged event stays: what it went into depends on it.
        let stands = unit.grain == Grain::Event && matches!(unit.status, Status::Active | Status::Merged);
        let now = vector.filter(|_| stands).map(|it| Scene::new(unit, it));
        if now.is_some() {
            self.candidates.look_again(unit.id);
        }
        if self.scenes.get(&unit.id) == now.as_ref() {
            return;
        }
        if let Some(before) = self.scenes.remove(&unit.id) {
            self.stir(unit.id, &before, false);
        }
        if let Some(now) = now {
            self.stir(unit.id, &now, true);
            self.scenes.insert(unit.id, now);
        }
        self.dirty.insert(unit.id);
    }

    /// Returns the number of event units.
    pub fn units(&self) -> usize {
        self.scenes.len()
    }

    /// Returns the pairs of which the rules are unsure and whose readings were not looked up since one of their events was put.
    pub fn unlooked(&mut self) -> Vec<Pair> {
        self.judge_dirty();
        self.candidates.unlooked()
    }

    /// Has the readings of all pairs looked up again that have none: others may have made one, or brought it from elsewhere.
    pub fn look_for_open(&mut self) {
        self.candidates.look_for_open();
    }

    /// Takes in what models said of pairs that were looked up; a pair without a verdict has none any more.
    pub fn take_in(&mut self, pairs: &[Pair], verdicts: &[Verdict]) {
        let changed = self.candidates.take_in(pairs, verdicts);
        self.dirty.extend(changed);
    }

    /// Returns up to `limit` events about which a language model is to be asked: pairs that were looked up, have no verdict, and
    /// were not parted by anybody.
    pub fn questions(&self, limit: usize) -> Vec<Question> {
        let is_settled = |it: &Pair| self.acts.is_parted(MergeId::derive(it.earlier.uuid(), it.later.uuid()));
        self.candidates.questions(limit, is_settled)
    }

    /// Returns the merges and standings that changed since it was asked last, by id.
    pub fn changed(&mut self, acts: &Acts) -> Changed {
        let mut again = self.noted(acts);
        self.judge_dirty();
        again.append(&mut self.judged_anew);
        // Whoever follows an event that got another root has that root, too.
        let mut waiting: Vec<UnitId> = again.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            let later = self.followers.get(&id).into_iter().flatten();
            waiting.extend(later.filter(|it| again.insert(**it)));
        }
        let mut put = BTreeMap::new();
        let mut gone = BTreeSet::new();
        for id in again {
            let now = self.merge(id);
            let before = self.told.remove(&id);
            if let Some(before) = &before {
                gone.insert(before.id);
                self.standings.set(id, before, false);
            }
            if let Some(now) = now {
                if before.as_ref() != Some(&now) {
                    put.insert(now.id, now.clone());
                }
                gone.remove(&now.id);
                self.standings.set(id, &now, true);
                self.told.insert(id, now);
            }
        }
        let id = |it: MergeId| DerivedId {
            kind: DerivedKind::Merge,
            id: it.uuid(),
        };
        let mut out = Changed {
            put: put.into_values().map(Derived::Merge).collect(),
            gone: gone.into_iter().map(id).collect(),
        };
        self.standings.changed(&mut out);
        out
    }

    /// Puts an event under its keys or takes it away, and marks the later ones that look at it.
    fn stir(&mut self, id: UnitId, scene: &Scene, add: bool) {
        let place = (scene.at, id);
        for key in &scene.keys {
            let events = self.keys.entry(key.clone()).or_default();
            if add {
                events.insert(place);
            } else {
                events.remove(&place);
            }
            // One more than see it: who saw the last one before sees it no more, or again.
            let later = events.range((std::ops::Bound::Excluded(place), std::ops::Bound::Unbounded));
            self.dirty.extend(later.take(RECENT_MAX).map(|it| it.1));
            if events.is_empty() {
                self.keys.remove(key);
            }
        }
    }

    /// Events whose merge may be another one since somebody parted two or joined them again: which ones that are is not told
    /// by the merges that are told, since others may stand behind them.
    fn noted(&mut self, acts: &Acts) -> BTreeSet<UnitId> {
        let turned = acts.parted() != self.acts.parted();
        self.acts = acts.clone();
        if turned {
            self.judged.keys().copied().collect()
        } else {
            BTreeSet::new()
        }
    }

    /// Judges what may be judged in another way since it was put, or since others were.
    fn judge_dirty(&mut self) {
        for id in std::mem::take(&mut self.dirty) {
            self.judge(id);
            self.judged_anew.insert(id);
        }
    }

    /// Finds the earlier events that this one is, or has to do with.
    fn judge(&mut self, id: UnitId) {
        for (before, _) in self.judged.remove(&id).unwrap_or_default() {
            if let Some(followers) = self.followers.get_mut(&before) {
                followers.remove(&id);
                if followers.is_empty() {
                    self.followers.remove(&before);
                }
            }
        }
        let Found { judged, unsure } = self.scenes.get(&id).map(|it| self.best(id, it)).unwrap_or_default();
        self.candidates.propose(id, unsure);
        if judged.is_empty() {
            return;
        }
        for (before, _) in &judged {
            self.followers.entry(*before).or_default().insert(id);
        }
        self.judged.insert(id, judged);
    }

    fn best(&self, id: UnitId, scene: &Scene) -> Found {
        let place = (scene.at, id);
        let lists = scene.keys.iter().filter_map(|it| self.keys.get(it));
        let earlier: BTreeSet<Place> = lists
            .flat_map(|it| it.range(..place).rev().take(RECENT_MAX))
            .copied()
            .collect();
        let known = earlier.iter().filter_map(|it| Some((it, self.scenes.get(&it.1)?)));
        let mut near: Vec<(f32, &Place, &Scene)> = known.map(|(at, it)| (scene.cosine(it), at, it)).collect();
        near.retain(|it| it.0 > RELATED_MIN);
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let (mut same, mut related, mut unsure) = (Vec::new(), None, Vec::new());
        for (cosine, at, other) in near.into_iter().take(JUDGED_MAX) {
            let mut judgement = judge(other, scene, cosine);
            let pair = pair(at.1, other, id, scene).filter(|_| judgement.unsure);
            if let Some(pair) = pair {
                let digest = joint_digest(&other.digest, &scene.digest);
                if let Some(said) = self.candidates.said(&pair, &digest) {
                    judgement = judgement.by_model(said);
                }
                unsure.push((pair, digest));
            }
            if judgement.same {
                same.push((at.1, judgement));
            } else if related.is_none() && judgement.is_related() {
                related = Some((at.1, judgement));
            }
        }
        let judged = if same.is_empty() { Vec::from_iter(related) } else { same };
        Found { judged, unsure }
    }

    /// The merge of an event as it is told; none if it goes into no other one.
    fn merge(&self, id: UnitId) -> Option<Merge> {
        let scene = self.scenes.get(&id)?;
        let (kept, judgement) = self.taken_for(id)?;
        let first = self.scenes.get(&kept)?;
        let merge = MergeId::derive(kept.uuid(), id.uuid());
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
            names: [first.tag.clone(), scene.tag.clone()],
            similarity: judgement.similarity,
            same_event: judgement.same,
            has_overlap: judgement.overlap,
            relation_type: kind,
            reason: judgement.reason.clone(),
            records: scene.records.clone(),
            since: Some(scene.at.max(first.at)),
            undone: self.acts.is_parted(merge),
            undone_at: self.acts.parted_at(merge),
        })
    }

    /// The earlier event that an event is taken for, or has to do with.
    fn taken_for(&self, id: UnitId) -> Option<(UnitId, &Judgement)> {
        let (other, judgement) = self.judged.get(&id)?.first()?;
        if !judgement.same {
            return Some((*other, judgement));
        }
        Some(self.parted(id).unwrap_or_else(|| (self.root(*other), judgement)))
    }

    /// The event that somebody parted an event from. It stands by itself then, whatever the other one is taken for by now: an
    /// older telling, which comes late, joins nobody again.
    fn parted(&self, id: UnitId) -> Option<(UnitId, &Judgement)> {
        if self.acts.parted().is_empty() {
            return None;
        }
        let is_parted = |it: &UnitId| self.acts.is_parted(MergeId::derive(it.uuid(), id.uuid()));
        let same = self.judged.get(&id)?.iter().filter(|it| it.1.same);
        let mut parted = same.filter_map(|(other, judgement)| Some((self.way(*other).find(is_parted)?, judgement)));
        parted.next()
    }

    /// What an event was taken for, and that again, itself first; whatever was parted.
    fn way(&self, id: UnitId) -> impl Iterator<Item = UnitId> {
        let before = move |it: &UnitId| {
            let (other, judgement) = self.judged.get(it)?.first()?;
            judgement.same.then_some(*other)
        };
        std::iter::successors(Some(id), before).take(STEPS_MAX)
    }

    /// The earliest event that this one is, over events that are the same and were not parted.
    fn root(&self, id: UnitId) -> UnitId {
        let mut root = id;
        for event in self.way(id) {
            root = event;
            if self.parted(event).is_some() {
                break;
            }
        }
        root
    }
}

/// Returns the pair of two events; none if one of them has no record.
fn pair(earlier: UnitId, before: &Scene, later: UnitId, scene: &Scene) -> Option<Pair> {
    Some(Pair {
        later,
        earlier,
        reading: ReadingId::events(*before.records.first()?, *scene.records.first()?),
    })
}
