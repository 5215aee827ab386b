//! How a candidate stands to the gap of the question: right before its verb, behind its last words, or as the one a pronoun
//! means.

use super::lexis::{Class, class};
use super::spans::{Shape, Span};
use super::traits::flag;
use crate::pool::{Line, Sentence};
use crate::question::Question;

/// Number of values that [`fills`] gives.
pub(super) const FILLS: usize = 3;

/// Says how a candidate fills the gap: `agent`, it does what the verb says; `tail`, it follows the words that the question ends
/// with; `stands_for`, it is whom a pronoun that does it in the next sentence means.
pub(super) fn fills(question: &Question, line: &Line<'_>, span: &Span) -> [f32; FILLS] {
    let sentence = &line.sentences[span.sentence];
    let tail = flag(behind_tail(question, sentence, span));
    if !question.gap.agent {
        return [0.0, tail, 0.0];
    }
    let does = before_verb(sentence, span) || by(sentence, span);
    [flag(does), tail, flag(!does && stands_for(line, span))]
}

/// Returns the classes and the words of a stretch of a sentence; none if a mark stands in it.
fn between(text: &str) -> Option<Vec<(Class, String)>> {
    if text.contains(['.', ';', ':', '!', '?', '(', ')', '"', '…', '—', '–', ',']) {
        return None;
    }
    let classed = |it: &str| {
        let lower = it.to_lowercase().replace('’', "'");
        (class(it, &lower, false), lower)
    };
    Some(text::words(text).into_iter().map(classed).collect())
}

/// Returns where the word that starts at `at` ends.
fn end_of(text: &str, at: usize) -> usize {
    text::words(&text[at..])
        .first()
        .map_or(at, |word| word.as_ptr() as usize - text.as_ptr() as usize + word.len())
}

fn verbs(sentence: &Sentence) -> impl Iterator<Item = usize> {
    sentence.hits.iter().filter(|it| it.1).map(|it| it.0)
}

/// "Repaired by Ann".
fn by(sentence: &Sentence, span: &Span) -> bool {
    let follows = |at: usize| {
        let words = (at <= span.start)
            .then(|| between(&sentence.text[at..span.start]))
            .flatten();
        words.is_some_and(|it| {
            it.first().is_some_and(|it| it.1 == "by") && it[1..].iter().all(|it| it.0 == Class::Determiner)
        })
    };
    verbs(sentence).map(|it| end_of(&sentence.text, it)).any(follows)
}

fn before_verb(sentence: &Sentence, span: &Span) -> bool {
    let small = |it: &(Class, String)| matches!(it.0, Class::Auxiliary | Class::Filler) || relative(&it.1);
    verbs(sentence)
        .filter(|it| *it >= span.end)
        .any(|it| between(&sentence.text[span.end..it]).is_some_and(|it| it.iter().all(small)))
}

fn relative(lower: &str) -> bool {
    matches!(lower, "who" | "that" | "which")
}

fn behind_tail(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let Some((word, preposition)) = &question.gap.tail else {
        return false;
    };
    if matches!(span.shape, Shape::Action | Shape::Reason | Shape::Clause) {
        return false;
    }
    let follows = |at: usize| {
        let words = between(&sentence.text[end_of(&sentence.text, at)..span.start]);
        words.is_some_and(|it| match it.as_slice() {
            [(_, first), rest @ ..] => {
                first == preposition && rest.iter().all(|it| matches!(it.0, Class::Determiner | Class::Filler))
            }
            [] => false,
        })
    };
    let mut ends = sentence.terms.iter().filter(|it| it.stem == *word);
    ends.any(|it| it.start < span.start && end_of(&sentence.text, it.start) <= span.start && follows(it.start))
}

/// "Ludvik plays in the park. He also repaired it": the name that the sentence before opens with.
fn stands_for(line: &Line<'_>, span: &Span) -> bool {
    let Some(next) = line.sentences.get(span.sentence + 1) else {
        return false;
    };
    let does = |at: usize| {
        let words = between(&next.text[..at]).unwrap_or_default();
        let mut back = words
            .iter()
            .rev()
            .skip_while(|it| matches!(it.0, Class::Auxiliary | Class::Filler));
        back.next()
            .is_some_and(|it| matches!(it.1.as_str(), "he" | "she" | "they" | "he's" | "she's" | "they've"))
    };
    span.shape == Shape::Name && span.start == 0 && verbs(next).any(does)
}
