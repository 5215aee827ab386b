//! Determines the trigger by which a message leads to a turn, and describes it.

use domain::recall::Trigger;
use text::meaning::patterns as p;

use super::message::{RecallMessage, is_time_near};
use super::overlap::MessageOverlap;
use crate::space::view::{Turn, View};

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

/// Returns the name of a trigger as written in JSON; ids are derived from it too.
pub fn json_name(trigger: Trigger) -> &'static str {
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
/// a time, a name, a place, a standing wish, a changed state, and otherwise a shared topic.
pub(super) fn trigger_of_turn(
    view: &View,
    message: &RecallMessage,
    tie: &MessageOverlap,
    at: chrono::DateTime<chrono::FixedOffset>,
) -> (Trigger, String) {
    let turn = &view.turns()[tie.place];
    let words = connecting_words(message, tie);
    let holds = |stems: &std::collections::BTreeSet<u32>| stems.iter().any(|it| turn.names().binary_search(it).is_ok());
    let planned = || turn.unit.times.iter().filter(|it| it.end > at.to_utc());
    if planned().any(|it| message.times.iter().any(|message_time| message_time.overlaps(it))) {
        return (Trigger::Time, "names a time for which something is planned".to_owned());
    }
    if turn.patterns[p::PLAN] > 0 && planned().any(|it| is_time_near(it, at, NEAR_DAYS)) {
        return (Trigger::Time, format!("mentions {words}, and the time for it is near"));
    }
    if holds(&message.names) {
        return (Trigger::Entity, format!("names {}", shown_names(message, turn)));
    }
    if holds(&message.places) {
        return (
            Trigger::Place,
            format!("names the place {}", shown_names(message, turn)),
        );
    }
    if turn.patterns[p::INSTRUCTION] > 1 {
        return (
            Trigger::Preference,
            format!("mentions {words}, and there is a standing wish about it"),
        );
    }
    let keyed = |key: &str| {
        text::stem_words(key)
            .iter()
            .any(|it| message.query.words.iter().any(|word| word.stem == *it))
    };
    if turn.unit.changes.iter().any(|it| keyed(&it.key) || keyed(&it.subject)) {
        return (Trigger::State, format!("mentions {words}, whose state has changed"));
    }
    (Trigger::Topic, format!("mentions {words}"))
}

/// Returns the words that connect the message with a turn, as written in the message.
pub(super) fn connecting_words(message: &RecallMessage, tie: &MessageOverlap) -> String {
    let stems: Vec<String> = tie
        .words
        .iter()
        .map(|&it| message.query.words[it].stem.clone())
        .collect();
    if stems.is_empty() {
        "something similar".to_owned()
    } else {
        words_as_written(message, &stems)
    }
}

/// Returns the words of the message for the first of some stems, as written in the message.
pub(super) fn words_as_written(message: &RecallMessage, stems: &[String]) -> String {
    let words = text::split_words(&message.text);
    let shown = stems.iter().take(SHOWN).map(|stem| {
        let written = words.iter().find(|it| text::stem_word(it) == *stem);
        written.copied().unwrap_or(stem)
    });
    shown.collect::<Vec<&str>>().join(", ")
}

/// Returns the names that the message shares with a turn.
fn shown_names(message: &RecallMessage, turn: &Turn) -> String {
    let shared = |name: &&str| {
        text::stem_words(name).iter().any(|it| {
            turn.names()
                .binary_search(&text::meaning::sparse_vectors::hash_stem(it))
                .is_ok()
        })
    };
    let names: Vec<&str> = text::find_names(&message.text)
        .into_iter()
        .filter(shared)
        .take(SHOWN)
        .collect();
    names.join(", ")
}
