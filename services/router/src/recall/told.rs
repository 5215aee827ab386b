//! Facts that concern a message: standing wishes, facts about the people it names, plans whose time is near, habits,
//! and facts that have changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::fact::{Aspect, Fact};
use domain::id::FactId;
use domain::recall::Trigger;
use domain::time::TimeSpan;
use text::Table;

use super::heard::{Heard, near};
use super::idea::{Idea, Ideas};
use super::shared::{Bears, Shared};
use super::tie::{self, Tie};
use crate::likeness::by_word;
use crate::memory::Known;
use crate::view::{Turn, View};

/// Maximum number of facts from each list.
const EACH: usize = 200;
/// Least value of a word that leads to the facts that contain it.
const TELLING: f32 = 1.0;
/// Number of days before its time in which a plan is near.
const NEAR_DAYS: i64 = 3;

/// Bonus of a fact by its kind, added to the score before the sigmoid.
const WISH: f32 = 1.2;
const PREFERENCE: f32 = 0.7;
const NAMED: f32 = 0.4;
const DUE: f32 = 1.5;

/// Adds the turns of facts that concern the message, most relevant first; `known` is the memory when the message was
/// sent.
pub(super) fn add(
    view: &View,
    (known, shared): (Known<'_>, &Shared<'_>),
    heard: &Heard,
    (ties, at): (&[Tie], DateTime<FixedOffset>),
    ideas: &mut Ideas,
) {
    let mut told: Vec<Idea> = Vec::new();
    for (fact, named) in candidates(view, (known, shared), heard, ties) {
        let which = match shared.fact(&fact) {
            Bears::Nothing => None,
            Bears::One(which) => Some(which),
            Bears::Other => continue,
        };
        let Some(place) = view
            .place(fact.source)
            .filter(|&it| view.turns()[it].unit.observed_at < at)
        else {
            continue;
        };
        let due = is_due(&fact, &view.turns()[place], at);
        let (score, words) = bearing(heard, &fact, named, due);
        if score > 0.0 {
            let (trigger, reason) = woken(heard, &fact, (named, &words), (due, at));
            let reason = [Some(reason), which]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ");
            told.push(Idea {
                place,
                over: None,
                trigger,
                reason,
                score,
                facts: vec![fact],
                sides: Vec::new(),
            });
        }
    }
    told.sort_by(|a, b| b.score.total_cmp(&a.score));
    told.into_iter().for_each(|it| ideas.add(it));
}

/// Returns the facts that may concern the message, each with whether it is about a name in the message. These are the
/// facts of the best turns, of named people and things, those that contain a word of the message, and wishes,
/// preferences, habits and plans.
fn candidates(
    view: &View,
    (known, shared): (Known<'_>, &Shared<'_>),
    heard: &Heard,
    ties: &[Tie],
) -> Vec<(Arc<Fact>, bool)> {
    let mut seen: BTreeSet<FactId> = BTreeSet::new();
    let mut out = Vec::new();
    let mut take = |fact: Arc<Fact>, named: bool| {
        if seen.insert(fact.id) {
            out.push((fact, named));
        }
    };
    for name in &heard.named {
        let about = shared.facts_about(name).into_iter().rev().take(EACH);
        let naming = known.facts_naming(name).into_iter().rev().take(EACH);
        about.chain(naming).for_each(|it| take(it, true));
    }
    for (word, _) in heard.query.words.iter().zip(&heard.worth).filter(|it| *it.1 >= TELLING) {
        known
            .facts_saying(word.term)
            .rev()
            .take(EACH / 4)
            .for_each(|it| take(it, false));
    }
    for aspect in [Aspect::Instruction, Aspect::Preference, Aspect::Habit, Aspect::Plan] {
        known.facts_with(aspect).rev().take(EACH).for_each(|it| take(it, false));
    }
    for tie in ties {
        known
            .facts_from(view.turns()[tie.place].unit.id)
            .for_each(|it| take(it, false));
    }
    out
}

/// Returns true if the time of a plan is near. A plan is valid from when it was stated until the end of its time, which
/// its turn names.
fn is_due(fact: &Fact, turn: &Turn, at: DateTime<FixedOffset>) -> bool {
    if fact.aspect != Aspect::Plan {
        return false;
    }
    let ahead = Some(&fact.valid_from).filter(|it| it.start > fact.recorded_at);
    let due = |it: &TimeSpan| near(it, at, NEAR_DAYS);
    match fact.valid_until {
        None => ahead.is_some_and(due),
        Some(until) => match turn.unit.times.iter().find(|it| it.end == until) {
            Some(named) => due(named),
            None => due(&TimeSpan::instant(until - TimeDelta::microseconds(1))),
        },
    }
}

/// Returns how likely a fact is worth a hint, and the words that it shares with the message; 0 if it shares nothing.
fn bearing(heard: &Heard, fact: &Fact, named: bool, due: bool) -> (f32, Vec<String>) {
    let told = format!("{} {}", fact.predicate, fact.object);
    let stems = text::stems(&told);
    let pieces = Table::builtin().pieces(&told);
    let mut nearest = Vec::new();
    heard.query.likeness.reader().nearest(&pieces, &mut nearest);
    let soft: Vec<f32> = by_word(&heard.query.words, &nearest)
        .map(|(word, like)| if stems.contains(&word.stem) { 1.0 } else { like })
        .collect();
    let dense: f32 = heard
        .query
        .vector
        .iter()
        .zip(Table::builtin().embed(&told))
        .map(|(a, b)| a * b)
        .sum();
    let weighed = tie::weigh(heard, &soft, named, [dense, 0.5 * dense]);
    if weighed.words.is_empty() && !named {
        return (0.0, Vec::new());
    }
    let bonus = match fact.aspect {
        Aspect::Instruction => WISH,
        Aspect::Preference => PREFERENCE,
        Aspect::Plan if due => DUE,
        Aspect::Attribute
        | Aspect::Relation
        | Aspect::Place
        | Aspect::Work
        | Aspect::Plan
        | Aspect::Possession
        | Aspect::Count
        | Aspect::Habit => {
            if named {
                NAMED
            } else {
                0.0
            }
        }
    };
    let words = weighed
        .words
        .iter()
        .map(|&it| heard.query.words[it].stem.clone())
        .collect();
    (tie::worth_saying(&weighed.features, bonus), words)
}

/// Returns the trigger of a fact, and the reason in words.
fn woken(
    heard: &Heard,
    fact: &Fact,
    (named, words): (bool, &[String]),
    (due, at): (bool, DateTime<FixedOffset>),
) -> (Trigger, String) {
    let about = if words.is_empty() {
        fact.object.clone()
    } else {
        super::trigger::written(heard, words)
    };
    let subject = &fact.subject;
    match fact.aspect {
        Aspect::Instruction => (
            Trigger::Preference,
            format!("speaks of {about}, for which a wish stands"),
        ),
        Aspect::Preference => (
            Trigger::Preference,
            format!("speaks of {about}, and {subject} {} {}", fact.predicate, fact.object),
        ),
        Aspect::Plan if due => (Trigger::Time, format!("speaks of {about}, and the time for it is near")),
        Aspect::Habit => (
            Trigger::Pattern,
            format!("speaks of {about}, and {subject} {} {}", fact.predicate, fact.object),
        ),
        Aspect::Place if named => (Trigger::Place, format!("names {subject} or where that is: {about}")),
        Aspect::Attribute
        | Aspect::Relation
        | Aspect::Place
        | Aspect::Work
        | Aspect::Plan
        | Aspect::Possession
        | Aspect::Count => {
            if fact.valid_until.is_some_and(|it| it <= at.to_utc()) {
                (Trigger::State, format!("speaks of {about}, which has changed"))
            } else if named {
                (Trigger::Entity, format!("names {about}, of which something is known"))
            } else {
                (Trigger::Topic, format!("speaks of {about}"))
            }
        }
    }
}
