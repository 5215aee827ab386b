//! Stretches between two times, open stretches, durations and vague times.

use chrono::{Datelike, NaiveDate, TimeDelta};

use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::Kind;
use crate::time::calendar::{FoundTime, Grain, add_days, midnight_of};
use crate::time::parser::{Parser, ReadResult};
use crate::time_words::lexicon::{Class, Unit};
use crate::time_words::vague_times::VAGUE_TIMES;

impl Parser<'_> {
    /// Reads "from June 1 to June 5", "between 2019 and 2021", "June 1-5", "9am to 5pm", "since 2019".
    pub(crate) fn read_range(&self, i: usize) -> ReadResult {
        match self.word_at(i) {
            "from" => self.read_range_ends(i + 1, words_of_class(WordClass::RangeTo)),
            "between" => self.read_range_ends(i + 1, &["and", "-", "–"]),
            "since" => self.read_since(i),
            _ => self.read_range_ends(i, words_of_class(WordClass::RangeTo)),
        }
    }

    /// Reads two times that one of `joints` connects; the first takes its year from the second.
    fn read_range_ends(&self, i: usize, joints: &[&str]) -> ReadResult {
        if let Some(read) = self
            .days_of_month(i, joints)
            .or_else(|| self.read_clock_range(i, joints))
        {
            return Some(read);
        }
        let led = self.is_any_of(i.wrapping_sub(1), &["from", "between"]);
        let years = led || (self.is_any_of(i + 1, joints) && self.read_year(i + 2).is_some());
        let year = if years { self.plain_year(i) } else { None };
        let (mut joint, mut first) = year
            .or_else(|| self.read_placed_time(i))
            .or_else(|| self.bare_month(i))?;
        if !self.is_any_of(joint, joints) && led && self.is_any_of(joint, &["up"]) {
            joint += 1;
        }
        if !self.is_any_of(joint, joints) {
            return None;
        }
        let k = self.skip_word(joint + 1, &["until"]);
        let (end, mut last) = self
            .plain_year(k)
            .or_else(|| self.read_placed_time(k))
            .or_else(|| self.bare_month(k))?;
        if last.dated
            && !first.dated
            && let Some((at, dated)) = self.read_absolute_date(i, Some(last.first_day().year()))
            && at == joint
        {
            first = dated.to_absolute();
        }
        if last.start < first.start && !last.dated {
            last = self.next_end_after(k, end, &first)?;
        }
        if first.start > last.start
            && !first.dated
            && let Some((_, dated)) = self.read_absolute_date(i, Some(last.first_day().year() - 1))
        {
            first = dated;
        }
        first.span_until(&last).map(|found| (end, found))
    }

    fn plain_year(&self, i: usize) -> ReadResult {
        self.read_year(i)
            .map(|(end, year)| (end, FoundTime::from_year(year).to_absolute()))
    }

    /// Reads a month at the end of a range, which needs no further evidence.
    fn bare_month(&self, i: usize) -> ReadResult {
        let (end, month, _) = self.read_month(i)?;
        (self.is_capitalised(i) || self.is_any_of(i.wrapping_sub(1), &["from", "between"]))
            .then(|| (end, FoundTime::month_of(self.month_of_year(i, month))))
    }

    /// Returns a later end for a range whose end lies before its start: the next such time after the start.
    fn next_end_after(&self, i: usize, end: usize, first: &FoundTime) -> Option<FoundTime> {
        if let Some((_, day)) = self.read_weekday(i) {
            return Some(FoundTime::from_day(crate::time::calendar::weekday_from(
                first.first_day(),
                day,
            )));
        }
        let year = first.first_day().year();
        [year, year + 1]
            .into_iter()
            .filter_map(|year| self.read_absolute_date(i, Some(year)))
            .find_map(|(at, found)| (at == end && found.end > first.start).then_some(found))
    }

    /// Reads "June 1-5, 2023", "1-5 June", "the 1st to the 5th of June".
    fn days_of_month(&self, i: usize, joints: &[&str]) -> ReadResult {
        let start = self.skip_word(i, &["the"]);
        let day = |at: usize| match self.class_at(at) {
            Class::Digits(day @ 1..=31, 1 | 2) | Class::Ordinal(day @ 1..=31) => Some(day),
            _ => None,
        };
        if let Some((j, month, _)) = self.read_month(start) {
            let from = day(j)?;
            if !self.is_any_of(j + 1, joints) {
                return None;
            }
            let k = self.skip_word(j + 2, &["the"]);
            let to = day(k).filter(|to| *to > from && !self.is_any_of(k + 1, &["am", "pm", ":"]))?;
            if let Class::Month(..) = self.class_at(k + 1)
                && self.read_year_after(k + 1).is_none()
            {
                return None;
            }
            let (end, year) = self
                .read_year_after(k + 1)
                .map_or((k + 1, None), |(end, year)| (end, Some(year)));
            return self.month_days(start, month, from, to, year).map(|found| (end, found));
        }
        let from = day(start)?;
        let k = self.skip_word(start + 2, &["the"]);
        let to = day(k).filter(|to| *to > from && self.is_any_of(start + 1, joints))?;
        let of = self.skip_word(k + 1, &["of"]);
        let (j, month, _) = self.read_month(of)?;
        let (end, year) = self
            .read_year_after(j)
            .map_or((j, None), |(end, year)| (end, Some(year)));
        self.month_days(start, month, from, to, year).map(|found| (end, found))
    }

    fn month_days(&self, i: usize, month: u32, from: u32, to: u32, year: Option<i32>) -> Option<FoundTime> {
        let first = match year {
            Some(year) => crate::time::calendar::checked_date(year, month, from)?,
            None => self.day_of_year(i, month, from)?,
        };
        let last = crate::time::calendar::checked_date(first.year(), month, to)?;
        let found = FoundTime::from_days(first, add_days(last, 1), Grain::Day).with_kind(Kind::Interval);
        Some(if year.is_some() { found.to_absolute() } else { found })
    }

    /// Reads "from 3 to 5 pm", "9am-5pm". The day is the one next to it or the last one of the sentence, otherwise
    /// today.
    fn read_clock_range(&self, i: usize, joints: &[&str]) -> ReadResult {
        let (end, from, to) = self.opening_hours(i, joints)?;
        let (end, day) = self.read_adjacent_day(i, end)?;
        Some((end, hours_of(day, from, to)))
    }

    /// Reads the hours after a day: "Friday from 3 to 5 pm".
    pub(crate) fn read_hours_after(&self, i: usize, day: &FoundTime) -> ReadResult {
        let at = self.skip_word(self.skip_word(i, &[","]), &["from", "between"]);
        let joints = if self.word_at(at.wrapping_sub(1)) == "between" {
            &["and"]
        } else {
            words_of_class(WordClass::RangeTo)
        };
        let (end, from, to) = self.opening_hours(at, joints)?;
        Some((
            end,
            FoundTime {
                relative: day.relative,
                dated: day.dated,
                ..hours_of(day.first_day(), from, to)
            },
        ))
    }

    /// Reads two clock times; returns them as minutes after midnight.
    fn opening_hours(&self, i: usize, joints: &[&str]) -> Option<(usize, i64, i64)> {
        let (j, first) = self.read_clock(i, true)?;
        if !self.is_any_of(j, joints) {
            return None;
        }
        let (end, last) = self.read_clock(j + 1, true)?;
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
    fn read_since(&self, i: usize) -> ReadResult {
        let (end, first) = self.read_placed_time(i + 1)?;
        let now = midnight_of(add_days(self.today, 1));
        (first.start < now).then_some((
            end,
            FoundTime {
                end: now,
                kind: Kind::Interval,
                ..first
            },
        ))
    }

    /// Reads "for two hours", "three years": a length without a place in time.
    pub(crate) fn read_duration(&self, i: usize) -> ReadResult {
        let j = self.skip_word(i, &["half"]);
        let counted = matches!(self.class_at(j), Class::Digits(..) | Class::Number(_));
        let opened = is_in_class(self.word_before(i), WordClass::OpensLength);
        let rough = is_in_class(self.word_at(self.skip_word(i, &["a"])), WordClass::RoughAmount);
        if !(counted || opened || rough) || self.is_any_of(i, &["the"]) {
            return None;
        }
        let (k, amount) = self.read_amount(i)?;
        let (end, unit, _) = self.read_unit(k)?;
        let half = self.read_added_half(end).unwrap_or(end);
        let aged = self.is_of_class(self.skip_word(half, &["-"]), WordClass::AgeWord)
            || self.read_phrase(half, &["of", "age"]).is_some();
        let rate = matches!(self.class_at(half + 1), Class::Unit(_)) && self.is_of_class(half, WordClass::RateWord);
        let idle = matches!(unit, Unit::Second | Unit::Minute) && amount.high <= 1 && !amount.half;
        let someday = unit == Unit::Day && amount.high == 1 && !amount.half && !opened;
        if aged || rate || idle || someday || unit == Unit::Weekend {
            return None;
        }
        let found = FoundTime {
            start: self.now,
            end: self.now,
            ..FoundTime::between_moments(self.now, self.now, Grain::Unknown)
        };
        Some((
            half,
            FoundTime {
                relative: false,
                ..found
            }
            .with_kind(Kind::Duration),
        ))
    }

    /// Reads "the other day", "recently", "a while ago", "someday": times without exact bounds.
    pub(crate) fn read_vague_time(&self, i: usize) -> ReadResult {
        let (end, found) = VAGUE_TIMES
            .iter()
            .find_map(|it| self.read_phrase(i, &it.words).map(|end| (end, it)))?;
        let alone = end > i + 1 || !self.is_any_of(end, &["as"]);
        let days = |n: i64| midnight_of(add_days(self.today, n));
        alone.then(|| {
            (
                end,
                FoundTime::between_moments(days(found.first_day), days(found.end_day), Grain::Unknown).to_vague(),
            )
        })
    }
}

fn hours_of(day: NaiveDate, from: i64, to: i64) -> FoundTime {
    let start = midnight_of(day);
    FoundTime::between_moments(
        start + TimeDelta::minutes(from),
        start + TimeDelta::minutes(to),
        Grain::Moment,
    )
}
