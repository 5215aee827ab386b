//! Changes of a value by a later turn: of two phone numbers, the new one is valid.

use text::stem_word;

use crate::answer::features::grade::Grade;
use crate::answer::selection::score::Scored;
use crate::answer::spans::Shape;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::evidence::word_classes::parse_number;
use crate::word_lists::{CHANGE_PHRASES, CHANGED, CHANGES};

/// Minimum cover of the sentence of the other value, as a share of the cover of the sentence of the best value.
const ABOUT: f32 = 0.9;
/// Minimum cover of both sentences.
const ASKED: f32 = 0.6;
/// Largest difference in fit between the other value and the best value.
const FIT: f32 = 1.0;
/// The same if both values have the same unit: "74 kilos", "down to 68 kilos".
const UNIT_FIT: f32 = 2.5;

/// Returns the best candidate that was said at another time than `best`, if the later of the two sentences says that
/// something is new or has changed. One of the two values is then the present value and the other the former value.
/// Returns `None` if the question asks for several values, for a named time or for neither the present nor the former
/// value.
pub(crate) fn other_time<'a>(
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
    let observation_time = |it: &Line<'_>| it.turn.observed_at;
    scored.iter().find(|it| {
        let later = if observation_time(line(it)) > observation_time(line(first)) {
            it
        } else {
            first
        };
        let holds = |a: &Scored, b: &Scored| b.stems.iter().all(|stem| a.stems.contains(stem));
        let same = holds(it, first) || holds(first, it);
        observation_time(line(it)) != observation_time(line(first))
            && (line(it).own >= 0.0 && line(first).own >= 0.0)
            && (it.grade == Grade::Right && first.grade == Grade::Right)
            && it.fit >= first.fit - if same_unit(it, first) { UNIT_FIT } else { FIT }
            && !same
            && !sentence(it).question
            && sentence(it).cover >= ASKED.max(ABOUT * sentence(first).cover)
            && sentence(first).cover >= ASKED
            && mentions_change(sentence(later))
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

/// Returns true if the question asks for a former value: "her old number", "his former boss".
pub(crate) fn asks_before(question: &Question) -> bool {
    let old = question.lower.contains(" old ") && !question.lower.contains("how old");
    let before = ["previous ", "former ", "used to "];
    question.recency < 0.0 || old || before.iter().any(|it| question.lower.contains(it))
}

/// Returns true if a sentence mentions a new or changed value.
pub(crate) fn mentions_change(sentence: &Sentence) -> bool {
    let lower = text::gloss::to_english(&sentence.text).to_lowercase().replace('’', "'");
    let words = text::split_words(&lower);
    words.iter().any(|it| CHANGED.contains(it))
        || CHANGE_PHRASES.iter().any(|it| lower.contains(it))
        || has_change_to_figure(&words)
}

/// Number of words after a verb of change that are searched for the new value.
const REACH: usize = 7;

/// Returns true if the words contain a change to a figure: "fell from 90 to 14", "was raised to 20".
fn has_change_to_figure(words: &[&str]) -> bool {
    let changes = |it: &&str| CHANGES.contains(stem_word(it).as_str());
    let figure = |it: &&str| parse_number(it).is_some();
    let becomes = |at: usize| {
        let end = words.len().min(at + REACH);
        words[at..end].windows(2).any(|it| it[0] == "to" && figure(&it[1]))
    };
    (0..words.len()).any(|at| changes(&words[at]) && becomes(at))
}
