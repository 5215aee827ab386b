//! Statements of the sentence about a candidate: that it is the thing in question, or that it is denied.

use std::ops::Range;

use crate::answer::features::feature_indices;
use crate::answer::spans::Span;
use crate::evidence::line::Sentence;
use crate::evidence::question::Question;
use crate::evidence::word_classes::{Class, classify_word, is_negation};
use crate::word_lists::TURNING_STEMS;

/// Writes two features: whether the sentence says that the candidate is the thing in question (or "has" it, if the
/// question asks for that), and whether the verb of the candidate is denied.
pub(crate) fn write_gap_features(question: &Question, sentence: &Sentence, span: &Span, row: &mut [f32]) {
    let had = question.gap.had && matches!(span.led.as_str(), "has" | "have" | "had" | "got");
    let denied = !question.traits.negated && is_denied(sentence, span);
    row[feature_indices::FILLS] = f32::from(!denied && (had || equates_noun(question, sentence, span)));
    row[feature_indices::DENIED] = f32::from(denied);
}

/// Returns true if the verb of a candidate is denied: in "I don't keep two cats any more, only one", two is denied.
fn is_denied(sentence: &Sentence, span: &Span) -> bool {
    let not = |at: usize| {
        let clause = after_mark(&sentence.text[..at]);
        let words = classed_words(sentence, clause..at).unwrap_or_default();
        let phrase = sentence.pieces.iter().flatten().find(|it| it.range.contains(&at));
        let english = phrase.and_then(|it| it.english.as_deref()).unwrap_or_default();
        english.split(' ').any(is_negation)
            || words
                .iter()
                .rev()
                .take_while(|it| may_precede_verb(it))
                .any(|it| is_negation(&it.1))
    };
    let follows = |at: usize| {
        let words = classed_words(sentence, end_of(&sentence.text, at)..span.start).unwrap_or_default();
        let other = |it: &(Class, String)| matches!(it.1.as_str(), "but" | "only" | "except" | "because");
        let joined = sentence.text[at..span.start].find(MARKS).is_none() && !words.iter().any(other);
        joined && (not(at) || words.iter().any(|it| is_negation(&it.1)))
    };
    verb_offsets(sentence).filter(|it| *it < span.start).any(follows)
}

/// Returns true if the sentence equates the noun in question with the candidate: "the rent is 19 pounds", "the price
/// was cut to 9 euros".
fn equates_noun(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let Some(noun) = &question.gap.equals else { return false };
    let is = |it: &(Class, String)| matches!(it.1.as_str(), "is" | "was" | "are" | "were");
    let follows = |at: usize, end: usize| {
        let words = classed_words(sentence, end..span.start);
        let words = words.as_deref().and_then(<[_]>::split_first);
        words.is_some_and(|(first, rest)| {
            is(first) && rest.iter().all(may_precede_noun)
                || is_change_to_value(first, rest, has_change_verb(&sentence.text[..at]))
        })
    };
    let mut nouns = sentence
        .terms
        .iter()
        .filter(|it| it.stem == *noun && it.start < span.start);
    nouns.any(|it| {
        let end = end_of(&sentence.text, it.start);
        follows(it.start, end)
    })
}

/// Returns true if the words between noun and candidate are a change to a value: "(changed the password) to", "(the
/// password) was changed to".
fn is_change_to_value(first: &(Class, String), rest: &[(Class, String)], turned: bool) -> bool {
    let words = || std::iter::once(first).chain(rest);
    let turns = |it: &(Class, String)| is_turn(&it.1);
    let Some(to) = words().position(|it| it.1 == "to") else {
        return false;
    };
    let opens =
        words().take(to).all(|it| may_precede_verb(it) || turns(it)) && words().skip(to + 1).all(may_precede_noun);
    opens && (turned || words().take(to).any(turns))
}

fn has_change_verb(before: &str) -> bool {
    text::split_words(before)
        .into_iter()
        .any(|it| is_turn(&it.to_lowercase()))
}

/// Returns true if a lower-case word is a verb of changing a value.
fn is_turn(lower: &str) -> bool {
    TURNING_STEMS.contains(text::stem_word(lower).as_str())
}

/// Marks that separate clauses.
const MARKS: [char; 12] = ['.', ';', ':', '!', '?', '(', ')', '"', '…', '—', '–', ','];

/// Returns the byte offset at which the last clause of a text starts.
fn after_mark(text: &str) -> usize {
    let mark = text.char_indices().rev().find(|it| MARKS.contains(&it.1));
    mark.map_or(0, |(at, mark)| at + mark.len_utf8())
}

/// Returns the classes and the lower-case words of a range of a sentence. Words of other languages are in English.
/// Returns `None` if the range contains a mark that separates clauses.
fn classed_words(sentence: &Sentence, range: Range<usize>) -> Option<Vec<(Class, String)>> {
    let text = sentence.text.get(range.clone())?;
    if text.contains(MARKS) {
        return None;
    }
    let classed = |it: &str| {
        let lower = it.to_lowercase().replace('’', "'");
        (classify_word(&lower), lower)
    };
    let Some(pieces) = &sentence.pieces else {
        return Some(text::split_words(text).into_iter().map(classed).collect());
    };
    let inside = pieces
        .iter()
        .filter(|it| it.range.end <= range.end && it.range.end > range.start);
    let words = inside.flat_map(|it| {
        let english = it.english.as_deref().unwrap_or(&sentence.text[it.range.clone()]);
        // In "is called", the range begins after the first word, so only the rest counts.
        let rest = english.split_once(' ').map_or("", |it| it.1);
        let shown = if it.range.start < range.start { rest } else { english };
        shown.split_whitespace().filter(|it| *it != "me")
    });
    Some(words.map(classed).collect())
}

/// Returns the byte offset of the end of the word that starts at `at`.
fn end_of(text: &str, at: usize) -> usize {
    text::split_words(&text[at..])
        .first()
        .map_or(at, |word| word.as_ptr() as usize - text.as_ptr() as usize + word.len())
}

fn verb_offsets(sentence: &Sentence) -> impl Iterator<Item = usize> {
    sentence.hits.iter().filter(|it| it.1).map(|it| it.0)
}

/// Returns true if a word may occur between a subject and its verb.
fn may_precede_verb(word: &(Class, String)) -> bool {
    matches!(word.0, Class::Auxiliary | Class::Filler)
}

/// Returns true if a word may occur before a noun and is no part of its name.
fn may_precede_noun(word: &(Class, String)) -> bool {
    matches!(word.0, Class::Determiner | Class::Filler)
}
