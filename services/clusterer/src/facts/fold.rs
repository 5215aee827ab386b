//! The statements of one slot, one after another in time: a newer one closes what it contradicts, and both stay.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::Fact;
use domain::id::{FactId, UnitId};
use domain::time::TimeSpan;

use super::claim::Claim;
use super::slot::agree;

/// What a claim does in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// It belongs there.
    States,
    /// It ends what stands there: who retires has no employer any more.
    Ends,
    /// It belonged there before it was corrected by hand: nobody says that any more.
    Was,
}

/// Place of a claim in its slot: the moment it is sure to have held at, when it was told, its unit, its fact, what it does;
/// of what a unit states twice the place in the unit.
type Order = (DateTime<Utc>, DateTime<Utc>, UnitId, FactId, Role, usize);

/// The claims of a slot and the facts they come to, whatever order they came in.
///
/// Claims are folded in their order. A claim that only repeats one that stands makes it surer and is no fact of its own. What
/// comes behind all that were folded is folded onto them; anything else begins again.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    claims: BTreeMap<Order, Arc<Claim>>,
    /// The last claim that is folded in.
    last: Option<Order>,
    /// What somebody took back or corrected by hand: it is not to be told.
    unsaid: BTreeSet<(BTreeSet<String>, bool)>,
    /// What holds as far as was told so far.
    open: Vec<Open>,
    done: BTreeMap<FactId, Fact>,
    /// Facts that may have changed since it was asked last, as they were then.
    before: BTreeMap<FactId, Option<Fact>>,
}

/// A claim that holds, and the fact it is by now.
#[derive(Clone, Debug)]
struct Open {
    claim: Arc<Claim>,
    fact: Fact,
}

impl Line {
    /// Adds a claim.
    pub(super) fn add(&mut self, index: usize, role: Role, claim: &Arc<Claim>) {
        let order = order(index, role, claim);
        if self.last.is_some_and(|it| order < it) || unsaid(role, claim).is_some() {
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
            let all = self.claims.iter().filter_map(|(order, it)| unsaid(order.4, it));
            self.unsaid = all.map(|(value, positive)| (value.clone(), positive)).collect();
        }
        let from = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let new = self.claims.range((from, Bound::Unbounded));
        for (order, claim) in new.map(|(order, it)| (*order, Arc::clone(it))).collect::<Vec<_>>() {
            self.fold(order.4, &claim);
            self.last = Some(order);
        }
        let before = std::mem::take(&mut self.before).into_iter();
        let now = before.map(|(id, before)| (id, before, self.fact(id)));
        let differing = now.filter(|(_, before, now)| before.as_ref() != *now);
        differing.map(|(id, _, now)| (id, now.cloned())).collect()
    }

    fn begin_again(&mut self) {
        let mut all = std::mem::take(&mut self.done);
        all.extend(self.open.drain(..).map(|it| (it.fact.id, it.fact)));
        for (id, fact) in all {
            self.before.entry(id).or_insert(Some(fact));
        }
        self.last = None;
    }

    /// The fact of an id as it stands. A unit may state one twice: what was opened last counts.
    fn fact(&self, id: FactId) -> Option<&Fact> {
        let open = self.open.iter().rev().find(|it| it.fact.id == id);
        open.map(|it| &it.fact).or_else(|| self.done.get(&id))
    }

    fn note(&mut self, id: FactId) {
        if !self.before.contains_key(&id) {
            self.before.insert(id, self.fact(id).cloned());
        }
    }

    fn fold(&mut self, role: Role, claim: &Arc<Claim>) {
        match role {
            Role::States if claim.fact.withdrawn => self.done(claim.fact.clone()),
            // What repeats what somebody took back or corrected by hand is not told either.
            Role::States if claim.was.is_none() && self.is_unsaid(claim) => {}
            Role::States => self.state(claim),
            Role::Ends if !claim.fact.withdrawn => {
                self.close(claim, |_| true);
            }
            Role::Ends | Role::Was => {}
        }
    }

    fn is_unsaid(&self, claim: &Claim) -> bool {
        !self.unsaid.is_empty() && self.unsaid.contains(&(claim.value.clone(), claim.positive))
    }

    fn done(&mut self, fact: Fact) {
        self.note(fact.id);
        self.done.insert(fact.id, fact);
    }

    fn state(&mut self, claim: &Arc<Claim>) {
        if let Some(at) = self.open.iter().position(|it| repeats(&it.claim, claim)) {
            self.note(self.open[at].fact.id);
            let same = &mut self.open[at];
            let doubt = (1.0 - same.fact.confidence) * (1.0 - claim.fact.confidence);
            same.fact.confidence = (1.0 - doubt).min(SURE_MAX).max(same.fact.confidence);
            return;
        }
        let mut fact = claim.fact.clone();
        let wrong = self.close(claim, |it| contradicts(it, claim));
        if let Some(wrong) = wrong.filter(|_| !claim.since_told && !claim.ended) {
            fact.valid_from = wrong;
        }
        if claim.ended {
            self.done(fact);
        } else {
            self.note(fact.id);
            self.open.push(Open {
                claim: Arc::clone(claim),
                fact,
            });
        }
    }

    /// Closes what `claim` ends; returns since when what it puts right was said to hold, if it puts something right.
    fn close(&mut self, claim: &Claim, ends: impl Fn(&Claim) -> bool) -> Option<TimeSpan> {
        let mut wrong = None;
        let mut from = 0;
        while let Some(at) = (from..self.open.len()).find(|it| ends(&self.open[*it].claim)) {
            from = at;
            self.note(self.open[at].fact.id);
            let Open { claim: old, mut fact } = self.open.remove(at);
            let never = claim.corrects && old.session == claim.session;
            let end = if never {
                fact.valid_from.start
            } else {
                claim.moment().max(fact.valid_from.start)
            };
            if never || fact.valid_until.is_none_or(|it| end < it) {
                fact.valid_until = Some(end);
                fact.closed_at = Some(claim.fact.recorded_at.max(fact.recorded_at));
                fact.retired_by = Some(claim.fact.id);
            }
            if never {
                wrong = Some(fact.valid_from.clone());
            }
            self.done.insert(fact.id, fact);
        }
        wrong
    }
}

/// Returns what somebody took back or corrected by hand: it is not to be told.
fn unsaid(role: Role, claim: &Claim) -> Option<(&BTreeSet<String>, bool)> {
    let value = match role {
        Role::States => claim.fact.withdrawn.then_some(&claim.value),
        Role::Was => claim.was.as_ref().map(|(_, was)| was),
        Role::Ends => None,
    };
    value.map(|it| (it, claim.positive))
}

fn order(index: usize, role: Role, claim: &Claim) -> Order {
    let fact = &claim.fact;
    (claim.vouched, fact.recorded_at, claim.unit(), fact.id, role, index)
}

/// Says whether `claim` only says again what `old` says.
fn repeats(old: &Claim, claim: &Claim) -> bool {
    let sure = old.own || !claim.own;
    let same_end = || !claim.is_plan() || old.fact.valid_until == claim.fact.valid_until;
    sure && old.positive == claim.positive
        && !(claim.since_told || claim.ended || claim.corrects)
        && old.value == claim.value
        && old.fact.predicate == claim.fact.predicate
        && same_end()
}

/// Says whether `old` cannot hold any more once `claim` holds. What others suppose of somebody ends nothing that they said
/// of themselves; what others saw happen does.
fn contradicts(old: &Claim, claim: &Claim) -> bool {
    let at_once = claim.corrects && old.session == claim.session;
    if old.own && !claim.own && !claim.event && !claim.ended && !at_once {
        return false;
    }
    let akin = || agree(&old.value, &claim.value);
    // The same with another time.
    if at_once && old.fact.predicate == claim.fact.predicate && akin() {
        return true;
    }
    if claim.ended {
        return old.positive == claim.positive && akin();
    }
    match (old.positive, claim.positive) {
        (true, true) => old.single && claim.single && !akin(),
        (true, false) | (false, true) => akin(),
        (false, false) => false,
    }
}

/// No fact is surer than this.
const SURE_MAX: f32 = 0.99;
