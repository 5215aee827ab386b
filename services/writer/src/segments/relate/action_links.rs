//! Relations between actions, the responses of the environment, and the requests that caused them.

use std::collections::BTreeSet;

use domain::record::{Modality, Record};
use domain::relation::RelationKind;
use domain::unit::StateChange;

use super::{Link, RecordFeatures};
use crate::segments::marker;
use crate::units::{act, speech, state};
use crate::word_lists::{ARRIVAL_REPORTS, CHANGE_REPORTS, INSPECTING_ACTIONS, USABLE_STATES};

/// Maximum length of the text that is searched for names of things, in bytes.
const BYTES_MAX: usize = 2_000;

/// Returns the relation of the action or response at `one` to the later one at `other`.
pub(super) fn link_actions(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    link_response(features, one, other)
        .or_else(|| link_request(features, one, other))
        .or_else(|| link_enabling(features, one, other))
        .or_else(|| link_state_change(features, one, other))
}

/// Returns the relation of an action to the response directly after it: `Causes` if the response reports a change,
/// otherwise `FollowsUp`.
fn link_response(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    let (deed, answer) = (&features.records[one], &features.records[other]);
    let fits = one + 1 == other && is_deed(features, one) && act::is_voice(answer) && deed.actor != answer.actor;
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

/// Returns the relation between an action and the last request before it, which is the motive of the action.
fn link_request(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    let (wish, deed) = (&features.records[one], &features.records[other]);
    let fits = one + 1 == other
        && is_deed(features, other)
        && speech::is_speech(wish)
        && !act::is_world(wish)
        && !is_deed(features, one);
    (fits && wish.actor != deed.actor).then(|| Link::new(one, RelationKind::Motivates, other, 85))
}

/// Returns a relation if the action at `other` uses a thing that the record at `one` opened, got or made, or was the
/// first to name.
fn link_enabling(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    let (source, deed) = (&features.records[one], &features.records[other]);
    if !is_deed(features, other) || !act::is_world(source) {
        return None;
    }
    let shown = act::display_text(deed);
    let call = cut_to_limit(shown.split(" -> ").next().unwrap_or_default()).to_lowercase();
    let usable = |it: &StateChange| {
        let got = it.key == "location" && it.after == source.actor;
        let ready = got || USABLE_STATES.contains(it.after.as_str());
        ready && it.subject.len() > 2 && call.contains(&it.subject.to_lowercase())
    };
    let makes_usable = source.modality == Modality::Action && state::read_changes(source, "").iter().any(usable);
    let codes = find_codes(&act::display_text(source));
    let known: BTreeSet<String> = features.records[one.saturating_sub(super::REACH)..one]
        .iter()
        .flat_map(|it| self::find_codes(&act::display_text(it)))
        .collect();
    let uses_code = codes
        .iter()
        .any(|it| !known.contains(it) && self::find_codes(&call).contains(it));
    (makes_usable || uses_code).then(|| Link::new(one, RelationKind::Enables, other, 85))
}

/// Returns a relation if a later state of the same thing continues an earlier one.
fn link_state_change(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    let (before, after) = (&features.records[one], &features.records[other]);
    let speaks = |it: &Record| act::is_world(it);
    if !speaks(before) || !speaks(after) {
        return None;
    }
    let (earlier, later) = (state::read_changes(before, ""), state::read_changes(after, ""));
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

/// Returns true if the first sentences of a response report that something was done or that someone reached a place.
fn tells_a_change(answer: &str) -> bool {
    let sentences = text::split_sentences(cut_to_limit(answer));
    let reports_change = |sentence: &&str| {
        // Text in brackets describes a state, not an action.
        let lower = sentence.rsplit_once(']').map_or(*sentence, |it| it.1).to_lowercase();
        let bare = lower.split(['(', '#']).next().unwrap_or_default();
        let mut words = bare.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        let place = ARRIVAL_REPORTS.iter().any(|it| bare.contains(it));
        place || words.any(|it| CHANGE_REPORTS.contains(it)) && !marker::has_denial(bare)
    };
    sentences.iter().take(2).any(reports_change)
}

/// Returns true if an action only inspects things.
fn only_looks(deed: &str) -> bool {
    let lower = cut_to_limit(deed).to_lowercase();
    let mut words = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .take(5);
    words.any(|it| INSPECTING_ACTIONS.contains(it))
}

/// Returns true for an action, or for a short order of an agent to which an environment responds directly ("Open the
/// fridge.").
fn is_deed(features: &RecordFeatures<'_>, at: usize) -> bool {
    let record = &features.records[at];
    if act::is_deed(record) {
        return true;
    }
    let answered = features
        .records
        .get(at + 1)
        .is_some_and(|it| act::is_voice(it) && it.actor != record.actor);
    let text = record.text.trim();
    let short = text::split_words(text).len() <= 12 && !text.is_empty() && !text::is_question(text);
    answered && short && speech::is_speech(record) && !act::is_world(record)
}

/// Returns names with a digit that someone gave to things, such as "77-B" or "SL-8812", in lower case, without dates,
/// times and amounts.
fn find_codes(text: &str) -> BTreeSet<String> {
    let text = cut_to_limit(text).to_lowercase();
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

fn cut_to_limit(text: &str) -> &str {
    &text[..text.floor_char_boundary(BYTES_MAX)]
}
