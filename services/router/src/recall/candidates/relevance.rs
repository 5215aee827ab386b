//! Decides whether a remembered turn matters to a message. A name or a word that both contain is no reason by itself:
//! of the hints that had no other reason, one in ten was useful (docs/EVALUATION.md).

use domain::message::RecallV1;
use domain::recall::Trigger;
use domain::time::{Precision, TimeSpan};
use text::lexicon::{Class, is_in_class};
use text::meaning::patterns as p;
use text::people::role::{Role, role_of_speaker};

use crate::recall::message::RecallMessage;
use crate::recall::{sensitive, trigger};
use crate::space::view::{Turn, View};

/// Minimum value of a word of the message that a turn must contain too.
const TELLING: f32 = 2.0;
/// Minimum share of the message, by value, that a wish or a decision must contain, and its minimum number of words. One
/// word is enough if it is about the health of a person.
const BOUND: f32 = 0.2;
const BOUND_WORDS: usize = 2;
/// Minimum share of a question, by value, that an answer must contain, and its minimum number of words.
const ANSWERED: f32 = 0.7;
const ANSWER_WORDS: usize = 2;

/// Returns the trigger and the reason by which a turn matters to a message; `None` if it does not. A turn matters if a
/// sentence of it states a wish or a decision about something in the message, if it contains what the message asks
/// about, or if it plans something for a time that the message names.
pub(in crate::recall) fn find_relevance(
    view: &View,
    message: &RecallMessage,
    place: usize,
    request: &RecallV1,
) -> Option<(Trigger, String)> {
    let turn = &view.turns()[place];
    let written = |words: &[usize]| trigger::words_as_written(message, &stems_of(message, words));
    if let Some(words) = find_binding_words(message, turn) {
        let reason = format!("mentions {}, for which there is a wish or a decision", written(&words));
        return Some((Trigger::Preference, reason));
    }
    let words = telling_words(message, turn.unit.text());
    if message.asks && !turn.asks && words.len() >= ANSWER_WORDS && share_of_message(message, &words) >= ANSWERED {
        return Some((Trigger::Topic, format!("asks about {}", written(&words))));
    }
    let is_planned = |it: &&TimeSpan| it.end > request.at.to_utc() && is_short(it);
    let mut planned = turn.unit.times.iter().filter(is_planned);
    let names_time = planned.any(|it| {
        message
            .times
            .iter()
            .any(|message_time| is_short(message_time) && message_time.overlaps(it))
    });
    (names_time && !words.is_empty() && turn.patterns[p::CODE] == 0).then(|| {
        let reason = format!("names a time for which something is planned, with {}", written(&words));
        (Trigger::Time, reason)
    })
}

/// Returns the words of the message in a sentence that states a wish or a decision, if they are a large enough part of
/// it. Advice of an assistant is no wish.
fn find_binding_words(message: &RecallMessage, turn: &Turn) -> Option<Vec<usize>> {
    if role_of_speaker(&turn.unit.actor) == Some(Role::Assistant) {
        return None;
    }
    let binding = text::split_sentences(turn.unit.text())
        .into_iter()
        .filter(|it| is_binding(it));
    let mut touched = binding.filter_map(|sentence| {
        let words = telling_words(message, sentence);
        let least = if is_about_health(sentence) { 1 } else { BOUND_WORDS };
        (words.len() >= least && share_of_message(message, &words) >= BOUND).then_some(words)
    });
    touched.next()
}

/// Returns true if a sentence is about an allergy or another matter of health.
fn is_about_health(sentence: &str) -> bool {
    let is_allergy = |it: &str| matches!(it.to_lowercase().as_str(), "allergic" | "allergy" | "intolerant");
    text::split_words(sentence).into_iter().any(is_allergy) || sensitive::concerns_health(sentence)
}

/// Returns true if a sentence states a standing wish, an intolerance, a decision, a ban, a limit or something about the
/// health of a person.
fn is_binding(sentence: &str) -> bool {
    let is_decision = |word: &str| is_in_class(&word.to_lowercase(), Class::Decision);
    let states = || text::split_words(sentence).into_iter().any(is_decision) || sensitive::concerns_health(sentence);
    text::question::wishes::grade_standing_wish(sentence) > 0.0 || !text::is_question(sentence) && states()
}

/// Returns the indices of the words of the message, most valuable first, that a text contains in any form. Names of
/// months and days are left out.
pub(in crate::recall) fn telling_words(message: &RecallMessage, text: &str) -> Vec<usize> {
    let stems = text::stem_words(text);
    let tells = |at: &usize| {
        let stem = &message.query.words[*at].stem;
        message.worth[*at] >= TELLING && !text::time::words::is_date_stem(stem) && stems.contains(stem)
    };
    let mut words: Vec<usize> = (0..message.worth.len()).filter(tells).collect();
    words.sort_by(|a, b| message.worth[*b].total_cmp(&message.worth[*a]).then(a.cmp(b)));
    words
}

fn stems_of(message: &RecallMessage, words: &[usize]) -> Vec<String> {
    words.iter().map(|&it| message.query.words[it].stem.clone()).collect()
}

/// Returns the share of the message, by the value of its words, 0 to 1.
fn share_of_message(message: &RecallMessage, words: &[usize]) -> f32 {
    let shared: f32 = words.iter().map(|&it| message.worth[it]).sum();
    shared / message.total.max(1.0)
}

/// Returns true for times of at most a week: a month has room for everything.
fn is_short(span: &TimeSpan) -> bool {
    match span.precision {
        Precision::Instant | Precision::Day | Precision::Week => true,
        Precision::Month | Precision::Season | Precision::Year | Precision::Unknown => false,
    }
}
