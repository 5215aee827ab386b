//! Relations between actions, the responses of the environment, and the requests behind them.

use std::collections::BTreeSet;

use domain::record::{Modality, Record};
use domain::relation::RelationKind;
use domain::unit::StateChange;

use super::{Link, Told};
use crate::{act, marker, speech, state};

/// Maximum length of the text that is searched for names of things, in bytes.
const BYTES_MAX: usize = 2_000;

/// Returns the relation of the action or response at `one` to the later one at `other`.
pub(super) fn link(told: &Told<'_>, one: usize, other: usize) -> Option<Link> {
    answered(told, one, other)
        .or_else(|| wanted(told, one, other))
        .or_else(|| enabled(told, one, other))
        .or_else(|| continued(told, one, other))
}

/// Returns the relation of an action to the response directly after it: `Causes` if the response reports a change,
/// otherwise `FollowsUp`.
fn answered(told: &Told<'_>, one: usize, other: usize) -> Option<Link> {
    let (deed, answer) = (&told.records[one], &told.records[other]);
    let fits = one + 1 == other && is_deed(told, one) && act::is_voice(answer) && deed.actor != answer.actor;
    fits.then(|| {
        let changed = !only_looks(&deed.text) && tells_a_change(&answer.text);
        let kind = if changed {
            RelationKind::Causes
        } else {
            RelationKind::FollowsUp
        };
        Link::new(one, kind, other, 90)
    })
}

/// Returns the relation of the last request before an action to that action: it is the motive.
fn wanted(told: &Told<'_>, one: usize, other: usize) -> Option<Link> {
    let (wish, deed) = (&told.records[one], &told.records[other]);
    let fits =
        one + 1 == other && is_deed(told, other) && speech::says(wish) && !act::is_world(wish) && !is_deed(told, one);
    (fits && wish.actor != deed.actor).then(|| Link::new(one, RelationKind::Motivates, other, 85))
}

/// Returns a relation if the action at `other` uses a thing that the record at `one` opened, got or made, or was the
/// first to name.
fn enabled(told: &Told<'_>, one: usize, other: usize) -> Option<Link> {
    let (source, deed) = (&told.records[one], &told.records[other]);
    if !is_deed(told, other) || !act::is_world(source) {
        return None;
    }
    let shown = act::shown(deed);
    let call = head(shown.split(" -> ").next().unwrap_or_default()).to_lowercase();
    let usable = |it: &StateChange| {
        let got = it.key == "location" && it.after == source.actor;
        let ready = got || matches!(it.after.as_str(), "open" | "unlocked" | "on" | "made");
        ready && it.subject.len() > 2 && call.contains(&it.subject.to_lowercase())
    };
    let made = source.modality == Modality::Action && state::changes(source, "").iter().any(usable);
    let codes = codes(&act::shown(source));
    let known: BTreeSet<String> = told.records[one.saturating_sub(super::REACH)..one]
        .iter()
        .flat_map(|it| self::codes(&act::shown(it)))
        .collect();
    let named = codes
        .iter()
        .any(|it| !known.contains(it) && self::codes(&call).contains(it));
    (made || named).then(|| Link::new(one, RelationKind::Enables, other, 85))
}

/// Returns a relation if a later state of the same thing continues an earlier one.
fn continued(told: &Told<'_>, one: usize, other: usize) -> Option<Link> {
    let (before, after) = (&told.records[one], &told.records[other]);
    let speaks = |it: &Record| act::is_world(it);
    if !speaks(before) || !speaks(after) {
        return None;
    }
    let (earlier, later) = (changes(before), changes(after));
    // A changed gauge is not an event, and each place was preceded by another place.
    let gauge = |it: &StateChange| {
        matches!(it.key.as_str(), "location" | "inside") || it.after.starts_with(|it: char| it.is_ascii_digit())
    };
    let same = |a: &StateChange, b: &StateChange| {
        a.key == b.key && a.subject.eq_ignore_ascii_case(&b.subject) && a.after != b.after && !gauge(a) && !gauge(b)
    };
    let found = earlier.iter().any(|a| later.iter().any(|b| same(a, b)));
    found.then(|| Link::new(one, RelationKind::FollowsUp, other, 70))
}

/// Words with which an environment reports that something was done.
const CHANGED: [&str; 38] = [
    "taken",
    "placed",
    "booked",
    "moved",
    "opened",
    "opens",
    "open",
    "written",
    "sent",
    "done",
    "added",
    "removed",
    "bought",
    "ordered",
    "cancelled",
    "canceled",
    "saved",
    "created",
    "updated",
    "deleted",
    "dropped",
    "complete",
    "completed",
    "confirmed",
    "hold",
    "holds",
    "unlocks",
    "closed",
    "closes",
    "starts",
    "started",
    "stops",
    "stopped",
    "paid",
    "lights",
    "hand",
    "turned",
    "switched",
];

/// Returns true if the first sentences of a response report that something was done or that someone reached a place.
fn tells_a_change(answer: &str) -> bool {
    let sentences = text::sentences(head(answer));
    let told = |sentence: &&str| {
        // Text in brackets describes a state, not an action.
        let lower = sentence.rsplit_once(']').map_or(*sentence, |it| it.1).to_lowercase();
        let bare = lower.split(['(', '#']).next().unwrap_or_default();
        let mut words = bare.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        let place = ["you are at", "you are in", "you are back", "you stand"]
            .iter()
            .any(|it| bare.contains(it));
        place || words.any(|it| CHANGED.contains(&it)) && !marker::denies(bare)
    };
    sentences.iter().take(2).any(told)
}

/// Words of actions that change nothing.
const LOOKS: [&str; 14] = [
    "read", "cat", "look", "search", "show", "list", "find", "check", "grep", "scan", "inspect", "view", "query",
    "status",
];

/// Returns true if an action only inspects things.
fn only_looks(deed: &str) -> bool {
    let lower = head(deed).to_lowercase();
    let mut words = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .take(5);
    words.any(|it| LOOKS.contains(&it))
}

/// Returns true for an action, or for a short order of an agent to which an environment responds directly ("Open the
/// fridge.").
fn is_deed(told: &Told<'_>, at: usize) -> bool {
    let record = &told.records[at];
    if act::is_deed(record) {
        return true;
    }
    let answered = told
        .records
        .get(at + 1)
        .is_some_and(|it| act::is_voice(it) && it.actor != record.actor);
    let text = record.text.trim();
    let short = text::words(text).len() <= 12 && !text.is_empty() && !text::is_question(text);
    answered && short && speech::says(record) && !act::is_world(record)
}

fn changes(record: &Record) -> Vec<StateChange> {
    state::changes(record, "")
}

/// Returns names with a digit that someone gave to things, such as "77-B" or "SL-8812", in lower case, without dates,
/// times and amounts.
fn codes(text: &str) -> BTreeSet<String> {
    let text = head(text).to_lowercase();
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '-' && it != '_');
    let code = |it: &&str| {
        let (digits, letters) = (
            it.chars().filter(char::is_ascii_digit).count(),
            it.chars().filter(|it| it.is_alphabetic()).count(),
        );
        digits >= 1 && letters >= 1 && it.len() >= 4 && it.len() <= 24
    };
    words.filter(code).map(str::to_owned).collect()
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(BYTES_MAX)]
}
