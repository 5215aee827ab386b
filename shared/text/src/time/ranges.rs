//! Stretches between two times, open stretches, durations and vague times.

use chrono::{Datelike, NaiveDate, TimeDelta};

use super::Kind;
use super::calendar::{Found, Grain, add_days, midnight};
use super::lexicon::{Class, Unit};
use super::parser::{Parser, Read};
use crate::lexicon::{Class as WordClass, is, words};

impl Parser<'_> {
    /// Reads "from June 1 to June 5", "between 2019 and 2021", "June 1-5", "9am to 5pm", "since 2019".
    pub(super) fn range(&self, i: usize) -> Read {
        match self.word(i) {
            "from" => self.ends(i + 1, words(WordClass::RangeTo)),
            "between" => self.ends(i + 1, &["and", "-", "–"]),
            "since" => self.since(i),
            _ => self.ends(i, words(WordClass::RangeTo)),
        }
    }

    /// Reads two times that one of `joints` connects; the first takes its year from the second.
    fn ends(&self, i: usize, joints: &[&str]) -> Read {
        if let Some(read) = self.days_of_month(i, joints).or_else(|| self.hours(i, joints)) {
            return Some(read);
        }
        let led = self.is(i.wrapping_sub(1), &["from", "between"]);
        let years = led || (self.is(i + 1, joints) && self.year(i + 2).is_some());
        let year = if years { self.plain_year(i) } else { None };
        let (mut joint, mut first) = year.or_else(|| self.placed(i)).or_else(|| self.bare_month(i))?;
        if !self.is(joint, joints) && led && self.is(joint, &["up"]) {
            joint += 1;
        }
        if !self.is(joint, joints) {
            return None;
        }
        let k = self.skip(joint + 1, &["until"]);
        let (end, mut last) = self
            .plain_year(k)
            .or_else(|| self.placed(k))
            .or_else(|| self.bare_month(k))?;
        if last.dated
            && !first.dated
            && let Some((at, dated)) = self.absolute(i, Some(last.first_day().year()))
            && at == joint
        {
            first = dated.absolute();
        }
        if last.start < first.start && !last.dated {
            last = self.following(k, end, &first)?;
        }
        if first.start > last.start
            && !first.dated
            && let Some((_, dated)) = self.absolute(i, Some(last.first_day().year() - 1))
        {
            first = dated;
        }
        first.until(&last).map(|found| (end, found))
    }

    fn plain_year(&self, i: usize) -> Read {
        self.year(i).map(|(end, year)| (end, Found::year(year).absolute()))
    }

    /// Reads a month at the end of a range, which needs no further evidence.
    fn bare_month(&self, i: usize) -> Read {
        let (end, month, _) = self.month(i)?;
        (self.capital(i) || self.is(i.wrapping_sub(1), &["from", "between"]))
            .then(|| (end, Found::month(self.month_of_year(i, month))))
    }

    /// Returns a later end for a range whose end lies before its start: the next such time after the start.
    fn following(&self, i: usize, end: usize, first: &Found) -> Option<Found> {
        if let Some((_, day)) = self.weekday(i) {
            return Some(Found::day(super::calendar::weekday_from(first.first_day(), day)));
        }
        let year = first.first_day().year();
        [year, year + 1]
            .into_iter()
            .filter_map(|year| self.absolute(i, Some(year)))
            .find_map(|(at, found)| (at == end && found.end > first.start).then_some(found))
    }

    /// Reads "June 1-5, 2023", "1-5 June", "the 1st to the 5th of June".
    fn days_of_month(&self, i: usize, joints: &[&str]) -> Read {
        let start = self.skip(i, &["the"]);
        let day = |at: usize| match self.class(at) {
            Class::Digits(day @ 1..=31, 1 | 2) | Class::Ordinal(day @ 1..=31) => Some(day),
            _ => None,
        };
        if let Some((j, month, _)) = self.month(start) {
            let from = day(j)?;
            if !self.is(j + 1, joints) {
                return None;
            }
            let k = self.skip(j + 2, &["the"]);
            let to = day(k).filter(|to| *to > from && !self.is(k + 1, &["am", "pm", ":"]))?;
            if let Class::Month(..) = self.class(k + 1)
                && self.year_behind(k + 1).is_none()
            {
                return None;
            }
            let (end, year) = self
                .year_behind(k + 1)
                .map_or((k + 1, None), |(end, year)| (end, Some(year)));
            return self
                .month_days(start, month, (from, to), year)
                .map(|found| (end, found));
        }
        let from = day(start)?;
        let k = self.skip(start + 2, &["the"]);
        let to = day(k).filter(|to| *to > from && self.is(start + 1, joints))?;
        let of = self.skip(k + 1, &["of"]);
        let (j, month, _) = self.month(of)?;
        let (end, year) = self.year_behind(j).map_or((j, None), |(end, year)| (end, Some(year)));
        self.month_days(start, month, (from, to), year)
            .map(|found| (end, found))
    }

    fn month_days(&self, i: usize, month: u32, days: (u32, u32), year: Option<i32>) -> Option<Found> {
        let first = match year {
            Some(year) => super::calendar::date(year, month, days.0)?,
            None => self.day_of_year(i, month, days.0)?,
        };
        let last = super::calendar::date(first.year(), month, days.1)?;
        let found = Found::days(first, add_days(last, 1), Grain::Day).with_kind(Kind::Interval);
        Some(if year.is_some() { found.absolute() } else { found })
    }

    /// Reads "from 3 to 5 pm", "9am-5pm". The day is the one next to it or the last one of the sentence, otherwise
    /// today.
    fn hours(&self, i: usize, joints: &[&str]) -> Read {
        let (end, from, to) = self.opening_hours(i, joints)?;
        let (end, day) = self.day_beside(i, end);
        Some((end, hours_of(day, from, to)))
    }

    /// Reads the hours after a day: "Friday from 3 to 5 pm".
    pub(super) fn hours_behind(&self, i: usize, day: &Found) -> Read {
        let at = self.skip(self.skip(i, &[","]), &["from", "between"]);
        let joints = if self.word(at.wrapping_sub(1)) == "between" {
            &["and"]
        } else {
            words(WordClass::RangeTo)
        };
        let (end, from, to) = self.opening_hours(at, joints)?;
        Some((
            end,
            Found {
                relative: day.relative,
                dated: day.dated,
                ..hours_of(day.first_day(), from, to)
            },
        ))
    }

    /// Reads two clock times; returns them as minutes after midnight.
    fn opening_hours(&self, i: usize, joints: &[&str]) -> Option<(usize, i64, i64)> {
        let (j, first) = self.clock(i, true)?;
        if !self.is(j, joints) {
            return None;
        }
        let (end, last) = self.clock(j + 1, true)?;
        if !(last.sure && (first.sure || last.half)) {
            return None;
        }
        let late = last.minutes >= 720 && last.half && !first.half;
        let opened = first.minutes % 720;
        let from = match (first.half, late) {
            (false, true) if opened + 720 < last.minutes => opened + 720,
            (false, _) if opened < last.minutes => opened,
            _ => first.minutes,
        };
        Some((
            end,
            from,
            if last.minutes > from {
                last.minutes
            } else {
                last.minutes + 1440
            },
        ))
    }

    /// Reads "since 2019", "since last Monday": up to the end of today.
    fn since(&self, i: usize) -> Read {
        let (end, first) = self.placed(i + 1)?;
        let now = midnight(add_days(self.today, 1));
        (first.start < now).then_some((
            end,
            Found {
                end: now,
                kind: Kind::Interval,
                ..first
            },
        ))
    }

    /// Reads "for two hours", "three years": a length without a place in time.
    pub(super) fn duration(&self, i: usize) -> Read {
        let j = self.skip(i, &["half"]);
        let counted = matches!(self.class(j), Class::Digits(..) | Class::Number(_));
        let opened = is(self.before(i), WordClass::OpensLength);
        let rough = is(self.word(self.skip(i, &["a"])), WordClass::RoughAmount);
        if !(counted || opened || rough) || self.is(i, &["the"]) {
            return None;
        }
        let (k, amount) = self.amount(i)?;
        let (end, unit, _) = self.unit(k)?;
        let half = self.phrase(end, &["and", "a", "half"]).unwrap_or(end);
        let aged = self.is(self.skip(half, &["-"]), &["old", "older", "younger"])
            || self.phrase(half, &["of", "age"]).is_some();
        let rate = self.is(half, &["a", "an", "per", "every"]) && matches!(self.class(half + 1), Class::Unit(_));
        let idle = matches!(unit, Unit::Second | Unit::Minute) && amount.high <= 1 && !amount.half;
        let someday = unit == Unit::Day && amount.high == 1 && !amount.half && !opened;
        if aged || rate || idle || someday || unit == Unit::Weekend {
            return None;
        }
        let found = Found {
            start: self.now,
            end: self.now,
            ..Found::between(self.now, self.now, Grain::Unknown)
        };
        Some((
            half,
            Found {
                relative: false,
                ..found
            }
            .with_kind(Kind::Duration),
        ))
    }

    /// Reads "the other day", "recently", "a while ago", "someday": times without exact bounds.
    pub(super) fn vague(&self, i: usize) -> Read {
        let (end, from, to) = VAGUE
            .iter()
            .find_map(|(words, from, to)| self.phrase(i, words).map(|end| (end, *from, *to)))?;
        let alone = end > i + 1 || !self.is(end, &["as"]);
        let days = |n: i64| midnight(add_days(self.today, n));
        alone.then(|| (end, Found::between(days(from), days(to), Grain::Unknown).vague()))
    }
}

fn hours_of(day: NaiveDate, from: i64, to: i64) -> Found {
    let start = midnight(day);
    Found::between(
        start + TimeDelta::minutes(from),
        start + TimeDelta::minutes(to),
        Grain::Moment,
    )
}

/// Vague phrases, with the range in which they fall: first and last day, relative to the reference.
const VAGUE: &[(&[&str], i64, i64)] = &[
    (&["the", "other", "day"], -14, 0),
    (&["the", "other", "night"], -14, 0),
    (&["the", "other", "evening"], -14, 0),
    (&["the", "other", "morning"], -14, 0),
    (&["the", "other", "week"], -35, -6),
    (&["the", "other", "weekend"], -35, 0),
    (&["the", "other", "month"], -120, 0),
    (&["recently"], -60, 1),
    (&["lately"], -60, 1),
    (&["not", "long", "ago"], -90, 0),
    (&["a", "while", "ago"], -730, -7),
    (&["a", "while", "back"], -730, -7),
    (&["some", "time", "ago"], -730, -7),
    (&["sometime", "ago"], -730, -7),
    (&["a", "long", "time", "ago"], -9131, -365),
    (&["a", "long", "while", "ago"], -9131, -365),
    (&["long", "ago"], -9131, -365),
    (&["ages", "ago"], -9131, -180),
    (&["a", "moment", "ago"], 0, 1),
    (&["years", "ago"], -9131, -365),
    (&["months", "ago"], -365, -30),
    (&["weeks", "ago"], -90, -7),
    (&["days", "ago"], -14, -1),
    (&["decades", "ago"], -36_525, -3653),
    (&["in", "recent", "years"], -1827, 1),
    (&["in", "recent", "months"], -183, 1),
    (&["in", "recent", "weeks"], -42, 1),
    (&["in", "recent", "days"], -14, 1),
    (&["in", "the", "near", "future"], 0, 366),
    (&["in", "the", "future"], 0, 3653),
    (&["someday"], 0, 9131),
    (&["some", "day"], 0, 9131),
    (&["one", "of", "these", "days"], 0, 366),
    (&["soon"], 0, 60),
];
