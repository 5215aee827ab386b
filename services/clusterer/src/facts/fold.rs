//! The statements of one slot, one after another in time: a newer one closes what it contradicts, and both stay.

use std::collections::{BTreeMap, BTreeSet};

use domain::fact::Fact;
use domain::id::FactId;
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

/// Returns the facts of a slot, given its claims in any order.
///
/// Claims are ordered by the moment they are sure to have held at, then by when they were told, then by id. A claim that
/// only repeats one that stands makes it surer and is no fact of its own.
pub(super) fn fold(mut claims: Vec<(Role, &Claim)>) -> BTreeMap<FactId, Fact> {
    claims.sort_by_key(|(role, it)| (it.vouched, it.fact.recorded_at, it.unit(), it.fact.id, *role));
    let unsaid: BTreeSet<_> = claims.iter().filter_map(|(role, it)| unsaid(*role, it)).collect();
    let mut line = Line::default();
    for (role, claim) in &claims {
        // What repeats what somebody took back or corrected by hand is not told either.
        if claim.was.is_none()
            && *role == Role::States
            && unsaid.contains(&(&claim.value, claim.positive))
            && !claim.fact.withdrawn
        {
            continue;
        }
        if *role == Role::States && !claim.fact.withdrawn {
            line.state(claim);
        } else if *role == Role::States && claim.fact.withdrawn {
            line.done.insert(claim.fact.id, claim.fact.clone());
        } else if *role == Role::Ends && !claim.fact.withdrawn {
            line.close(claim, |_| true);
        }
    }
    line.done.extend(line.open.into_iter().map(|it| (it.fact.id, it.fact)));
    line.done
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

#[derive(Default)]
struct Line<'a> {
    /// What holds as far as was told so far.
    open: Vec<Open<'a>>,
    done: BTreeMap<FactId, Fact>,
}

/// A claim that holds, and the fact it is by now.
struct Open<'a> {
    claim: &'a Claim,
    fact: Fact,
}

impl<'a> Line<'a> {
    fn state(&mut self, claim: &'a Claim) {
        if let Some(same) = self.open.iter_mut().find(|it| repeats(it.claim, claim)) {
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
            self.done.insert(fact.id, fact);
        } else {
            self.open.push(Open { claim, fact });
        }
    }

    /// Closes what `claim` ends; returns since when what it puts right was said to hold, if it puts something right.
    fn close(&mut self, claim: &Claim, ends: impl Fn(&Claim) -> bool) -> Option<TimeSpan> {
        let mut wrong = None;
        for Open { claim: old, mut fact } in self.open.extract_if(.., |it| ends(it.claim)) {
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

/// Says whether `claim` only says again what `old` says.
fn repeats(old: &Claim, claim: &Claim) -> bool {
    let sure = old.own || !claim.own;
    let same_end = !claim.is_plan() || old.fact.valid_until == claim.fact.valid_until;
    old.value == claim.value
        && old.fact.predicate == claim.fact.predicate
        && old.positive == claim.positive
        && !(claim.since_told || claim.ended || claim.corrects)
        && sure
        && same_end
}

/// Says whether `old` cannot hold any more once `claim` holds. What others suppose of somebody ends nothing that they said
/// of themselves; what others saw happen does.
fn contradicts(old: &Claim, claim: &Claim) -> bool {
    let at_once = claim.corrects && old.session == claim.session;
    if old.own && !claim.own && !claim.event && !claim.ended && !at_once {
        return false;
    }
    let akin = agree(&old.value, &claim.value);
    // The same with another time.
    if at_once && akin && old.fact.predicate == claim.fact.predicate {
        return true;
    }
    if claim.ended {
        return old.positive == claim.positive && akin;
    }
    match (old.positive, claim.positive) {
        (true, true) => old.single && claim.single && !akin,
        (true, false) | (false, true) => akin,
        (false, false) => false,
    }
}

/// No fact is surer than this.
const SURE_MAX: f32 = 0.99;
