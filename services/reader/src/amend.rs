//! Applies the corrections that a user made to statements by hand. A corrected value replaces the old value in the text
//! of the turn. The sentences of a retracted statement are removed.

use std::borrow::Cow;
use std::cmp::Reverse;

use domain::evidence::{Amendment, Turn};
use domain::message::AnswerV1;

/// Returns the request with all amendments applied to the texts of its turns.
pub(crate) fn amended(request: &AnswerV1) -> Cow<'_, AnswerV1> {
    let turns = || request.scenes.iter().flat_map(|it| &it.turns);
    if turns().all(|it| it.amended.is_empty()) {
        return Cow::Borrowed(request);
    }
    let mut request = request.clone();
    for turn in request.scenes.iter_mut().flat_map(|it| &mut it.turns) {
        turn.text = read(turn);
    }
    Cow::Owned(request)
}

/// Returns the reason why the answer is a value that its turn does not state. Returns `None` if no correction of the
/// turn concerns the answer.
pub(crate) fn reason(turn: &Turn, answer: &str) -> Option<String> {
    let said = |it: &&Amendment| {
        let now = it.now.as_deref();
        now.is_some_and(|now| now.contains(answer) || answer.contains(now))
    };
    let last = turn.amended.iter().filter(said).max_by_key(|it| it.at)?;
    Some(format!(
        "\"{}\" was corrected on {}",
        last.was,
        last.at.format("%-d %B %Y")
    ))
}

fn read(turn: &Turn) -> String {
    let gone = turn.amended.iter().filter(|it| it.now.is_none());
    let kept = gone.fold(turn.text.clone(), |text, it| without(&text, &it.was));
    replaced(&kept, &turn.amended)
}

/// Replaces each old value in the text with its corrected value. If old values overlap, the longest one at the first
/// position counts. All replacements are made in one pass, since an inserted value may be the old value of another
/// statement.
fn replaced(text: &str, amended: &[Amendment]) -> String {
    let corrected = amended
        .iter()
        .filter_map(|it| Some((it.was.as_str(), it.now.as_deref()?)));
    let mut all: Vec<(usize, usize, &str)> = Vec::new();
    for (was, now) in corrected {
        all.extend(places(text, was).into_iter().map(|at| (at, was.len(), now)));
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
fn without(text: &str, value: &str) -> String {
    if places(text, value).is_empty() {
        return text.to_owned();
    }
    let kept = text::sentences(text)
        .into_iter()
        .filter(|it| places(it, value).is_empty());
    kept.collect::<Vec<&str>>().join(" ")
}

/// Returns the byte offsets at which a value occurs as whole words, in order. In scripts without spaces, a word may be
/// one character, so a letter next to the value does not make it part of a longer word.
fn places(text: &str, value: &str) -> Vec<usize> {
    let found: Vec<usize> = text.match_indices(value).map(|it| it.0).collect();
    if value.is_empty() || found.is_empty() {
        return Vec::new();
    }
    let words = text::words(text);
    let starts = words.iter().map(|it| it.as_ptr() as usize - text.as_ptr() as usize);
    let ranges: Vec<(usize, usize)> = starts.zip(&words).map(|(at, it)| (at, at + it.len())).collect();
    let splits = |at: usize| {
        let beside = [text[..at].chars().next_back(), text[at..].chars().next()];
        let lettered = beside.iter().all(|it| it.is_some_and(char::is_alphanumeric));
        lettered && ranges.iter().any(|it| it.0 < at && at < it.1)
    };
    let whole = |at: &usize| !splits(*at) && !splits(*at + value.len());
    found.into_iter().filter(whole).collect()
}
