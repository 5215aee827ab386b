//! Determines which of two things happened first, independently of the order in which the speakers mention them.
//!
//! A time counts if its sentence reports something that happens at that time: not a question, a condition, a denial,
//! a limit ("until Friday") or a habit. All times of a turn together are its span. Spans that touch or overlap give
//! no order.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::record::Record;
use domain::relation::RelationKind;
use domain::time::Precision;
use text::time::{Kind, Mention};

use super::{Link, RecordFeatures, connecting_stems};
use crate::units::act;
use crate::word_lists::{
    DAY_DETERMINERS, DAY_PARTS, FUTURE_WORDS, NEAR_DAYS, PLANNING_WORDS, TIME_LIMITS, UNCERTAIN_WORDS,
};

/// The times that a turn reports.
#[derive(Clone)]
pub(super) struct Happened {
    /// From the first to the last moment.
    span: Range<DateTime<Utc>>,
    /// Stems of the sentences that report it.
    stems: BTreeSet<String>,
}

/// Maximum number of sentences of a turn; a longer turn reports too many things to have one time.
const SENTENCES_MAX: usize = 7;
/// Maximum length of the text, in bytes.
const BYTES_MAX: usize = 1_200;
/// Maximum distance, in turns, at which two turns by one speaker belong to the same subject.
const NEAR: usize = 4;

/// Returns the time at which the content of a record happened, if the record states it.
pub(super) fn read_happened(record: &Record) -> Option<Happened> {
    let text = record.text.as_str();
    if text.len() > BYTES_MAX || act::is_deed(record) || act::is_world(record) {
        return None;
    }
    let sentences = text::split_sentences(text);
    if sentences.len() > SENTENCES_MAX {
        return None;
    }
    let now = record.observed_at.to_utc();
    let mentions = text::time::find_times(text, record.observed_at);
    let spans = mentions.iter().filter_map(|mention| {
        let start = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
        let sentence = sentences.iter().rev().find(|it| start(it) <= mention.range.start)?;
        Some((
            span_of_mention(text, sentence, mention, now)?,
            connecting_stems(sentence),
        ))
    });
    spans
        .map(|(span, stems)| Happened { span, stems })
        .reduce(|mut sum, it| {
            sum.span = sum.span.start.min(it.span.start)..sum.span.end.max(it.span.end);
            sum.stems.extend(it.stems);
            sum
        })
}

/// Returns the relation of two turns with times if one thing was over before the other began. The turns must also
/// share something: a word in the sentences with the times or, for nearby turns by one speaker, any word.
pub(super) fn link_turns(features: &RecordFeatures<'_>, one: usize, other: usize) -> Option<Link> {
    let (first, second) = (features.happened_at(one)?, features.happened_at(other)?);
    let near = one.abs_diff(other) <= NEAR && features.records[one].actor == features.records[other].actor;
    let own = near && features.share_stems(one, other);
    if !own && first.stems.is_disjoint(&second.stems) {
        return None;
    }
    let (source, target) = order_spans(one, &first.span, other, &second.span)?;
    Some(Link::new(source, RelationKind::Before, target, 80))
}

/// Returns the relation of two events if everything in one was over before anything in the other began.
pub(super) fn link_events(features: &RecordFeatures<'_>, one: &Range<usize>, other: &Range<usize>) -> Option<Link> {
    let (first, second) = (span_of_event(features, one)?, span_of_event(features, other)?);
    order_spans(one, &first, other, &second)?;
    let mut pairs = one.clone().flat_map(|a| other.clone().map(move |b| (a, b)));
    pairs.find_map(|(a, b)| link_turns(features, a, b))
}

/// Returns the span of all times in an event.
fn span_of_event(features: &RecordFeatures<'_>, event: &Range<usize>) -> Option<Range<DateTime<Utc>>> {
    let spans = event
        .clone()
        .filter_map(|it| Some(features.happened_at(it)?.span.clone()));
    spans.reduce(|sum, it| sum.start.min(it.start)..sum.end.max(it.end))
}

/// Returns the earlier of two, then the later, or none if they overlap.
fn order_spans<T>(
    one: T,
    one_span: &Range<DateTime<Utc>>,
    other: T,
    other_span: &Range<DateTime<Utc>>,
) -> Option<(T, T)> {
    if one_span.end <= other_span.start {
        Some((one, other))
    } else if other_span.end <= one_span.start {
        Some((other, one))
    } else {
        None
    }
}

/// Returns the span of the event at a mentioned time, if its sentence reports one. The span of a past event ends at
/// the time of the statement, and that of a future event begins there.
fn span_of_mention(text: &str, sentence: &str, mention: &Mention, now: DateTime<Utc>) -> Option<Range<DateTime<Utc>>> {
    let far = mention.relative && mention.span.precision == Precision::Year;
    let placed =
        !far && matches!(mention.kind, Kind::Point | Kind::Interval) && mention.span.precision != Precision::Unknown;
    if !placed
        || text::people::ownership::is_untagged_question(sentence)
        || is_bare_time(text, mention)
        || is_limit_or_name(text, mention)
    {
        return None;
    }
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let words = || {
        lower
            .split(|it: char| !it.is_alphanumeric() && it != '\'')
            .filter(|it| !it.is_empty())
    };
    if words().any(|it| UNCERTAIN_WORDS.contains(it)) {
        return None;
    }
    // The verb that belongs to the time is in the same clause.
    let at = mention.range.start;
    let from = text[..at].rfind([',', ';', ':', '.', '!', '?']).map_or(0, |it| it + 1);
    let to = text[mention.range.end..]
        .find([';', ':', '.', '!', '?'])
        .map_or(text.len(), |it| mention.range.end + it);
    let past = text::meaning::patterns::count_patterns(&text[from..to])[text::meaning::patterns::PAST] > 0;
    let mention_text = text[mention.range.clone()].to_lowercase();
    let dated = NEAR_DAYS.iter().any(|it| mention_text.contains(it)) || mention_text.contains(char::is_numeric);
    let ahead = words().any(|it| FUTURE_WORDS.contains(it) || dated && PLANNING_WORDS.contains(it));
    let (start, end) = (mention.span.start, mention.span.end);
    match (past, ahead) {
        (true, _) if start < now => Some(start..end.min(now)),
        (false, true) if end > now => Some(start.max(now)..end),
        (true, _) | (false, _) => None,
    }
}

/// Returns true for a time that does not determine one day: an hour alone ("a baker at 4 am"), or "Tuesdays".
fn is_bare_time(text: &str, mention: &Mention) -> bool {
    let words = text[mention.range.clone()].to_lowercase();
    // All words but the last one have a space after them.
    let mut words_before_space = words.rsplit(' ').skip(1);
    let determines_day = DAY_PARTS.iter().any(|it| words.contains(it))
        || words_before_space.any(|word| DAY_DETERMINERS.iter().any(|it| word.ends_with(it)));
    let hour = mention.span.precision == Precision::Instant
        && !determines_day
        && !words.split(|it: char| !it.is_ascii_digit()).any(|it| it.len() == 4);
    hour || words.ends_with("days") && !words.contains(' ')
}

/// Returns true if the word before the time makes it a limit, or the word after it makes it a name or attribute ("the
/// May sale").
fn is_limit_or_name(text: &str, mention: &Mention) -> bool {
    let before = text[..mention.range.start].trim_end();
    let word = before
        .rsplit(|it: char| !it.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let next = text[mention.range.end..]
        .strip_prefix(' ')
        .and_then(|it| it.chars().next());
    let is_name = next.is_some_and(char::is_uppercase) && !text[mention.range.clone()].contains(' ');
    TIME_LIMITS.contains(word.to_lowercase().as_str()) || is_name
}
