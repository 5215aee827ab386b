//! What a later turn changes: of two phone numbers the new one holds.

use text::stem;

use super::grade::Grade;
use super::lexis::number;
use super::score::Scored;
use super::spans::Shape;
use crate::lists;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;

/// The later sentence must be about what the other is about.
const ABOUT: f32 = 0.9;
/// ... both about what is asked for
const ASKED: f32 = 0.6;
/// ... and its candidate answer nearly as well.
const FIT: f32 = 1.0;
/// ... unless both are so many of the same: "74 kilos", "down to 68 kilos".
const UNIT_FIT: f32 = 2.5;

/// Finds the best candidate of another time than that of `best` if the later of the two sentences says that something is new or
/// has changed: what holds now and what held before. Only for who asks for one of both.
pub(super) fn other_time<'a>(
    question: &Question,
    pool: &Pool<'_>,
    scored: &'a [Scored],
    best: usize,
) -> Option<&'a Scored> {
    let asks = (question.tense == 0.0 || asks_before(question)) && question.window.is_none();
    if !asks || question.traits.plural || question.traits.converse {
        return None;
    }
    let first = &scored[best];
    let sentence = |it: &Scored| &pool.lines[it.span.line].sentences[it.span.sentence];
    let line = |it: &Scored| &pool.lines[it.span.line];
    let told = |it: &Line<'_>| it.turn.observed_at;
    scored.iter().find(|it| {
        let later = if told(line(it)) > told(line(first)) { it } else { first };
        let holds = |a: &Scored, b: &Scored| b.stems.iter().all(|stem| a.stems.contains(stem));
        let same = holds(it, first) || holds(first, it);
        told(line(it)) != told(line(first))
            && (line(it).own >= 0.0 && line(first).own >= 0.0)
            && (it.grade == Grade::Right && first.grade == Grade::Right)
            && it.fit >= first.fit - if same_unit(it, first) { UNIT_FIT } else { FIT }
            && !same
            && !sentence(it).question
            && sentence(it).cover >= ASKED.max(ABOUT * sentence(first).cover)
            && sentence(first).cover >= ASKED
            && changes(sentence(later))
    })
}

fn same_unit(a: &Scored, b: &Scored) -> bool {
    let unit = |it: &Scored| {
        it.stems
            .last()
            .filter(|_| it.span.shape == Shape::Amount && it.stems.len() > 1)
            .cloned()
    };
    unit(a).is_some() && unit(a) == unit(b)
}

/// "Her old number", "his former boss".
pub(super) fn asks_before(question: &Question) -> bool {
    let old = question.lower.contains(" old ") && !question.lower.contains("how old");
    let before = ["previous ", "former ", "used to "];
    question.recency < 0.0 || old || before.iter().any(|it| question.lower.contains(it))
}

/// Says whether a sentence tells of something new.
pub(super) fn changes(sentence: &Sentence) -> bool {
    let lower = text::gloss::english(&sentence.text).to_lowercase().replace('’', "'");
    let words = text::words(&lower);
    words.iter().any(|it| lists::CHANGED.contains(it)) || CHANGES.iter().any(|it| lower.contains(it)) || turns(&words)
}

/// Words between a verb of change and what comes of it.
const REACH: usize = 7;

/// "Fell from 90 to 14", "was raised to 20".
fn turns(words: &[&str]) -> bool {
    let changes = |it: &&str| lists::CHANGES.contains(stem(it).as_str());
    let figure = |it: &&str| number(it).is_some();
    let becomes = |at: usize| {
        let end = words.len().min(at + REACH);
        words[at..end].windows(2).any(|it| it[0] == "to" && figure(&it[1]))
    };
    (0..words.len()).any(|at| changes(&words[at]) && becomes(at))
}

const CHANGES: &[&str] = &[
    "these days",
    "from now on",
    "went up",
    "went down",
    "gone up",
    "gone down",
    "up to",
    "down to",
    "any more",
    "no longer",
    "is now",
    "stays at",
    "stay at",
    "stayed at",
    "remains at",
];
