//! Conflict resolution: folds the statements of one slot in order of time. A newer one closes those that it
//! contradicts, and all are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::fact::{End, Fact};
use domain::id::FactId;
use domain::time::TimeSpan;

use super::claim::Claim;
use super::slot::{ValueStems, are_compatible_values};
use crate::facts::claim::Role;
use crate::space::small_map::SmallMap;

/// The facts that result from claims, currently or before a decision.
///
/// A claim that only repeats an open one raises its confidence and does not become a fact.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    /// The fold shows what was known before this moment; none for the current state.
    before: Option<DateTime<Utc>>,
    /// Values that a user retired or corrected, with the time of the last decision. Earlier statements of such a
    /// value do not count.
    unsaid: SmallMap<Value, DateTime<Utc>>,
    /// The latest [`OPEN_MAX`] claims that still hold.
    open: Vec<OpenClaim>,
    done: SmallMap<FactId, Arc<Fact>>,
    /// Facts that may have changed since the last call of [`Fold::take_touched_facts`], in their former state.
    touched: SmallMap<FactId, Option<Arc<Fact>>>,
}

/// A claim that holds, with its current fact.
#[derive(Clone, Debug)]
struct OpenClaim {
    claim: Arc<Claim>,
    /// Shared with the claim until something changes it.
    fact: Arc<Fact>,
}

impl Fold {
    /// Returns an empty fold that knows which of the coming claims were retired or corrected.
    pub(super) fn new<'a>(before: Option<DateTime<Utc>>, claims: impl Iterator<Item = (Role, &'a Arc<Claim>)>) -> Fold {
        let mut unsaid: SmallMap<Value, DateTime<Utc>> = SmallMap::default();
        for (_, claim) in claims.filter(|(role, it)| *role == Role::States && !it.is_later_correction(before)) {
            if let Some(at) = claim.undone_at(before) {
                let value = value_of_claim(claim);
                let last = unsaid.get(&value).map_or(at, |it| at.max(*it));
                unsaid.insert(value, last);
            }
        }
        Fold {
            before,
            unsaid,
            ..Fold::default()
        }
    }

    /// Adds the next claim.
    pub(super) fn add_claim(&mut self, role: Role, claim: &Arc<Claim>) {
        if claim.is_later_correction(self.before) {
            return;
        }
        let back = claim.is_taken_back(self.before);
        match role {
            Role::States if back => self.store_closed_fact(Fact {
                withdrawn: true,
                retired_by: claim.undone_at(self.before).and_then(|_| claim.replacement()),
                ..Fact::clone(&claim.fact)
            }),
            // A repetition of a value that a user retired or corrected does not count, unless it was stated after the
            // decision.
            Role::States if claim.corrected_at().is_none() && self.is_unsaid(claim) => {}
            Role::States => self.add_statement(claim),
            Role::Ends if !back => {
                self.close_claims(claim, |_| true);
            }
            Role::Ends => {}
        }
    }

    /// Returns the current fact of an id. A unit may state a fact twice; the one opened last counts.
    pub(super) fn current_fact(&self, id: FactId) -> Option<&Arc<Fact>> {
        let open = self.open.iter().rev().find(|it| it.fact.id == id);
        open.map(|it| &it.fact).or_else(|| self.done.get(&id))
    }

    /// Returns all facts.
    pub(super) fn all_facts(&self) -> BTreeMap<FactId, Arc<Fact>> {
        let open = self.open.iter().map(|it| &it.fact);
        let all = self.done.values().chain(open);
        all.map(|it| (it.id, Arc::clone(it))).collect()
    }

    /// Replaces a fact after all claims were added.
    pub(super) fn replace_fact(&mut self, fact: Fact) {
        self.remember_former_state(fact.id);
        self.open.retain(|it| it.fact.id != fact.id);
        self.done.insert(fact.id, Arc::new(fact));
    }

    /// Returns the facts that may have changed since the last call, in their former state.
    pub(super) fn take_touched_facts(&mut self) -> SmallMap<FactId, Option<Arc<Fact>>> {
        std::mem::take(&mut self.touched)
    }

    fn store_closed_fact(&mut self, fact: impl Into<Arc<Fact>>) {
        let fact = fact.into();
        self.remember_former_state(fact.id);
        self.done.insert(fact.id, fact);
    }

    fn remember_former_state(&mut self, id: FactId) {
        if self.touched.get(&id).is_none() {
            self.touched.insert(id, self.current_fact(id).cloned());
        }
    }

    fn is_unsaid(&self, claim: &Claim) -> bool {
        let unsaid = || self.unsaid.get(&value_of_claim(claim));
        !self.unsaid.is_empty() && unsaid().is_some_and(|it| claim.statement_key.0 <= *it)
    }

    fn add_statement(&mut self, claim: &Arc<Claim>) {
        if let Some(at) = self.open.iter().position(|it| it.is_told_again_by(claim)) {
            self.remember_former_state(self.open[at].fact.id);
            let same = &mut self.open[at];
            let doubt = (1.0 - same.fact.confidence) * (1.0 - claim.fact.confidence);
            let confidence = (1.0 - doubt).min(SURE_MAX).max(same.fact.confidence);
            Arc::make_mut(&mut same.fact).confidence = confidence;
            return;
        }
        let mut fact = Arc::clone(&claim.fact);
        let wrong = self.close_claims(claim, |it| {
            is_contradicted_by(it, claim) && !is_set_for_later(it, claim)
        });
        if let Some(wrong) = wrong.filter(|_| !claim.has_start && !claim.ended) {
            Arc::make_mut(&mut fact).valid_from = wrong;
        }
        if claim.ended {
            self.store_closed_fact(fact);
            return;
        }
        // A claim that begins later also limits this one: it holds only until then.
        let later = self
            .open
            .iter()
            .filter(|it| is_contradicted_by(&it.claim, claim) && is_set_for_later(&it.claim, claim));
        if let Some(next) = later.min_by_key(|it| it.fact.valid_from.start) {
            shorten_validity(Arc::make_mut(&mut fact), next.fact.valid_from.start, &next.fact);
        }
        self.remember_former_state(fact.id);
        if self.open.is_empty() {
            // Most slots have one open value, and a push would make room for four.
            self.open.reserve_exact(1);
        }
        self.open.push(OpenClaim {
            claim: Arc::clone(claim),
            fact,
        });
        if self.open.len() > OPEN_MAX {
            let first = self.open.remove(0).fact;
            self.done.insert(first.id, first);
        }
    }

    /// Closes the open claims that `claim` ends. Returns the former beginning of the claim that it corrects, if it
    /// corrects one. A claim whose end lies after the statement stays open until then: it still holds, and may be
    /// repeated or end earlier.
    fn close_claims(&mut self, claim: &Claim, ends: impl Fn(&Claim) -> bool) -> Option<TimeSpan> {
        let mut wrong = None;
        let mut from = 0;
        while let Some(at) = (from..self.open.len()).find(|it| ends(&self.open[*it].claim)) {
            from = at;
            self.remember_former_state(self.open[at].fact.id);
            let never = at_once(&self.open[at].claim, claim);
            let fact = Arc::make_mut(&mut self.open[at].fact);
            let end = if never {
                wrong = Some(fact.valid_from.clone());
                fact.valid_from.start
            } else {
                claim.start_or_end().max(fact.valid_from.start)
            };
            shorten_validity(fact, end, &claim.fact);
            if end > claim.statement_key.0 && !never {
                from += 1;
                continue;
            }
            let fact = self.open.remove(at).fact;
            self.done.insert(fact.id, fact);
        }
        wrong
    }
}

impl OpenClaim {
    /// Returns true if `claim` only repeats this one while it holds.
    fn is_told_again_by(&self, claim: &Claim) -> bool {
        let holds = || claim.is_plan() || self.fact.valid_until.is_none_or(|it| claim.start_or_end() < it);
        is_repeated_by(&self.claim, claim) && holds()
    }
}

/// Ends a fact because of another one, unless it ends earlier.
fn shorten_validity(fact: &mut Fact, end: DateTime<Utc>, by: &Fact) {
    if fact.valid_until.is_none_or(|it| end < it) {
        fact.former_ends.extend(fact.valid_until.map(|valid_until| End {
            valid_until,
            closed_at: fact.closed_at,
            retired_by: fact.retired_by,
        }));
        fact.valid_until = Some(end);
        fact.closed_at = Some(by.recorded_at.max(fact.recorded_at));
        fact.retired_by = Some(by.id);
    }
}

/// A value, and whether it is affirmed (true) or denied.
type Value = (ValueStems, bool);

fn value_of_claim(claim: &Claim) -> Value {
    (claim.value.clone(), claim.positive)
}

/// Returns true if `claim` only repeats `old`.
fn is_repeated_by(old: &Claim, claim: &Claim) -> bool {
    let sure = old.own || !claim.own;
    let same_end = || !claim.is_plan() || old.fact.valid_until == claim.fact.valid_until;
    sure && old.positive == claim.positive
        && !(claim.has_start || claim.ended || claim.corrects)
        && old.value == claim.value
        && old.fact.predicate == claim.fact.predicate
        && same_end()
}

/// Returns true if `old` cannot hold any longer once `claim` holds. An assumption by someone else ends nothing that
/// people say of themselves; an event that someone else observed does.
fn is_contradicted_by(old: &Claim, claim: &Claim) -> bool {
    let at_once = at_once(old, claim);
    if old.own && !claim.own && !claim.event && !claim.ended && !at_once {
        return false;
    }
    let akin = || are_compatible_values(&old.value, &claim.value);
    // The same value with another time.
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

/// Returns true if `claim` corrects a recent statement of the same session. In a session that lasts for months, a
/// later contradiction reports a change instead.
fn at_once(old: &Claim, claim: &Claim) -> bool {
    let after = claim.statement_key.0 - old.statement_key.0;
    claim.corrects && old.session == claim.session && (TimeDelta::zero()..=AT_ONCE).contains(&after)
}

/// Maximum time between a statement and its correction.
const AT_ONCE: TimeDelta = TimeDelta::hours(1);
/// Returns true if `old` begins only after `claim`: "I still work there" does not cancel a job that begins in a
/// month. A denial does cancel it.
fn is_set_for_later(old: &Claim, claim: &Claim) -> bool {
    let states = old.positive && claim.positive && !claim.ended && !at_once(old, claim);
    states && claim.vouched.max(claim.start_or_end()) < old.fact.valid_from.start
}

/// Maximum number of open values in a slot. It bounds the cost of a claim in a slot with thousands of values. Older
/// ones are kept as they are.
const OPEN_MAX: usize = 256;
/// Upper limit of a fact's confidence.
const SURE_MAX: f32 = 0.99;
