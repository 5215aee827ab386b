//! Times named in a text, resolved against a reference, and how a span reads.
//!
//! An own reader: tokens, one table of words, and rules of which the longest wins from left to right. English is read
//! in full; of other languages the dates, the names of months and weekdays and the near days. Weeks begin on Monday,
//! seasons are those of the northern half of the earth, figures with slashes put the month first.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the classes of token it reads; every other class is no part of it"
)]

pub mod words;

mod ahead;
mod anchored;
mod calendar;
mod clause;
mod counted;
mod dates;
mod grammar;
mod holidays;
mod lexicon;
mod month_days;
mod numeric;
mod parser;
mod ranges;
mod relative;
mod render;
mod signs;
mod tense;
mod token;
mod world;
mod world_clock;
mod world_words;

use std::ops::Range;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, TimeDelta, Utc};
use domain::time::{Precision, TimeSpan};

use crate::{gloss, is_stop};
use calendar::{Found, Grain};
use lexicon::Unit;
use parser::{Parser, Previous};

pub use lexicon::number_word;
pub use render::{render, render_mention};

/// What sort of time a mention names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// One unit of the calendar or clock: a day, a week, a summer, half past three.
    Point,
    /// A stretch with both its ends said or known: "from June 1 to June 5", "since 2019", "the last three days".
    Interval,
    /// A length without a place: "for two hours". Its span is empty, at the reference, of unknown precision.
    Duration,
    /// A time whose bounds are a guess: "a few days ago", "recently".
    Vague,
}

/// A time named in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the expression.
    pub range: Range<usize>,
    /// What it means; its words are those of the range.
    pub span: TimeSpan,
    /// What sort of time it is.
    pub kind: Kind,
    /// The span depends on the reference.
    pub relative: bool,
}

/// Says whether a word in lower case is the name of a month in a language that is read, and no common word.
pub(crate) fn is_month(word: &str) -> bool {
    matches!(
        lexicon::class(word),
        lexicon::Class::Month(_, lexicon::Trust::Plain | lexicon::Trust::Name)
    )
}

/// Returns the times that `text` names, in order, without overlaps, resolved against `reference` in its offset.
///
/// Spans lie in the years 1 to 9999. A weekday, day or month without a year is placed by the tense of its sentence,
/// else as the nearest (a weekday: the coming one). Repeated times ("every Friday") are left out. Takes time linear in
/// the text; returns nothing when the reference lies outside the years 1 to 9999.
pub fn find(text: &str, reference: DateTime<FixedOffset>) -> Vec<Mention> {
    let now = reference.naive_local();
    if !(1..=9999).contains(&now.year()) {
        return Vec::new();
    }
    let tokens = token::tokens(text);
    let offset = reference.offset().local_minus_utc();
    let mut parser = Parser {
        text,
        tokens: &tokens,
        now,
        today: now.date(),
        previous: None,
        offset_minutes: i64::from(offset) / 60,
    };
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((end, found)) = parser.expression(at).filter(|(end, found)| *end > at && sound(found)) else {
            at += 1;
            continue;
        };
        if !repeated(&parser, at) {
            mentions.extend(mention(&parser, at..end, &found, offset));
            if found.kind == Kind::Point {
                parser.previous = tokens.get(at).map(|token| Previous {
                    found,
                    sentence: token.sentence,
                    end,
                });
            }
        }
        at = end;
    }
    mentions.retain(|it| !is_grammar(text, &it.range));
    mentions
}

/// A length of time, as exactly as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) months: u32,
    pub(crate) days: u32,
    pub(crate) precision: Precision,
}

/// Reads the words of a length: "fifteen years", "a year and a half". None for one that nobody could count, "a few years".
pub(crate) fn length(words: &str) -> Option<Length> {
    let tokens = token::tokens(words);
    let now = NaiveDateTime::default();
    let parser = Parser {
        text: words,
        tokens: &tokens,
        now,
        today: now.date(),
        previous: None,
        offset_minutes: 0,
    };
    let (at, amount) = parser.amount(0)?;
    let (at, unit, factor) = parser.unit(at)?;
    let half = amount.half || parser.phrase(at, &["and", "a", "half"]).is_some();
    // "A couple" are two, "two or three" too.
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

/// Longest length that is read, in its unit.
const LENGTH_MAX: u32 = 200;

/// "Mon chien" is no Monday's: says whether all of a short mention is a function word of another language.
fn is_grammar(text: &str, mention: &Range<usize>) -> bool {
    let is = |it: &gloss::Piece| it.range == *mention && it.english.as_deref().is_some_and(is_stop);
    mention.len() <= SHORT && gloss::pieces(text).is_some_and(|it| it.iter().any(is))
}
/// Bytes of the names of days and months cut short.
const SHORT: usize = 3;

/// "every Friday", "each summer" name no time.
fn repeated(parser: &Parser<'_>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    parser.is(before, &["every", "each"])
        || (parser.is(before, &["other", "single"]) && parser.is(before.wrapping_sub(1), &["every"]))
}

fn sound(found: &Found) -> bool {
    found.start < found.end || found.kind == Kind::Duration
}

fn mention(parser: &Parser<'_>, tokens: Range<usize>, found: &Found, offset: i32) -> Option<Mention> {
    let start = parser.tokens.get(tokens.start)?.start;
    let end = parser.tokens.get(tokens.end.checked_sub(1)?)?.end;
    let words = parser.text.get(start..end)?;
    let precision = if found.kind == Kind::Duration {
        Grain::Unknown
    } else {
        found.grain
    }
    .precision();
    let span = TimeSpan {
        start: utc(found.start, offset),
        end: utc(found.end, offset),
        precision,
        words: words.to_owned(),
    };
    Some(Mention {
        range: start..end,
        span,
        kind: found.kind,
        relative: found.relative,
    })
}

fn utc(local: NaiveDateTime, offset: i32) -> DateTime<Utc> {
    local
        .checked_sub_signed(TimeDelta::seconds(i64::from(offset)))
        .unwrap_or(local)
        .and_utc()
}
