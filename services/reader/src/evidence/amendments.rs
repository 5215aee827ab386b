//! Applies the corrections that a user made to statements by hand. A corrected value replaces the old value in the text
//! of the turn. The sentences of a retracted statement are removed.

use std::borrow::Cow;
use std::cmp::Reverse;

use domain::evidence::{Amendment, Turn};
use domain::message::AnswerV1;

/// Returns the request with all amendments applied to the texts of its turns.
pub(crate) fn amend_request(request: &AnswerV1) -> Cow<'_, AnswerV1> {
    let turns = || request.scenes.iter().flat_map(|it| &it.turns);
    if turns().all(|it| it.amended.is_empty()) {
        return Cow::Borrowed(request);
    }
    let mut request = request.clone();
    for turn in request.scenes.iter_mut().flat_map(|it| &mut it.turns) {
        turn.text = apply_amendments(turn);
    }
    Cow::Owned(request)
}

/// Returns the reason why the answer is a value that its turn does not state. Returns `None` if no correction of the
/// turn concerns the answer.
pub(crate) fn correction_reason(turn: &Turn, answer: &str) -> Option<String> {
    let has_reason = |it: &&Amendment| {
        let now = it.now.as_deref();
        now.is_some_and(|now| now.contains(answer) || answer.contains(now))
    };
    let last = turn.amended.iter().filter(has_reason).max_by_key(|it| it.at)?;
    Some(format!(
        "\"{}\" was corrected on {}",
        last.was,
        last.at.format("%-d %B %Y")
    ))
}

fn apply_amendments(turn: &Turn) -> String {
    let retractions = turn.amended.iter().filter(|it| it.now.is_none());
    let remaining_text = retractions.fold(turn.text.clone(), |text, it| remove_sentences_with(&text, &it.was));
    replace_corrected_values(&remaining_text, &turn.amended)
}

/// Replaces each old value in the text with its corrected value. If old values overlap, the longest one at the first
/// position counts. All replacements are made in one pass, since an inserted value may be the old value of another
/// statement.
fn replace_corrected_values(text: &str, amended: &[Amendment]) -> String {
    let corrected = amended
        .iter()
        .filter_map(|it| Some((it.was.as_str(), it.now.as_deref()?)));
    let mut all: Vec<(usize, usize, &str)> = Vec::new();
    for (was, now) in corrected {
        all.extend(whole_word_offsets(text, was).into_iter().map(|at| (at, was.len(), now)));
    }
    all.sort_by_key(|it| (it.0, Reverse(it.1)));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, length, now) in all {
        if at >= from {
            out.push_str(&text[from..at]);
            out.push_str(now);
            from = at + length;
        }
    }
    out + &text[from..]
}

/// Returns the text without the sentences that contain a value.
fn remove_sentences_with(text: &str, value: &str) -> String {
    if whole_word_offsets(text, value).is_empty() {
        return text.to_owned();
    }
    let remaining = text::split_sentences(text)
        .into_iter()
        .filter(|it| whole_word_offsets(it, value).is_empty());
    remaining.collect::<Vec<&str>>().join(" ")
}

/// Returns the byte offsets at which a value occurs as whole words, in order. In scripts without spaces, a word may be
/// one character, so a letter next to the value does not make it part of a longer word.
fn whole_word_offsets(text: &str, value: &str) -> Vec<usize> {
    let found: Vec<usize> = text.match_indices(value).map(|it| it.0).collect();
    if value.is_empty() || found.is_empty() {
        return Vec::new();
    }
    let words = text::split_words(text);
    let starts = words.iter().map(|it| it.as_ptr() as usize - text.as_ptr() as usize);
    let ranges: Vec<(usize, usize)> = starts.zip(&words).map(|(at, it)| (at, at + it.len())).collect();
    let splits = |at: usize| {
        let beside = [text[..at].chars().next_back(), text[at..].chars().next()];
        let lettered = beside.iter().all(|it| it.is_some_and(char::is_alphanumeric));
        lettered && ranges.iter().any(|it| it.0 < at && at < it.1)
    };
    let is_whole_word = |at: &usize| !splits(*at) && !splits(*at + value.len());
    found.into_iter().filter(is_whole_word).collect()
}
