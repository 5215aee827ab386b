//! Facts that matter to a message: standing wishes, preferences and allergies that it touches, plans whose time is near,
//! and facts about a named person or thing that answer a question of the message.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, TimeDelta};
use domain::fact::{Aspect, Fact};
use domain::id::FactId;
use domain::predicate::Predicate;
use domain::recall::Trigger;
use domain::time::TimeSpan;
use text::EmbeddingTable;
use text::facts::fact_sentence;

use super::hint_candidate::{Idea, Ideas};
use super::relevance;
use crate::recall::message::{RecallMessage, is_time_near};
use crate::recall::overlap::{self, MessageOverlap, SharedWords};
use crate::recall::shared_names::{AmbiguousNames, NameMatch};
use crate::route::similarity::piece_similarity::by_word;
use crate::space::memory::MemoryAsOf;
use crate::space::view::{Turn, View};

/// Maximum number of facts from each list.
const EACH: usize = 200;
/// Minimum value of a word that leads to the facts that contain it.
const TELLING: f32 = 1.0;
/// Number of days before its time in which a plan is near.
const NEAR_DAYS: i64 = 3;

/// Bonus of a fact by its kind, added to the score before the sigmoid.
const WISH: f32 = 1.2;
const PREFERENCE: f32 = 0.7;
const ANSWER: f32 = 0.4;
const DUE: f32 = 1.5;

/// Why a fact matters to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concern {
    /// The fact is a standing wish or an allergy that the message touches.
    Wish,
    /// The fact is a preference that the message touches.
    Preference,
    /// The fact is a plan whose time is near.
    Due,
    /// The fact is about a named person or thing, and the message asks about it.
    Answer,
}

/// A fact that matters to a message.
struct Concerning {
    concern: Concern,
    score: f32,
    /// Stems of the words of the message that the fact contains.
    words: Vec<String>,
}

/// Adds the turns of facts that concern the message, most relevant first; `known` is the memory when the message was
/// sent.
pub(in crate::recall) fn add_fact_ideas(
    view: &View,
    known: MemoryAsOf<'_>,
    shared: &AmbiguousNames<'_>,
    message: &RecallMessage,
    ties: &[MessageOverlap],
    at: DateTime<FixedOffset>,
    ideas: &mut Ideas,
) {
    let mut fact_ideas: Vec<Idea> = Vec::new();
    for (fact, names_subject) in candidate_facts(view, known, shared, message, ties) {
        let which = match shared.compare_fact(&fact) {
            NameMatch::Nothing => None,
            NameMatch::One(which) => Some(which),
            NameMatch::Other => continue,
        };
        let Some(place) = view
            .position_of_unit(fact.source)
            .filter(|&it| view.turns()[it].unit.observed_at < at)
        else {
            continue;
        };
        let due = is_due(&fact, &view.turns()[place], at);
        if let Some(found) = find_concern(message, &fact, names_subject, due, at) {
            let (trigger, reason) = trigger_of_fact(message, &fact, &found, at);
            let reason = [Some(reason), which]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ");
            fact_ideas.push(Idea {
                place,
                trigger,
                reason,
                matters: true,
                score: found.score,
                facts: vec![fact],
                sides: Vec::new(),
            });
        }
    }
    fact_ideas.sort_by(|a, b| b.score.total_cmp(&a.score));
    fact_ideas.into_iter().for_each(|it| ideas.add_idea(it));
}

/// Returns the facts that may concern the message, each with whether it is about a name in the message. These are the
/// facts of the best turns, of named people and things, those that contain a word of the message, and wishes,
/// preferences and plans.
fn candidate_facts(
    view: &View,
    known: MemoryAsOf<'_>,
    shared: &AmbiguousNames<'_>,
    message: &RecallMessage,
    ties: &[MessageOverlap],
) -> Vec<(Arc<Fact>, bool)> {
    let mut listed_ids: BTreeSet<FactId> = BTreeSet::new();
    let mut out = Vec::new();
    let mut take = |fact: Arc<Fact>, names_subject: bool| {
        if listed_ids.insert(fact.id) {
            out.push((fact, names_subject));
        }
    };
    for name in &message.named {
        let about = shared.facts_about(name).into_iter().rev().take(EACH);
        let naming = known.facts_naming(name).into_iter().rev().take(EACH);
        about.chain(naming).for_each(|it| take(it, true));
    }
    for (word, _) in message
        .query
        .words
        .iter()
        .zip(&message.worth)
        .filter(|it| *it.1 >= TELLING)
    {
        known
            .facts_saying(word.term)
            .rev()
            .take(EACH / 4)
            .for_each(|it| take(it, false));
    }
    for aspect in [Aspect::Instruction, Aspect::Preference, Aspect::Plan] {
        known.facts_with(aspect).rev().take(EACH).for_each(|it| take(it, false));
    }
    for tie in ties {
        known
            .facts_from(view.turns()[tie.place].unit.id)
            .for_each(|it| take(it, false));
    }
    out
}

/// Returns true if the time of a plan is near. A plan is valid from the time of its statement until the end of its
/// time, which its turn names.
fn is_due(fact: &Fact, turn: &Turn, at: DateTime<FixedOffset>) -> bool {
    if fact.aspect != Aspect::Plan {
        return false;
    }
    let ahead = Some(&fact.valid_from).filter(|it| it.start > fact.recorded_at);
    let due = |it: &TimeSpan| is_time_near(it, at, NEAR_DAYS);
    match fact.valid_until {
        None => ahead.is_some_and(due),
        Some(until) => match turn.unit.times.iter().find(|it| it.end == until) {
            Some(time_in_turn) => due(time_in_turn),
            None => due(&TimeSpan::from_instant(until - TimeDelta::microseconds(1))),
        },
    }
}

/// Returns the reason why a fact matters to the message; `None` if it does not. A wish, a preference or a plan that is
/// over does not matter. A name that both contain is no reason by itself, but advice for a person takes account of all
/// preferences of that person.
fn find_concern(
    message: &RecallMessage,
    fact: &Fact,
    names_subject: bool,
    due: bool,
    at: DateTime<FixedOffset>,
) -> Option<Concerning> {
    let fact_text = format!("{} {}", fact.predicate, fact.object);
    let weighed = weigh_fact(message, &fact_text, names_subject);
    let exact = relevance::telling_words(message, &fact_text);
    let holds = !fact.withdrawn && fact.valid_until.is_none_or(|it| it > at.to_utc());
    let is_allergy = Predicate::from_verb_phrase(&fact.predicate) == Predicate::IsAllergicTo;
    let advises = names_subject && message.seeks_advice;
    let (concern, bonus, words, applies) = match fact.aspect {
        _ if is_allergy && holds => (Concern::Wish, WISH, weighed.words, advises),
        Aspect::Instruction if holds => (Concern::Wish, WISH, weighed.words, advises),
        Aspect::Preference if holds => (Concern::Preference, PREFERENCE, weighed.words, advises),
        Aspect::Plan if due => (Concern::Due, DUE, exact, false),
        Aspect::Attribute
        | Aspect::Relation
        | Aspect::Place
        | Aspect::Work
        | Aspect::Plan
        | Aspect::Possession
        | Aspect::Count
        | Aspect::Habit
        | Aspect::Instruction
        | Aspect::Preference => {
            let is_name = |at: &usize| {
                let stem = &message.query.words[*at].stem;
                message.named.iter().any(|it| text::stem_words(it).contains(stem))
            };
            let beyond: Vec<usize> = exact.into_iter().filter(|it| !is_name(it)).collect();
            let asks_for_it = names_subject && message.asks;
            (
                Concern::Answer,
                ANSWER,
                if asks_for_it { beyond } else { Vec::new() },
                false,
            )
        }
    };
    let stems = words.iter().map(|&it| message.query.words[it].stem.clone());
    (applies || !words.is_empty()).then(|| Concerning {
        concern,
        score: overlap::worth_saying(&weighed.features, bonus),
        words: stems.collect(),
    })
}

/// Measures what the message shares with the words of a fact.
fn weigh_fact(message: &RecallMessage, fact_text: &str, names_subject: bool) -> SharedWords {
    let stems = text::stem_words(fact_text);
    let pieces = EmbeddingTable::builtin().piece_rows(fact_text);
    let mut nearest = Vec::new();
    message
        .query
        .likeness
        .lock_reader()
        .fill_greatest_similarities(&pieces, &mut nearest);
    let soft: Vec<f32> = by_word(&message.query.words, &nearest)
        .map(|(word, like)| if stems.contains(&word.stem) { 1.0 } else { like })
        .collect();
    let dense: f32 = message
        .query
        .vector
        .iter()
        .zip(EmbeddingTable::builtin().embed_text(fact_text))
        .map(|(a, b)| a * b)
        .sum();
    overlap::measure_shared_words(message, &soft, names_subject, [dense, 0.5 * dense])
}

/// Returns the trigger of a fact, and the reason in words.
fn trigger_of_fact(
    message: &RecallMessage,
    fact: &Fact,
    found: &Concerning,
    at: DateTime<FixedOffset>,
) -> (Trigger, String) {
    let about = match found.words.is_empty() {
        true => fact.subject.clone(),
        false => crate::recall::trigger::words_as_written(message, &found.words),
    };
    match found.concern {
        Concern::Wish if fact.aspect == Aspect::Instruction => (
            Trigger::Preference,
            format!("mentions {about}, and there is a standing wish about it"),
        ),
        Concern::Wish | Concern::Preference => (
            Trigger::Preference,
            format!("mentions {about}, and {}", fact_sentence(fact)),
        ),
        Concern::Due => (Trigger::Time, format!("mentions {about}, and the time for it is near")),
        Concern::Answer if fact.valid_until.is_some_and(|it| it <= at.to_utc()) => {
            (Trigger::State, format!("asks about {about}, which has changed"))
        }
        Concern::Answer => (Trigger::Entity, format!("asks about {about}")),
    }
}
