//! Ideas that are connected to a message over another unit (MemCog's multi-hop triggers), by following names and facts.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use domain::fact::Fact;
use domain::recall::Trigger;

use super::heard::Heard;
use super::idea::{Idea, Ideas};
use super::shared::{self, Bears, Shared};
use super::tie::Tie;
use crate::memory::{Known, normalised};
use crate::view::{Turn, View};

/// Number of the best ideas that hops start from.
const FROM: usize = 3;
/// Maximum number of turns with a name that is followed. A more frequent name says little.
const TURNS_MAX: usize = 24;
/// Maximum number of facts that are followed from each end.
const FACTS: usize = 12;
/// Maximum number of names that are followed from each turn, rarest first.
const NAMES: usize = 2;
/// Factor by which each hop reduces a score.
const HOP: f32 = 0.8;

/// Adds the ideas that the best ideas lead to: over a fact that connects a named person with another one, and over a
/// name that a turn adds.
pub(super) fn add(
    view: &View,
    (known, shared): (Known<'_>, &Shared<'_>),
    heard: &Heard,
    (ties, at): (&[Tie], DateTime<FixedOffset>),
    ideas: &mut Ideas,
) {
    let mut best: Vec<&Idea> = ideas.0.values().collect();
    best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    best.truncate(FROM);
    let from: Vec<(usize, f32)> = best.iter().map(|it| (it.place, it.score)).collect();
    for &(place, score) in &from {
        for (name, shown) in brought_in(view, heard, &view.turns()[place]) {
            if let Some(to) = leads_to(view, known, ties, (place, name), at) {
                ideas.add(idea((place, to), score * HOP, &shown));
            }
        }
    }
    for name in &heard.named {
        for first in shared.facts_about(name).into_iter().rev().take(FACTS) {
            follow(view, known, (&first, &first.object), at, ideas);
        }
        let naming = known.facts_naming(name).into_iter().rev().take(FACTS);
        for first in naming.filter(|it| shared.fact(it) == Bears::Nothing) {
            follow(view, known, (&first, &first.subject), at, ideas);
        }
    }
}

/// Adds what is known about the other end of a fact.
fn follow(view: &View, known: Known<'_>, (first, other): (&Fact, &str), at: DateTime<FixedOffset>, ideas: &mut Ideas) {
    let observed = |place: &usize| view.turns()[*place].unit.observed_at < at;
    let moment = at.to_utc();
    let Some(over) = view.place(first.source).filter(observed) else {
        return;
    };
    if !first.holds_at(moment) || view.speakers().named(&normalised(other)).is_some() {
        return;
    }
    // The name of the other end is read as its narrator uses it.
    let about = shared::facts_about(known, other, (&first.told_by, ""));
    for second in about.into_iter().rev().take(FACTS) {
        let Some(to) = view.place(second.source).filter(observed) else {
            continue;
        };
        if second.id == first.id || to == over || !second.holds_at(moment) {
            continue;
        }
        let score = HOP * HOP * first.confidence.min(second.confidence).clamp(0.0, 1.0);
        let mut hop = idea((over, to), score, other);
        hop.facts.push(second);
        ideas.add(hop);
    }
}

fn idea((over, place): (usize, usize), score: f32, name: &str) -> Idea {
    Idea {
        place,
        over: Some(over),
        trigger: Trigger::MultiHop,
        reason: format!("leads to {name}, and that to more"),
        score,
        facts: Vec::new(),
        sides: Vec::new(),
    }
}

/// Returns the names that a turn adds: those that are neither in the message nor names of speakers.
fn brought_in(view: &View, heard: &Heard, turn: &Turn) -> Vec<(u32, String)> {
    let said: BTreeSet<u32> = heard.query.words.iter().map(|it| it.term).collect();
    let mut out: Vec<(u32, String)> = Vec::new();
    for name in text::names(&turn.unit.text) {
        let speaker = text::words(name)
            .iter()
            .any(|it| view.speakers().named(&it.to_lowercase()).is_some());
        let Some(stem) = text::stems(name).pop().filter(|_| !speaker) else {
            continue;
        };
        let term = text::sparse::hash(&stem);
        let turns = view.name_turns(term) as usize;
        if !said.contains(&term) && (2..=TURNS_MAX).contains(&turns) && !out.iter().any(|it| it.0 == term) {
            out.push((term, name.to_owned()));
        }
    }
    out.sort_by_key(|it| (view.name_turns(it.0), it.0));
    out.truncate(NAMES);
    out
}

/// Returns the best ranked other turn with a name; otherwise the first turn that has it. Only turns that were observed
/// before `at` count.
fn leads_to(
    view: &View,
    known: Known<'_>,
    ties: &[Tie],
    (from, name): (usize, u32),
    at: DateTime<FixedOffset>,
) -> Option<usize> {
    let holds = |place: usize| {
        let turn = &view.turns()[place];
        let is_inside = known.scope().is_none_or(|it| it.has(turn.unit.id));
        let told = is_inside && turn.unit.observed_at < at && view.marks().tells(turn.unit.id, None);
        told && place != from && turn.names.binary_search(&name).is_ok() && !turn.asks
    };
    let ranked = ties.iter().map(|it| it.place).find(|&it| holds(it));
    ranked.or_else(|| (0..view.turns().len()).find(|&it| holds(it)))
}
