//! Reads a message before the memory is searched.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use chrono::{DateTime, FixedOffset, NaiveTime, TimeDelta};
use domain::anchor::AnswerKind;
use domain::time::{Precision, TimeSpan};
use text::meaning::sparse_vectors;
use text::{EmbeddingTable, gloss};

use super::sensitive::{self, Domains};
use crate::route::query::Query;
use crate::space::view::View;
use crate::word_lists::{PLACE_PREPOSITIONS, SMALL_TALK, SPEAKER_WORDS};

/// Maximum number of bytes of a message that are read.
pub(super) const BYTES_MAX: usize = 8_000;
/// Words at least this frequent in general English carry no information; -ln of the share.
const COMMON: f32 = 6.5;
/// Maximum value of a word. Words without a row in the table get this value.
const WORTH_MAX: f32 = 6.0;
/// Minimum value of a word that is not small talk.
const WORTH_MIN: f32 = 0.3;
/// Maximum number of times in a message that are used.
const TIMES_MAX: usize = 8;
/// Maximum number of names that are used.
const NAMES_MAX: usize = 24;

static SMALL_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| SMALL_TALK.iter().copied().map(text::stem_word).collect());

/// A message with the data that recall derives from it.
pub struct RecallMessage {
    /// The message as the router reads it, marked as a message and not a question.
    pub query: Query,
    /// The value of each word of `query`, by its rarity in general English, 0 to 6.
    pub worth: Vec<f32>,
    /// Sum of `worth`.
    pub total: f32,
    /// True if the message is about the speaker.
    pub mine: bool,
    /// True if the message ends with a question.
    pub asks: bool,
    /// True if the message asks for advice, or for something to be made or proposed.
    pub seeks_advice: bool,
    /// Names in the message as written, including those of speakers. People who are only addressed are left out.
    pub named: Vec<String>,
    /// Stems of the names in the message, except names of places.
    pub names: BTreeSet<u32>,
    /// Stems of names that follow a preposition of place.
    pub places: BTreeSet<u32>,
    /// Times in the message that can be resolved, without exact moments.
    pub times: Vec<TimeSpan>,
    /// Sensitive subjects in the message.
    pub domains: Domains,
    /// The text, cut to `BYTES_MAX`.
    pub text: String,
}

impl RecallMessage {
    /// Reads a message sent at `at`.
    pub fn from_message(message: &str, view: &View, at: DateTime<FixedOffset>) -> RecallMessage {
        let text = message[..message.floor_char_boundary(BYTES_MAX)].to_owned();
        let mut query = Query::from_question(&text, view, at);
        (query.anchors.answer, query.anchors.window) = (AnswerKind::Message, None);
        let grammar = foreign_function_words(&text);
        let value = |stem: &str, pieces: &[u32]| match grammar.contains(stem) {
            true => 0.0,
            false => word_value(stem, pieces),
        };
        let worth: Vec<f32> = query.words.iter().map(|it| value(&it.stem, &it.pieces)).collect();
        let lower: Vec<String> = text::split_words(&text)
            .iter()
            .map(|it| it.to_lowercase().replace('\u{2019}', "'"))
            .collect();
        let (named, names, places) = find_names(&text, view);
        let times = text::time::find_times(&text, at).into_iter().map(|it| it.span);
        let times = times.filter(|it| it.precision != Precision::Unknown && it.precision != Precision::Instant);
        RecallMessage {
            total: worth.iter().sum(),
            worth,
            mine: lower.iter().any(|it| SPEAKER_WORDS.contains(it.as_str())),
            asks: text::ends_asking(&text),
            seeks_advice: text::question::wishes::asks_what_to_do(&text),
            named,
            names,
            places,
            times: times.take(TIMES_MAX).collect(),
            domains: sensitive::find_domains(&text),
            query,
            text,
        }
    }

    /// Returns true if nothing in it can bring anything to mind: it is small talk, thanks or a greeting.
    pub fn is_small_talk(&self) -> bool {
        self.total < 1.0 && self.names.is_empty() && self.places.is_empty()
    }
}

/// Returns the stems of the function words of a message in another language than English.
fn foreign_function_words(text: &str) -> BTreeSet<String> {
    let pieces = gloss::split_pieces(text).unwrap_or_default();
    let is_function = |it: &gloss::Piece| {
        let english = it.english.as_deref().unwrap_or_default();
        !english.is_empty() && english.split(' ').all(text::is_stop)
    };
    let functions = pieces.into_iter().filter(is_function);
    let words = functions.flat_map(|it| text::split_words(&text[it.range]));
    words.map(text::stem_word).collect()
}

/// Returns the value of a word of the message. A single Latin letter ("u", "x") carries no information.
fn word_value(stem: &str, pieces: &[u32]) -> f32 {
    let is_letter = stem.len() == 1;
    if is_letter || small_talk(stem) || stem.chars().all(|it| !it.is_alphabetic()) {
        return 0.0;
    }
    let rarest = pieces.iter().map(|it| EmbeddingTable::builtin().rarity_of_row(*it));
    let rarest = rarest.fold(0.0, f32::max);
    if pieces.is_empty() {
        return WORTH_MAX;
    }
    (rarest - COMMON).clamp(WORTH_MIN, WORTH_MAX)
}

fn small_talk(stem: &str) -> bool {
    SMALL_STEMS.contains(stem)
}

/// Returns the names in a text, then the stems of names that are not of speakers: first those of people and things,
/// then those of places. People who are only addressed are left out.
fn find_names(text: &str, view: &View) -> (Vec<String>, BTreeSet<u32>, BTreeSet<u32>) {
    let called: Vec<String> = text::find_vocatives(text).iter().map(|it| it.to_lowercase()).collect();
    let (mut named, mut names, mut places) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for name in text::find_names(text).into_iter().take(NAMES_MAX) {
        let lower = name.to_lowercase();
        if called.contains(&lower) || named.iter().any(|it| it == name) {
            continue;
        }
        named.push(name.to_owned());
        if view.speakers().find_by_word(&lower).is_some() {
            continue;
        }
        let start = name.as_ptr() as usize - text.as_ptr() as usize;
        let before = text::split_words(&text[..start]).last().map(|it| it.to_lowercase());
        let somewhere = before.is_some_and(|it| PLACE_PREPOSITIONS.contains(it.as_str()));
        let stems = text::stem_words(name).into_iter().filter(|it| !small_talk(it));
        let stems = stems.map(|it| sparse_vectors::hash_stem(&it));
        if somewhere {
            places.extend(stems);
        } else {
            names.extend(stems);
        }
    }
    (named, names, places)
}

/// Returns true if a span of at most a week is not over and begins at most `days` days after a moment.
pub(super) fn is_time_near(span: &TimeSpan, at: DateTime<FixedOffset>, days: i64) -> bool {
    let midnight = at
        .date_naive()
        .and_time(NaiveTime::MIN)
        .and_local_timezone(*at.offset());
    let day = midnight.single().unwrap_or(at).to_utc();
    let exact = matches!(span.precision, Precision::Day | Precision::Week | Precision::Instant);
    // A moment has no duration, so its end is moved by one microsecond.
    let over = span.end.max(span.start + TimeDelta::microseconds(1)) <= day;
    exact && !over && (span.start - day).num_days() <= days
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_near_until_it_ends_in_the_time_zone_of_the_message() {
        let day = |start: &str, end: &str| TimeSpan {
            start: start.parse().unwrap(),
            end: end.parse().unwrap(),
            precision: Precision::Day,
            words: String::new(),
        };
        let sixth = day("2024-05-06T00:00:00Z", "2024-05-07T00:00:00Z");
        let local = day("2024-05-05T15:00:00Z", "2024-05-06T15:00:00Z");
        for (span, at, expected) in [
            (&sixth, "2024-05-02T10:00:00Z", false),
            (&sixth, "2024-05-03T10:00:00Z", true),
            (&sixth, "2024-05-06T23:00:00Z", true),
            (&sixth, "2024-05-07T10:00:00Z", false),
            (&local, "2024-05-06T23:00:00+09:00", true),
            (&local, "2024-05-07T01:00:00+09:00", false),
            (&local, "2024-05-03T01:00:00+09:00", true),
        ] {
            let at = DateTime::parse_from_rfc3339(at).unwrap();
            assert_eq!(is_time_near(span, at, 3), expected, "{at}");
        }
        let moment = TimeSpan::from_instant("2024-05-06T00:00:00Z".parse().unwrap());
        assert!(is_time_near(
            &moment,
            DateTime::parse_from_rfc3339("2024-05-06T09:00:00Z").unwrap(),
            3
        ));
    }
}
