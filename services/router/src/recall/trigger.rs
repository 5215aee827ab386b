//! Determines the trigger by which a message leads to a turn, and describes it.

use domain::recall::Trigger;
use text::patterns as p;

use super::heard::{Heard, near};
use super::tie::Tie;
use crate::view::{Turn, View};

/// All triggers, in their order.
pub(super) const ALL: [Trigger; 10] = [
    Trigger::Contradiction,
    Trigger::Preference,
    Trigger::Entity,
    Trigger::Place,
    Trigger::Topic,
    Trigger::State,
    Trigger::Time,
    Trigger::Pattern,
    Trigger::Emotion,
    Trigger::MultiHop,
];

/// Maximum number of words in a reason.
const SHOWN: usize = 3;
/// Number of days before its time in which a planned event is near.
const NEAR_DAYS: i64 = 7;
const HABITS: &str = "every always usually each again routine ritual habit weekly daily often mornings evenings weekends mondays \
    tuesdays wednesdays thursdays fridays saturdays sundays";

/// Returns the name of a trigger as written in JSON; ids are derived from it too.
pub fn name(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Contradiction => "contradiction",
        Trigger::Preference => "preference",
        Trigger::Entity => "entity",
        Trigger::Place => "place",
        Trigger::Topic => "topic",
        Trigger::State => "state",
        Trigger::Time => "time",
        Trigger::Pattern => "pattern",
        Trigger::Emotion => "emotion",
        Trigger::MultiHop => "multi_hop",
    }
}

/// Returns the trigger by which a message leads to a turn, with a reason. The first that applies counts, in this order:
/// a time, a name, a place, a standing wish, a habit, a feeling, a changed state, and otherwise a shared topic.
pub(super) fn of(
    view: &View,
    heard: &Heard,
    tie: &Tie,
    at: chrono::DateTime<chrono::FixedOffset>,
) -> (Trigger, String) {
    let turn = &view.turns()[tie.place];
    let words = spoken(heard, tie);
    let holds = |stems: &std::collections::BTreeSet<u32>| stems.iter().any(|it| turn.names.binary_search(it).is_ok());
    let planned = || turn.unit.times.iter().filter(|it| it.end > at.to_utc());
    if planned().any(|it| heard.times.iter().any(|named| named.overlaps(it))) {
        return (Trigger::Time, "names a time for which something is planned".to_owned());
    }
    if turn.patterns[p::PLAN] > 0 && planned().any(|it| near(it, at, NEAR_DAYS)) {
        return (Trigger::Time, format!("speaks of {words}, and the time for it is near"));
    }
    if holds(&heard.names) {
        return (Trigger::Entity, format!("names {}", shown_names(heard, turn)));
    }
    if holds(&heard.places) {
        return (Trigger::Place, format!("names the place {}", shown_names(heard, turn)));
    }
    if turn.patterns[p::INSTRUCTION] > 1 {
        return (
            Trigger::Preference,
            format!("speaks of {words}, of which a wish is known"),
        );
    }
    if heard.again && habitual(turn) {
        return (Trigger::Pattern, format!("does again what was done before: {words}"));
    }
    if heard.feels && turn.patterns[p::FEELING] > 0 {
        return (
            Trigger::Emotion,
            format!("shows a feeling that has come up before, with {words}"),
        );
    }
    let keyed = |key: &str| {
        text::stems(key)
            .iter()
            .any(|it| heard.query.words.iter().any(|word| word.stem == *it))
    };
    if turn.unit.changes.iter().any(|it| keyed(&it.key) || keyed(&it.subject)) {
        return (Trigger::State, format!("speaks of {words}, whose state has changed"));
    }
    if turn.patterns[p::PREFERENCE] > 0 && habitual(turn) {
        return (Trigger::Pattern, format!("touches a habit: {words}"));
    }
    (Trigger::Topic, format!("speaks of {words}"))
}

/// Returns the words that connect the message with a turn, as written in the message.
pub(super) fn spoken(heard: &Heard, tie: &Tie) -> String {
    let stems: Vec<String> = tie.words.iter().map(|&it| heard.query.words[it].stem.clone()).collect();
    if stems.is_empty() {
        "something close to it".to_owned()
    } else {
        written(heard, &stems)
    }
}

/// Returns the words of the message for the first of some stems, as written in the message.
pub(super) fn written(heard: &Heard, stems: &[String]) -> String {
    let words = text::words(&heard.text);
    let shown = stems.iter().take(SHOWN).map(|stem| {
        let written = words.iter().find(|it| text::stem(it) == *stem);
        written.copied().unwrap_or(stem)
    });
    shown.collect::<Vec<&str>>().join(", ")
}

/// Returns the names that the message shares with a turn.
fn shown_names(heard: &Heard, turn: &Turn) -> String {
    let shared = |name: &&str| {
        text::stems(name)
            .iter()
            .any(|it| turn.names.binary_search(&text::sparse::hash(it)).is_ok())
    };
    let names: Vec<&str> = text::names(&heard.text)
        .into_iter()
        .filter(shared)
        .take(SHOWN)
        .collect();
    names.join(", ")
}

fn habitual(turn: &Turn) -> bool {
    text::words(&turn.shown)
        .iter()
        .any(|it| super::heard::member(HABITS, &it.to_lowercase()))
}
