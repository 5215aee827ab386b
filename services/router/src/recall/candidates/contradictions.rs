//! Statements of a message that contradict the memory (MemCog, section 3.4).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use domain::fact::{Aspect, Fact};
use domain::message::RecallV1;
use domain::predicate::Predicate;
use domain::recall::Trigger;
use text::facts::{Statement, Subject, Telling, fact_sentence, stated_in_reply};

use super::hint_candidate::{Idea, Ideas};
use crate::recall::message::RecallMessage;
use crate::recall::shared_names;
use crate::space::memory::MemoryAsOf;
use crate::space::view::View;

/// Maximum number of facts of a subject that are compared with each statement, newest first.
const FACTS: usize = 200;
/// Share of the stems of the shorter value that two values must have in common to count as the same.
const SAME: f32 = 0.5;
/// Score of a contradiction if both sides are certain.
const SCORE: f32 = 0.97;

/// Adds the facts that the message contradicts, each with both statements.
pub(in crate::recall) fn add_contradictions(
    view: &View,
    known: MemoryAsOf<'_>,
    message: &RecallMessage,
    request: &RecallV1,
    ideas: &mut Ideas,
) {
    let telling = Telling {
        text: &message.text,
        speaker: &request.actor,
        addressee: "",
        observed_at: request.at,
    };
    for statement in stated_in_reply(&telling, find_answered_question(view, known, request)) {
        for fact in of_subject(known, &statement, &request.actor, &message.text) {
            let place = view
                .position_of_unit(fact.source)
                .filter(|&it| view.turns()[it].unit.observed_at < request.at);
            if let Some(place) = place
                && holds_or_is_planned(&fact, request.at)
                && is_contradiction(&statement, &fact)
            {
                ideas.add_idea(contradiction_idea(place, &statement, fact, request));
            }
        }
    }
}

/// Returns the question that the message answers: the last question of the turn right before it in its session, if
/// another speaker asked it.
fn find_answered_question<'a>(view: &'a View, known: MemoryAsOf<'_>, request: &RecallV1) -> &'a str {
    let turns = view.turns();
    let session = view
        .session_ranges()
        .iter()
        .find(|it| turns.get(it.start).map(|it| it.unit.session) == request.session);
    let places = session.filter(|_| request.session.is_some()).cloned();
    let before = places
        .unwrap_or_default()
        .rev()
        .find(|&it| turns[it].unit.observed_at < request.at);
    let before = before
        .map(|it| &turns[it].unit)
        .filter(|it| *it.actor != *request.actor);
    let before = before.filter(|it| known.scope().is_none_or(|scope| scope.has_turn(it.id)));
    before.and_then(|it| text::asked_last(it.text())).unwrap_or_default()
}

/// Returns the newest facts about the subject of a statement.
fn of_subject(known: MemoryAsOf<'_>, statement: &Statement, actor: &str, text: &str) -> Vec<Arc<Fact>> {
    let about = match &statement.subject {
        Subject::Speaker => known.facts_about(actor),
        Subject::Name(name) => shared_names::facts_about(known, name, actor, text),
        Subject::Phrase(phrase) => {
            let bare = phrase.to_lowercase();
            let role = bare
                .strip_prefix("my ")
                .or_else(|| bare.strip_prefix("our "))
                .unwrap_or(&bare);
            known.facts_about(&format!("{actor}'s {role}"))
        }
    };
    about.into_iter().rev().take(FACTS).collect()
}

/// Returns true if a fact holds when the message is sent, or is a plan without an end, since plans begin in the future.
fn holds_or_is_planned(fact: &Fact, at: DateTime<FixedOffset>) -> bool {
    fact.holds_at(at.to_utc()) || fact.aspect == Aspect::Plan && fact.valid_until.is_none() && !fact.withdrawn
}

/// Returns true if a statement and a fact about the same subject cannot both be true: one negates the value of the
/// other, or they give two values where only one is possible.
fn is_contradiction(statement: &Statement, fact: &Fact) -> bool {
    let same = is_same_value(&statement.object, &fact.object);
    let says = statement.positive && !statement.ended;
    if same {
        let kin =
            verb_stem(&statement.predicate) == verb_stem(&fact.predicate) || statement.aspect == Aspect::Preference;
        return statement.aspect == fact.aspect && kin && says != is_affirmative(&fact.predicate);
    }
    let predicate = Predicate::from_verb_phrase(&statement.predicate);
    // All values except a job must be names: "a small flat" is not another town.
    let are_names = [&statement.object, &fact.object].into_iter().all(|it| has_name(it));
    let comparable = are_names || predicate == Predicate::WorksAs;
    says && statement.predicate == fact.predicate && predicate.is_single() && comparable
}

fn has_name(value: &str) -> bool {
    text::split_words(value)
        .iter()
        .any(|it| it.starts_with(char::is_uppercase))
}

/// Returns true if two values count as the same: half the stems of the shorter one occur in the other.
fn is_same_value(a: &str, b: &str) -> bool {
    let stems = |it: &str| text::stem_words(it).into_iter().collect::<BTreeSet<String>>();
    let (a, b) = (stems(a), stems(b));
    let both = a.intersection(&b).count() as f32;
    both > 0.0 && both >= SAME * a.len().min(b.len()) as f32
}

/// Returns true if a predicate is not negated.
fn is_affirmative(predicate: &str) -> bool {
    let mut words = predicate.split_ascii_whitespace();
    !words.any(|it| {
        matches!(
            it,
            "not" | "never" | "no" | "dislikes" | "hates" | "avoids" | "can't" | "cannot"
        )
    })
}

/// Returns the stem of the verb of a predicate, without a negation.
fn verb_stem(predicate: &str) -> String {
    let words = predicate.split_ascii_whitespace();
    let mut content = words.filter(|it| !matches!(*it, "does" | "do" | "did" | "not" | "never" | "no" | "longer"));
    content.next().map(text::stem_word).unwrap_or_default()
}

fn contradiction_idea(place: usize, statement: &Statement, fact: Arc<Fact>, request: &RecallV1) -> Idea {
    let who = match &statement.subject {
        Subject::Speaker => &request.actor,
        Subject::Name(name) | Subject::Phrase(name) => name,
    };
    let ours = fact_sentence(&*fact);
    let theirs = format!("{who} {} {}", statement.predicate, statement.object);
    Idea {
        place,
        trigger: Trigger::Contradiction,
        reason: format!("says \"{theirs}\", but \"{ours}\" is known"),
        matters: true,
        score: SCORE * statement.confidence.min(fact.confidence).clamp(0.5, 1.0),
        facts: vec![fact],
        sides: vec![theirs, ours],
    }
}
