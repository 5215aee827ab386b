//! The ordered claims of one slot and the facts that follow from them: the current state, and the state before each
//! decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::{Fact, Former, Origin};
use domain::id::{FactId, UnitId};

use super::claim::Claim;
use super::fold::Fold;
use crate::small_map::SmallMap;

/// The role of a claim in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// It states a value of the slot.
    States,
    /// It ends the values of the slot: someone who retires no longer has an employer.
    Ends,
}

/// Sort key of a claim in its slot: the moment at which it surely held, the time of the statement, its unit, its
/// origin (rules first, so that their fact keeps its id when a model reads the same), the fact as stated, its role,
/// and its index among the claims of the unit.
type Order = (DateTime<Utc>, DateTime<Utc>, UnitId, Origin, FactId, Role, usize);

/// The claims of a slot and the resulting facts, whatever order the claims came in.
///
/// Claims are folded in order. A claim after all folded ones is added to the fold; any other change starts the fold
/// again.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    claims: SmallMap<Order, Arc<Claim>>,
    /// The last claim that was folded.
    last: Option<Order>,
    fold: Fold,
    /// Times of the decisions about its claims.
    decided: BTreeSet<DateTime<Utc>>,
    /// Facts that may have changed since the last call of [`Line::changed`], in their former state.
    before: BTreeMap<FactId, Option<Fact>>,
}

impl Line {
    /// Adds a claim.
    pub(super) fn add(&mut self, index: usize, role: Role, claim: &Arc<Claim>) {
        let order = order(index, role, claim);
        let back = claim.is_taken_back(None) || claim.made.is_some() || !self.decided.is_empty();
        if self.last.is_some_and(|it| order < it) || back {
            self.begin_again();
        }
        self.claims.insert(order, Arc::clone(claim));
    }

    /// Removes a claim.
    pub(super) fn remove(&mut self, index: usize, role: Role, claim: &Claim) {
        let order = order(index, role, claim);
        if self.last.is_some_and(|it| order <= it) {
            self.begin_again();
        }
        self.claims.remove(&order);
    }

    /// Returns true if there are no claims.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Returns the facts that changed since the last call, by id; an id without a fact was deleted.
    pub(super) fn changed(&mut self) -> Vec<(FactId, Option<Fact>)> {
        if self.last.is_none() {
            self.fold = Fold::new(None, self.roles());
            self.decided = self.claims.values().flat_map(|it| it.decided()).collect();
        }
        for (order, claim) in self.claims.after(self.last.as_ref()) {
            self.fold.take(order.5, claim);
            self.last = Some(*order);
        }
        self.look_back();
        for (id, was) in self.fold.touched() {
            self.before.entry(id).or_insert(was);
        }
        let before = std::mem::take(&mut self.before).into_iter();
        let now = before.map(|(id, before)| (id, before, self.fold.fact(id)));
        let differing = now.filter(|(_, before, now)| before.as_ref() != *now);
        differing.map(|(id, _, now)| (id, now.cloned())).collect()
    }

    fn begin_again(&mut self) {
        for (id, fact) in std::mem::take(&mut self.fold).facts() {
            self.before.entry(id).or_insert(Some(fact));
        }
        self.last = None;
    }

    fn roles(&self) -> impl Iterator<Item = (Role, &Arc<Claim>)> {
        self.claims.iter().map(|(order, it)| (order.5, it))
    }

    /// Adds to each fact its state before each decision. A fact that no longer exists is kept as withdrawn.
    fn look_back(&mut self) {
        if self.decided.is_empty() {
            return;
        }
        let then = |before: DateTime<Utc>| {
            let mut fold = Fold::new(Some(before), self.roles());
            self.roles().for_each(|(role, it)| fold.take(role, it));
            (before, fold.facts())
        };
        let times: Vec<(DateTime<Utc>, BTreeMap<FactId, Fact>)> = self.decided.iter().map(|it| then(*it)).collect();
        let mut ids: BTreeSet<FactId> = times.iter().flat_map(|it| it.1.keys().copied()).collect();
        ids.extend(self.fold.facts().keys());
        for id in ids {
            let now = self.fold.fact(id).cloned();
            let mut former = former(&times, id, now.as_ref());
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
                self.fold.replace(Fact { former, ..now });
            }
        }
    }
}

/// Returns the states of a fact before each moment, as far as they differ from the next state, oldest first.
fn former(times: &[(DateTime<Utc>, BTreeMap<FactId, Fact>)], id: FactId, now: Option<&Fact>) -> Vec<Former> {
    let mut later = now;
    let mut former = Vec::new();
    for (until, facts) in times.iter().rev() {
        let then = facts.get(&id);
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

fn order(index: usize, role: Role, claim: &Claim) -> Order {
    let (at, fact) = claim.told;
    (claim.vouched, at, claim.unit(), claim.fact.origin, fact, role, index)
}
