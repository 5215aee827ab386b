//! The claims of one slot in their order, and what they come to: as is known, and as was known before something was decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::{Fact, Former, Origin};
use domain::id::{FactId, UnitId};

use super::claim::Claim;
use super::fold::Fold;
use crate::small_map::SmallMap;

/// What a claim does in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// It belongs there.
    States,
    /// It ends what stands there: who retires has no employer any more.
    Ends,
}

/// Place of a claim in its slot: the moment it is sure to have held at, when it was told, its unit, who read it there (rules
/// first, so that a fact of theirs stays the fact that it is when a model reads the same), its fact as it was told, what it
/// does; of what a unit states twice the place in the unit.
type Order = (DateTime<Utc>, DateTime<Utc>, UnitId, Origin, FactId, Role, usize);

/// The claims of a slot and the facts they come to, whatever order they came in.
///
/// Claims are folded in their order. What comes behind all that were folded is folded onto them; anything else begins again.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    claims: SmallMap<Order, Arc<Claim>>,
    /// The last claim that is folded in.
    last: Option<Order>,
    fold: Fold,
    /// When something was decided about a claim.
    decided: BTreeSet<DateTime<Utc>>,
    /// Facts that may have changed since it was asked last, as they were then.
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

    /// Takes a claim away.
    pub(super) fn remove(&mut self, index: usize, role: Role, claim: &Claim) {
        let order = order(index, role, claim);
        if self.last.is_some_and(|it| order <= it) {
            self.begin_again();
        }
        self.claims.remove(&order);
    }

    /// Says whether nothing is claimed.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Returns the facts that differ from what they were when it was asked last, by id; those without a fact are gone.
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

    /// Adds to the facts how they were known before each decision. One that is none any more stays, taken back.
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
            // What was not known yet needs no word.
            let unknown = |it: &&Former| it.fact.is_none() && it.until <= now.recorded_at;
            let unknown = former.iter().take_while(unknown).count();
            former.drain(..unknown);
            if !former.is_empty() {
                self.fold.replace(Fact { former, ..now });
            }
        }
    }
}

/// How a fact was known before each moment, as far as it was known otherwise after it; oldest first.
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
