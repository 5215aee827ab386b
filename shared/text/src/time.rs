//! Temporal expressions: times that a text names, resolved against a reference, and their rendering as text.
//!
//! The parser has tokens, one table of words, and rules; from left to right, the longest match wins. It reads English
//! in full, and of other languages the dates, the names of months and weekdays, and words such as "tomorrow". Weeks
//! begin on Monday, seasons are those of the northern hemisphere, and dates with slashes begin with the month.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the classes of token it reads; every other class is no part of it"
)]

mod amounts;
mod calendar;
mod expressions;
mod grammar;
mod languages;
mod parser;
mod render;
mod tense;
pub(super) mod token;
pub mod words;

use std::ops::Range;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, TimeDelta, Utc};
use domain::time::{Precision, TimeSpan};

use crate::lexicon::{Class as WordClass, words_of_class};
use crate::time_words::lexicon::{Class, Unit};
use crate::{gloss, is_stop};
use calendar::{FoundTime, Grain};
use languages::foreign_clock::has_clock_word;
use parser::{Parser, Previous};

pub use render::{render_mention, render_span};

/// The kind of time that a mention names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// One unit of the calendar or clock: a day, a week, a summer, half past three.
    Point,
    /// A stretch whose two ends are named or known: "from June 1 to June 5", "since 2019", "the last three days".
    Interval,
    /// A length without a place in time: "for two hours". Its span is empty, at the reference, of unknown precision.
    Duration,
    /// A time whose bounds are estimated: "a few days ago", "recently".
    Vague,
}

/// A time named in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Byte range of the expression.
    pub range: Range<usize>,
    /// Meaning of the words in the range.
    pub span: TimeSpan,
    /// The kind of time.
    pub kind: Kind,
    /// True if the span depends on the reference.
    pub relative: bool,
    /// True if the words name a month but no year, so that the reference and the tense decide on the year.
    pub is_year_inferred: bool,
}

/// Returns the times that `text` names, in order, without overlaps, resolved against `reference` in its offset.
///
/// Spans lie in the years 1 to 9999. The tense of the sentence places a weekday, day or month without a year; without a
/// tense, it is the nearest one (for a weekday, the next one). Repeated times ("every Friday") are left out. The cost
/// is linear in the text. Returns no times if the reference lies outside the years 1 to 9999.
pub fn find_times(text: &str, reference: DateTime<FixedOffset>) -> Vec<Mention> {
    let now = reference.naive_local();
    if !(1..=9999).contains(&now.year()) {
        return Vec::new();
    }
    let mut tokens = token::split_tokens(text);
    tense::mark_tenses(text, &mut tokens);
    let offset = reference.offset().local_minus_utc();
    let mut parser = Parser {
        text,
        tokens: &tokens,
        now,
        today: now.date(),
        previous: None,
        has_clock_word: has_clock_word(&tokens),
        offset_minutes: i64::from(offset) / 60,
    };
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((end, found)) = parser
            .read_expression(at)
            .filter(|(end, found)| *end > at && is_valid_span(found))
        else {
            at += 1;
            continue;
        };
        if !is_repeated(&parser, at) {
            mentions.extend(build_mention(&parser, at..end, &found, offset));
            if found.kind == Kind::Point {
                parser.previous = tokens.get(at).map(|token| Previous {
                    found,
                    sentence: token.sentence,
                    end,
                    names_month: parser.names_month(at..end),
                });
            }
        }
        at = end;
    }
    mentions.retain(|it| !is_grammar(text, &it.range));
    mentions
}

/// A length of time, with the precision of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) months: u32,
    pub(crate) days: u32,
    pub(crate) precision: Precision,
}

/// Reads the words of a length: "fifteen years", "a year and a half". Returns `None` for a length that cannot be
/// counted, such as "a few years".
pub(crate) fn parse_length(words: &str) -> Option<Length> {
    let mut tokens = token::split_tokens(words);
    tense::mark_tenses(words, &mut tokens);
    let now = NaiveDateTime::default();
    let parser = Parser {
        text: words,
        tokens: &tokens,
        now,
        today: now.date(),
        previous: None,
        has_clock_word: has_clock_word(&tokens),
        offset_minutes: 0,
    };
    let (at, amount) = parser.read_amount(0)?;
    let (at, unit, factor) = parser.read_unit(at)?;
    let half = amount.half || parser.read_added_half(at).is_some();
    // "A couple" is two, and so is "two or three".
    let countable = amount.high.saturating_sub(amount.low) <= 2 && amount.high <= LENGTH_MAX;
    let count = countable.then(|| u32::midpoint(amount.low, amount.high))?;
    let halves = (2 * count + u32::from(half)) * factor;
    let (months, days, precision) = match unit {
        Unit::Decade => (60 * halves, 0, Precision::Year),
        Unit::Year if half => (6 * halves, 0, Precision::Season),
        Unit::Year => (6 * halves, 0, Precision::Year),
        Unit::Month => (halves / 2, 15 * (halves % 2), Precision::Month),
        Unit::Week => (0, 7 * halves / 2, Precision::Week),
        Unit::Day => (0, halves / 2, Precision::Day),
        _ => return None,
    };
    Some(Length {
        months,
        days,
        precision,
    })
}

/// Largest length that is read, in its unit.
const LENGTH_MAX: u32 = 200;

/// Returns true if a short mention is a function word of another language: "mon chien" names no Monday.
fn is_grammar(text: &str, mention: &Range<usize>) -> bool {
    let is = |it: &gloss::Piece| it.range == *mention && it.english.as_deref().is_some_and(is_stop);
    mention.len() <= SHORT && gloss::split_pieces(text).is_some_and(|it| it.iter().any(is))
}
/// Number of bytes of the short names of days and months.
const SHORT: usize = 3;

/// Returns true if a mention is repeated, and so names no single time: "every Friday", "each summer", "jeden Montag". A
/// list of weekdays is repeated as a whole: "every Monday and Thursday".
fn is_repeated(parser: &Parser<'_>, at: usize) -> bool {
    let before = first_weekday_of_list(parser, at).wrapping_sub(1);
    parser.is_any_of(before, &["every", "each"])
        || (is_weekday(parser, at) && parser.is_of_class(before, WordClass::Habitual))
        || (parser.is_any_of(before, &["other", "single"]) && parser.is_any_of(before.wrapping_sub(1), &["every"]))
}

/// Returns the first weekday of the list that token `at` continues: "Monday" of "Monday, Tuesday and Friday". Returns
/// `at` if it is no weekday, or if no other weekday stands before it.
fn first_weekday_of_list(parser: &Parser<'_>, at: usize) -> usize {
    let mut first = at;
    for _ in 1..DAYS_OF_WEEK {
        let joint = parser.skip_back(parser.skip_back(first, words_of_class(WordClass::JoinsThings)), &[","]);
        match joint.checked_sub(1) {
            Some(day) if joint < first && is_weekday(parser, first) && is_weekday(parser, day) => first = day,
            Some(_) | None => break,
        }
    }
    first
}
/// Number of weekdays that a list can have.
const DAYS_OF_WEEK: usize = 7;

fn is_weekday(parser: &Parser<'_>, at: usize) -> bool {
    matches!(parser.class_at(at), Class::Weekday(..))
}

fn is_valid_span(found: &FoundTime) -> bool {
    found.start < found.end || found.kind == Kind::Duration
}

fn build_mention(parser: &Parser<'_>, tokens: Range<usize>, found: &FoundTime, offset: i32) -> Option<Mention> {
    let start = parser.tokens.get(tokens.start)?.start;
    let end = parser.tokens.get(tokens.end.checked_sub(1)?)?.end;
    let words = parser.text.get(start..end)?;
    let names_month = parser.names_month(tokens);
    let precision = if found.kind == Kind::Duration {
        Grain::Unknown
    } else {
        found.grain
    }
    .to_precision();
    let span = TimeSpan {
        start: to_utc(found.start, offset),
        end: to_utc(found.end, offset),
        precision,
        words: words.to_owned(),
    };
    Some(Mention {
        range: start..end,
        span,
        kind: found.kind,
        relative: found.relative,
        is_year_inferred: names_month && !found.dated,
    })
}

fn to_utc(local: NaiveDateTime, offset: i32) -> DateTime<Utc> {
    local
        .checked_sub_signed(TimeDelta::seconds(i64::from(offset)))
        .unwrap_or(local)
        .and_utc()
}
