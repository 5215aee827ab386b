//! The ordered claims of one slot and the facts that follow from them: the current state, and the state before each
//! decision.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::{Fact, Former, Origin};
use domain::id::{FactId, UnitId};
use serde::{Deserialize, Serialize, Serializer};

use super::claim::Claim;
use super::fold::Fold;
use super::slot::Slot;
use crate::facts::claim::Role;
use crate::space::small_map::SmallMap;

/// A claim in a slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    claim: Arc<Claim>,
    /// Index among the claims of the unit.
    index: u32,
    role: Role,
}

/// Sort key of a claim in its slot: the moment at which it surely held, the time of the statement, its unit, its
/// origin (rules first, so that their fact keeps its id when a model reads the same), the fact as stated, its role,
/// and its index among the claims of the unit.
type Order = (DateTime<Utc>, DateTime<Utc>, UnitId, Origin, FactId, Role, u32);

/// The claims of a slot and the resulting facts, whatever order the claims came in.
///
/// Claims are folded in order. A claim after all folded ones is added to the fold; any other change starts the fold
/// again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SlotClaims {
    /// A single claim without decisions, which was folded. Most slots have one, and the fold of one claim is quickly
    /// done again.
    settled: Option<Entry>,
    /// Any other claims.
    folded: Option<Box<Claims>>,
}

/// The claims of a slot, with their fold.
///
/// Only the claims are written to a file, because the fold follows from them. Claims change only while all changed facts
/// are taken, so there is nothing else to keep.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "SmallMap<Entry, ()>")]
struct Claims {
    all: SmallMap<Entry, ()>,
    /// True if the claims were folded before they were written to a file, and have to be folded again.
    is_read_back: bool,
    /// The last claim that was folded.
    last: Option<Entry>,
    fold: Fold,
    /// Times of the decisions about its claims.
    decided: BTreeSet<DateTime<Utc>>,
    /// Facts that may have changed since the last call of [`Claims::take_changed_facts`], in their former state.
    before: SmallMap<FactId, Option<Arc<Fact>>>,
}

impl SlotClaims {
    /// Adds a claim.
    pub(super) fn add_claim(&mut self, index: usize, role: Role, claim: &Arc<Claim>) {
        self.claims_to_change().add_claim(Entry::new(index, role, claim));
    }

    /// Removes a claim.
    pub(super) fn remove_claim(&mut self, index: usize, role: Role, claim: &Arc<Claim>) {
        self.claims_to_change().remove_claim(&Entry::new(index, role, claim));
    }

    /// Returns the slot, to be shared, if a claim in it states something.
    pub(super) fn slot(&self) -> Option<&Arc<Slot>> {
        let folded = || self.folded.as_ref()?.all.keys().next();
        let first = self.settled.as_ref().or_else(folded)?;
        (first.role == Role::States).then_some(&first.claim.slot)
    }

    /// Returns true if there are no claims.
    pub(super) fn is_empty(&self) -> bool {
        self.settled.is_none() && self.folded.as_ref().is_none_or(|it| it.all.is_empty())
    }

    /// Returns the facts that changed since the last call, by id; an id without a fact was deleted.
    pub(super) fn take_changed_facts(&mut self) -> Vec<(FactId, Option<Arc<Fact>>)> {
        let Some(claims) = &mut self.folded else {
            return Vec::new();
        };
        claims.fold_again();
        let changed = claims.take_changed_facts();
        if claims.all.len() == 1 && claims.decided.is_empty() {
            self.settled = claims.all.keys().next().cloned();
            self.folded = None;
        }
        changed
    }

    fn claims_to_change(&mut self) -> &mut Claims {
        if let Some(single) = self.settled.take() {
            self.folded = Some(Box::new(Claims::from_single(single)));
        }
        let claims = self.folded.get_or_insert_default();
        claims.fold_again();
        claims
    }
}

impl Entry {
    fn new(index: usize, role: Role, claim: &Arc<Claim>) -> Entry {
        Entry {
            claim: Arc::clone(claim),
            // A unit makes far fewer claims.
            index: u32::try_from(index).unwrap_or(u32::MAX),
            role,
        }
    }

    fn sort_key(&self) -> Order {
        let (at, fact) = self.claim.statement_key;
        let (source, origin) = (self.claim.source_unit(), self.claim.fact.origin);
        (self.claim.vouched, at, source, origin, fact, self.role, self.index)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.sort_key() == other.sort_key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

impl Serialize for Claims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        debug_assert!(self.is_read_back || self.last.as_ref() == self.all.keys().next_back());
        debug_assert!(self.before.is_empty());
        self.all.serialize(serializer)
    }
}

impl From<SmallMap<Entry, ()>> for Claims {
    fn from(all: SmallMap<Entry, ()>) -> Claims {
        Claims {
            all,
            is_read_back: true,
            ..Claims::default()
        }
    }
}

impl Claims {
    /// Returns a single claim without decisions, folded.
    fn from_single(single: Entry) -> Claims {
        let mut claims = Claims::default();
        claims.all.insert(single.clone(), ());
        claims.fold.add_claim(single.role, &single.claim);
        claims.fold.take_touched_facts();
        claims.last = Some(single);
        claims
    }

    fn add_claim(&mut self, entry: Entry) {
        let claim = &entry.claim;
        let back = claim.is_taken_back(None) || claim.corrected_at().is_some() || !self.decided.is_empty();
        if self.last.as_ref().is_some_and(|it| entry < *it) || back {
            self.restart_fold();
        }
        self.all.insert(entry, ());
    }

    fn remove_claim(&mut self, entry: &Entry) {
        if self.last.as_ref().is_some_and(|it| entry <= it) {
            self.restart_fold();
        }
        self.all.remove(entry);
    }

    fn take_changed_facts(&mut self) -> Vec<(FactId, Option<Arc<Fact>>)> {
        self.fold_rest();
        for (id, was) in &self.fold.take_touched_facts() {
            if self.before.get(id).is_none() {
                self.before.insert(*id, was.clone());
            }
        }
        let before = std::mem::take(&mut self.before);
        let now = before
            .iter()
            .map(|(id, before)| (id, before, self.fold.current_fact(*id)));
        let differing = now.filter(|(_, before, now)| before.as_ref() != *now);
        differing.map(|(id, _, now)| (*id, now.cloned())).collect()
    }

    /// Folds claims that were read from a file.
    fn fold_again(&mut self) {
        if !std::mem::take(&mut self.is_read_back) {
            return;
        }
        self.fold_rest();
        self.fold.take_touched_facts();
    }

    /// Folds the claims after the last folded one, or all claims if none is folded.
    fn fold_rest(&mut self) {
        if self.last.is_none() {
            self.fold = Fold::new(None, self.claims_with_roles());
            let decided = self.all.keys().flat_map(|it| it.claim.decision_times());
            self.decided = decided.collect();
        }
        let last = self.last.take();
        for (entry, ()) in self.all.entries_after(last.as_ref()) {
            self.fold.add_claim(entry.role, &entry.claim);
        }
        self.last = self.all.keys().next_back().cloned();
        self.add_former_states();
    }

    fn restart_fold(&mut self) {
        for (id, fact) in std::mem::take(&mut self.fold).all_facts() {
            if self.before.get(&id).is_none() {
                self.before.insert(id, Some(fact));
            }
        }
        self.last = None;
    }

    fn claims_with_roles(&self) -> impl Iterator<Item = (Role, &Arc<Claim>)> {
        self.all.keys().map(|it| (it.role, &it.claim))
    }

    /// Adds to each fact its state before each decision. A fact that no longer exists is kept as withdrawn.
    fn add_former_states(&mut self) {
        if self.decided.is_empty() {
            return;
        }
        let then = |before: DateTime<Utc>| {
            let mut fold = Fold::new(Some(before), self.claims_with_roles());
            self.claims_with_roles().for_each(|(role, it)| fold.add_claim(role, it));
            (before, fold.all_facts())
        };
        let times: Vec<FactsBefore> = self.decided.iter().map(|it| then(*it)).collect();
        let mut ids: BTreeSet<FactId> = times.iter().flat_map(|it| it.1.keys().copied()).collect();
        ids.extend(self.fold.all_facts().keys());
        for id in ids {
            let now = self.fold.current_fact(id).map(|it| Fact::clone(it));
            let mut former = former_states(&times, id, now.as_ref());
            let last = || former.iter().rev().find_map(|it| it.fact.clone());
            let Some(now) = now.or_else(|| {
                Some(Fact {
                    withdrawn: true,
                    ..last()?
                })
            }) else {
                continue;
            };
            // A time before the fact was recorded needs no entry.
            let unknown = |it: &&Former| it.fact.is_none() && it.until <= now.recorded_at;
            let unknown = former.iter().take_while(unknown).count();
            former.drain(..unknown);
            if !former.is_empty() {
                self.fold.replace_fact(Fact { former, ..now });
            }
        }
    }
}

/// The facts that were known before a moment.
type FactsBefore = (DateTime<Utc>, BTreeMap<FactId, Arc<Fact>>);

/// Returns the states of a fact before each moment, as far as they differ from the next state, oldest first.
fn former_states(times: &[FactsBefore], id: FactId, now: Option<&Fact>) -> Vec<Former> {
    let mut later = now;
    let mut former = Vec::new();
    for (until, facts) in times.iter().rev() {
        let then = facts.get(&id).map(Arc::as_ref);
        if then != later {
            former.push(Former {
                until: *until,
                fact: then.cloned(),
            });
        }
        later = then;
    }
    former.reverse();
    former
}
