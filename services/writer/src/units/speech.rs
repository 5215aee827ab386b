//! Speaker attribution: determines who speaks to whom, and which question a record answers.

use domain::record::{Modality, Record};

/// Number of neighbouring records, on each side, that determine the addressee and the question of a record.
pub(crate) const REACH: usize = 12;

/// Returns the addressee of the record at `at`: the only other speaker nearby, or else the person it calls by name,
/// or else the nearest other speaker before it. Returns an empty text if nobody else speaks, and for actions.
pub(crate) fn find_addressee(window: &[Record], at: usize) -> String {
    let record = &window[at];
    if record.actor.is_empty() || record.modality == Modality::Action {
        return String::new();
    }
    let others = other_speakers(window, at);
    if others.len() < 2 {
        return others.first().map(|it| (*it).to_owned()).unwrap_or_default();
    }
    let called = text::find_vocatives(&record.text)
        .into_iter()
        .find_map(|name| others.iter().find(|it| is_called(it, name)));
    let previous = window[at.saturating_sub(REACH)..at]
        .iter()
        .rev()
        .find(|it| is_speech(it) && it.actor != record.actor)
        .map(|it| it.actor.as_str());
    called.copied().or(previous).unwrap_or_default().to_owned()
}

/// Returns the question of another speaker that the record at `at` answers, or an empty text.
pub(crate) fn answered_question_text(window: &[Record], at: usize) -> String {
    find_answered_question(window, at)
        .map(|(_, question)| question)
        .unwrap_or_default()
}

/// Returns the place of the record whose question the record at `at` answers, and the question: the last one in the
/// run of records by another speaker directly before it. A record that only asks answers nothing, nor does one by a
/// speaker to whom the question is not addressed.
pub(crate) fn find_answered_question(window: &[Record], at: usize) -> Option<(usize, String)> {
    let record = &window[at];
    if !is_speech(record) || text::split_sentences(&record.text).into_iter().all(text::is_question) {
        return None;
    }
    let asker = &window.get(at.checked_sub(1)?)?.actor;
    if *asker == record.actor || asker.is_empty() {
        return None;
    }
    let run = window[at.saturating_sub(3)..at].iter().rev();
    for (back, before) in run.take_while(|it| it.actor == *asker && is_speech(it)).enumerate() {
        if let Some(question) = text::asked_last(&before.text) {
            return for_me(window, at, before).then(|| (at - 1 - back, question.to_owned()));
        }
    }
    None
}

/// Returns false for a question that calls another speaker than the one at `at` by name.
fn for_me(window: &[Record], at: usize, question: &Record) -> bool {
    let (me, others) = (&window[at].actor, other_speakers(window, at));
    let called = text::find_vocatives(&question.text);
    called.iter().any(|it| is_called(me, it))
        || !called.iter().any(|it| others.iter().any(|other| is_called(other, it)))
}

fn other_speakers(window: &[Record], at: usize) -> Vec<&str> {
    let me = window[at].actor.as_str();
    let around = &window[at.saturating_sub(REACH)..window.len().min(at + REACH + 1)];
    let mut out: Vec<&str> = Vec::new();
    for actor in around.iter().filter(|it| is_speech(it)).map(|it| it.actor.as_str()) {
        if actor != me && !out.contains(&actor) {
            out.push(actor);
        }
    }
    out
}

/// Returns true if a record is speech and not an action.
pub(crate) fn is_speech(record: &Record) -> bool {
    record.modality != Modality::Action && !record.actor.is_empty()
}

/// Returns true if `called` is the name, one of its words, or a short form of it ("Mel" for "Melanie Brown").
fn is_called(name: &str, called: &str) -> bool {
    let (name, called) = (name.to_lowercase(), called.to_lowercase());
    let short = called.chars().count() >= 3 && name.starts_with(&called);
    short || name.split_whitespace().any(|it| it == called)
}
