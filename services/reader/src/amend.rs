//! What was decided by hand about a statement holds for every way to read its turn: a corrected value stands in the text, and
//! what was taken back is not read.

use std::borrow::Cow;

use domain::evidence::{Amendment, Turn};
use domain::message::AnswerV1;

/// Returns the request as it reads with all amendments of its turns.
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

/// Says how an answer comes by a value that its turn does not state; none of an answer about something else.
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
    let amend = |text: String, it: &Amendment| match &it.now {
        None => without(&text, &it.was),
        Some(now) => replaced(&text, &it.was, now),
    };
    turn.amended.iter().fold(turn.text.clone(), amend)
}

/// Puts `now` wherever a value stands.
fn replaced(text: &str, value: &str, now: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for at in places(text, value) {
        out.push_str(&text[from..at]);
        out.push_str(now);
        from = at + value.len();
    }
    out + &text[from..]
}

/// Drops the sentences that hold a value.
fn without(text: &str, value: &str) -> String {
    if places(text, value).next().is_none() {
        return text.to_owned();
    }
    let lacks = |it: &&str| places(it, value).next().is_none();
    text::sentences(text)
        .into_iter()
        .filter(lacks)
        .collect::<Vec<&str>>()
        .join(" ")
}

/// Returns where a value stands as whole words, in order.
fn places<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = usize> {
    let bounded = move |at: &usize| {
        let inside = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        !inside(text[..*at].chars().next_back()) && !inside(text[*at + value.len()..].chars().next())
    };
    text.match_indices(value)
        .map(|it| it.0)
        .filter(|_| !value.is_empty())
        .filter(bounded)
}
