//! Discourse markers: words at the start of a turn that state its relation to the preceding text. English only.

use std::collections::HashSet;

use domain::relation::RelationKind;

use crate::segments::marker_tables::{CONTINUING_PRONOUNS, MARKERS, Marker, REASON_QUESTIONS};
use crate::word_lists::{
    ANAPHORS, ATTENTION_CALLS, DENIALS, DETAIL_QUESTIONS, DISLIKES, LIKES, MARKER_FILLERS, PLAIN_QUESTION_VERBS,
    POLITE_DENIALS, QUESTION_INTRODUCTIONS,
};

/// Returns the marker at the beginning of the text, after at most one sentence of one or two words ("Yes. But ...").
pub(crate) fn find_marker(text: &str) -> Option<&'static Marker> {
    let head = &text[..text.floor_char_boundary(400)];
    let sentences = text::split_sentences(head);
    let short = sentences.first().is_some_and(|it| text::split_words(it).len() <= 2);
    let open = sentences.into_iter().take(if short { 2 } else { 1 });
    open.filter(|it| !text::is_question(it)).find_map(in_sentence)
}

/// Returns the relation of the answer to the subject of the question, if the question asks for a cause or motive.
pub(crate) fn asked_relation_kind(question: &str) -> Option<RelationKind> {
    let lower = question.to_lowercase().replace('\u{2019}', "'");
    let bare = strip_introduction(&lower);
    REASON_QUESTIONS
        .iter()
        .find(|it| starts_with_phrase(bare, it.phrase))
        .map(|it| it.kind)
}

/// Returns true if the question asks for a detail: who, what, when, how many.
pub(crate) fn asks_detail(question: &str) -> bool {
    let lower = question.to_lowercase().replace('\u{2019}', "'");
    let bare = strip_introduction(&lower);
    DETAIL_QUESTIONS.iter().any(|it| starts_with_phrase(bare, it))
}

/// Returns true if the question refers to text before it.
pub(crate) fn is_anaphoric(question: &str) -> bool {
    let pointed = question
        .trim_end_matches(|it: char| !it.is_alphanumeric())
        .to_lowercase();
    pointed.ends_with(" that") || has_word(question, &ANAPHORS)
}

/// Returns true if a sentence is a question without a question mark: "is it flat".
pub(crate) fn asks_plainly(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    PLAIN_QUESTION_VERBS.iter().any(|it| starts_with_phrase(&lower, it))
}

/// Returns true if the text begins with a pronoun that can refer to something in `before`.
pub(crate) fn takes_up(text: &str, before: &str) -> bool {
    let lower = |it: &str| {
        it[..it.floor_char_boundary(600)]
            .to_lowercase()
            .replace('\u{2019}', "'")
    };
    let (text, before) = (lower(text), lower(before));
    let words_before: Vec<&str> = before
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let bare = strip_fillers(&text);
    let found = CONTINUING_PRONOUNS.iter().find(|it| {
        let own = bare
            .strip_prefix(it.pronoun)
            .map(|it| it.strip_prefix("'s").unwrap_or(it));
        own.is_some_and(|it| it.starts_with(' '))
    });
    found.is_some_and(|found| {
        let antecedents = found.antecedents.as_slice();
        let other = CONTINUING_PRONOUNS
            .iter()
            .find(|it| it.pronoun != found.pronoun && !it.antecedents.is_empty() && !antecedents.is_empty());
        let has = |words: &[&str]| words_before.iter().any(|it| words.contains(it));
        let fits = antecedents.is_empty() || has(antecedents) || !other.is_some_and(|it| has(&it.antecedents));
        fits && words_before.len() >= 5 && !bare.starts_with("it's my")
    })
}

/// Returns the refusal at the beginning of a text, which is its first sentence if that begins with "no" or "not".
pub(crate) fn find_refusal(text: &str) -> Option<&str> {
    let first = text::split_sentences(&text[..text.floor_char_boundary(400)])
        .into_iter()
        .next()?;
    let lower = first.to_lowercase();
    let denies = starts_with_phrase(&lower, "no") || starts_with_phrase(&lower, "not");
    let refuses = denies && !has_word(first, &POLITE_DENIALS);
    refuses.then_some(first)
}

/// Returns true if the text contains a denial.
pub(crate) fn has_denial(text: &str) -> bool {
    has_word(text, &DENIALS)
}

/// Returns whether a sentence expresses liking (true) or disliking (false), or none if it is neither or both.
pub(crate) fn read_liking(sentence: &str) -> Option<bool> {
    let (likes, dislikes, denies) = (
        has_word(sentence, &LIKES),
        has_word(sentence, &DISLIKES),
        has_denial(sentence),
    );
    match (likes, dislikes) {
        (true, false) => Some(!denies),
        (false, true) if !denies => Some(false),
        (false, true) | (true, true) | (false, false) => None,
    }
}

fn has_word(text: &str, words: &HashSet<&'static str>) -> bool {
    let lower = text[..text.floor_char_boundary(600)]
        .to_lowercase()
        .replace('\u{2019}', "'");
    lower
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .any(|it| words.contains(it))
}

/// Returns the lower-case question without introductory words.
fn strip_introduction(lower: &str) -> &str {
    let bare = strip_fillers(lower);
    let parts = bare.split_once(' ');
    let is_introduced = |it: &(&str, &str)| QUESTION_INTRODUCTIONS.contains(it.0);
    parts.filter(is_introduced).map_or(bare, |it| it.1)
}

/// Returns the lower-case sentence without small words at its beginning.
fn strip_fillers(lower: &str) -> &str {
    let mut rest = lower.trim_start();
    for _ in 0..2 {
        let word = rest.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
        if MARKER_FILLERS.contains(word) {
            rest = rest[word.len()..].trim_start_matches(|it: char| !it.is_alphanumeric());
        }
    }
    rest
}

fn starts_with_phrase(rest: &str, marker: &str) -> bool {
    rest.strip_prefix(marker)
        .is_some_and(|it| !it.chars().next().is_some_and(|it| it.is_alphanumeric() || it == '\''))
}

fn in_sentence(sentence: &str) -> Option<&'static Marker> {
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let rest = strip_fillers(&lower);
    let marker = MARKERS.iter().find(|it| starts_with_phrase(rest, it.phrase))?;
    let next = rest[marker.phrase.len()..]
        .split(|it: char| !it.is_alphanumeric())
        .find(|it| !it.is_empty());
    let calls = marker.phrase == "but" && next.is_some_and(|it| ATTENTION_CALLS.contains(it));
    let is_alone = next.is_none() && !marker.points_back;
    (!calls && !is_alone).then_some(marker)
}
