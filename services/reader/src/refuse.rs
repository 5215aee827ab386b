//! When there is no answer: the evidence is of somebody or something else, or says nothing of what is asked.

use domain::anchor::AnswerKind;
use domain::evidence::{NearMiss, Sufficiency, Verdict};
use domain::message::AnsweredV1;
use text::gloss;

use crate::answer::Found;
use crate::judge::{Case, Detail};
use crate::pool::{Line, Pool};
use crate::question::Question;
use crate::rank;

/// A window that covers less of the question than this has nothing to do with it.
const NOTHING: f32 = 0.2;
/// ... or less than this, if no word of the question was ever said and it is about nobody who speaks.
const NOTHING_NEAR: f32 = 0.4;
/// A time whose turn and neighbours cover less than this of the question is the time of something else.
const BESIDE: f32 = 0.15;
/// Characters of a near miss that are shown.
const SHOWN: usize = 200;

/// Refuses where the evidence as a whole does not support an answer.
pub(crate) fn refuse(case: &Case<'_>) -> Option<AnsweredV1> {
    let Case {
        request,
        question,
        pool,
        judgement,
        opinion,
    } = case;
    // "Hi" asks for nothing; a person or a time alone may.
    let asks = !question.words.is_empty() || question.subject.is_some() || question.window.is_some();
    if !asks && question.identity.is_none() && request.anchors.names.is_empty() {
        return Some(refused("the question names nothing to look for", Vec::new()));
    }
    let nothing_known = !question.words.is_empty() && question.words.iter().all(|it| !it.known);
    let least = if question.subject.is_some() {
        NOTHING
    } else {
        NOTHING_NEAR
    };
    if judgement.parts.cover < least && nothing_known {
        return Some(refused(
            "nothing on this is remembered",
            misses(pool, &pool.by_order, "weak"),
        ));
    }
    if let Some(detail) = &judgement.excluded {
        return Some(differs(pool, question, detail));
    }
    // Who asks where somebody was last week gives no word that another could own.
    if question.only_when() {
        let then = |it: &Line<'_>| question.may_say(&it.turn.actor) && rank::dated(it.turn, request) > 0.0;
        let nothing = || {
            refused(
                "nothing is remembered of that time",
                misses(pool, &pool.by_height, "weak"),
            )
        };
        return (!pool.lines.iter().any(then)).then(nothing);
    }
    // Who owns a sentence is told by pronouns; in a language without known ones nobody is refused for that.
    if !gloss::is_known(&request.question) {
        return None;
    }
    if !opinion.refuse {
        return None;
    }
    if let (Some(subject), true) = (&question.subject, opinion.others > opinion.lacking.max(0.0)) {
        let others: Vec<usize> = pool
            .by_height
            .iter()
            .copied()
            .filter(|&it| pool.lines[it].own < 0.0)
            .collect();
        return Some(of_others(subject, pool, &others));
    }
    if let Some(detail) = &judgement.changed {
        return Some(differs(pool, question, detail));
    }
    Some(refused(
        "nothing that is remembered fits the question well enough",
        misses(pool, &pool.by_height, "weak"),
    ))
}

/// Says whether neither the turn of a time nor one beside it speaks of what is asked.
pub(crate) fn is_beside(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let covers = |line: &usize| {
        let around = pool.window(*line, 1, 1).into_iter();
        around.map(|it| pool.lines[it].cover).fold(0.0, f32::max)
    };
    let cover = found.lines.iter().map(covers).fold(0.0, f32::max);
    let untimed = question.kind == AnswerKind::When && !question.words.is_empty() && cover < BESIDE;
    untimed
        || is_unspoken(question, pool, found)
        || is_undone(question, pool, found)
        || is_unnamed(question, pool, found)
}

/// A verb less like that of the question is another.
const UNLIKE: f32 = 0.3;
/// Verbs that are told in many other words, by stem.
const OPEN: [&str; 12] = [
    "give", "come", "go", "get", "make", "take", "pass", "turn", "put", "have", "keep", "be",
];

/// Says whether the one thing whose time is asked for is spoken of nowhere near a time: a first day at work is no birthday.
fn is_unspoken(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let thing = match question.words.as_slice() {
        [only] => !only.verb && !only.specific,
        _ => false,
    };
    let said = |line: &usize| {
        pool.window(*line, 2, 1)
            .into_iter()
            .any(|it| pool.lines[it].matches[0] >= UNLIKE)
    };
    question.kind == AnswerKind::When && thing && !found.lines.iter().any(said)
}

/// Says whether who is asked for by what they did is taken from turns that speak of no such thing.
fn is_undone(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let verb = question
        .words
        .iter()
        .position(|it| it.verb && it.known && !OPEN.contains(&it.stem.as_str()));
    let Some(verb) = verb.filter(|_| question.kind == AnswerKind::Who && question.gap.agent) else {
        return false;
    };
    let said = |line: &usize| {
        pool.window(*line, 2, 2)
            .into_iter()
            .any(|it| pool.lines[it].matches[verb] >= UNLIKE)
    };
    !found.lines.iter().any(said)
}

/// Says whether what is told of somebody who never speaks is taken from turns that do not name them.
fn is_unnamed(question: &Question, pool: &Pool<'_>, found: &Found) -> bool {
    let tokens = text::words(&question.lower);
    let does = |stem: &str| {
        tokens
            .windows(2)
            .any(|it| text::is_auxiliary(it[0]) && text::stem(it[1]) == stem)
    };
    let name = question
        .words
        .iter()
        .position(|it| it.specific && it.known && does(&it.stem));
    // The user of an assistant may be the one, and is hardly ever named.
    let user = question.speakers.iter().any(|it| text::role::is_user(it));
    let open = !matches!(question.kind, AnswerKind::When | AnswerKind::YesNo);
    let Some(name) = name.filter(|_| open && question.subject.is_none() && !user) else {
        return false;
    };
    let said = |line: &usize| {
        pool.window(*line, 4, 2)
            .into_iter()
            .any(|it| pool.lines[it].matches[name] >= 1.0)
    };
    !found.lines.iter().any(said)
}

pub(crate) fn of_others(subject: &str, pool: &Pool<'_>, lines: &[usize]) -> AnsweredV1 {
    let reason = format!("what is remembered of this is about somebody else, not about {subject}");
    refused(&reason, misses(pool, lines, "said_by_other"))
}

fn differs(pool: &Pool<'_>, question: &Question, detail: &Detail) -> AnsweredV1 {
    let subject = question.subject.as_deref();
    let of = subject.map(|it| format!(" of {it}")).unwrap_or_default();
    let (found, asked) = (&detail.found, &detail.asked);
    let reason = format!("what is remembered{of} says \"{found}\" where \"{asked}\" was asked");
    refused(&reason, misses(pool, &[detail.line], "detail_differs"))
}

pub(crate) fn misses(pool: &Pool<'_>, lines: &[usize], reason: &str) -> Vec<NearMiss> {
    lines
        .iter()
        .take(2)
        .map(|&it| near_miss(&pool.lines[it], reason))
        .collect()
}

fn near_miss(line: &Line<'_>, reason: &str) -> NearMiss {
    let turn = line.turn;
    let shown = if turn.text.is_empty() {
        &turn.caption
    } else {
        &turn.text
    };
    NearMiss {
        unit: turn.unit,
        external_ids: turn.external_ids.clone(),
        text: shown.chars().take(SHOWN).collect(),
        reason: reason.to_owned(),
    }
}

/// Shows the evidence without an answer: it may hold it.
pub(crate) fn withheld(reason: String) -> AnsweredV1 {
    let verdict = Verdict {
        status: Sufficiency::Partial,
        reasons: vec![reason],
        nearest: Vec::new(),
    };
    AnsweredV1::new(verdict, None)
}

pub(crate) fn refused(reason: &str, nearest: Vec<NearMiss>) -> AnsweredV1 {
    let verdict = Verdict {
        status: Sufficiency::Insufficient,
        reasons: vec![reason.to_owned()],
        nearest,
    };
    AnsweredV1::new(verdict, None)
}
