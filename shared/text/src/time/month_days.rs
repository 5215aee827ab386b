//! Days of a month that the expression does not name: "on the 5th", "the 3rd of next month", "Thursday the 8th".

use chrono::{Datelike, NaiveDate};

use super::calendar::{Found, Grain, add_days, add_months, date, first_of_month};
use super::lexicon::{Class, Unit};
use super::parser::{Parser, Read};
use super::token::Tense;
use crate::lexicon::{Class as WordClass, is};

impl Parser<'_> {
    /// Reads "on the 5th", the day in the nearest fitting month, and "the 5th of next month".
    pub(super) fn day_of_month(&self, i: usize) -> Read {
        let (the, weekday) = match self.class(i) {
            Class::Weekday(day, _) => (self.skip(i + 1, &[","]), Some(day)),
            _ => (i, None),
        };
        let Class::Ordinal(day @ 1..=31) = self.class(the + 1) else {
            return None;
        };
        if self.word(the) != "the" {
            return None;
        }
        if self.word(the + 2) == "of" {
            return self.day_of_told_month(the + 3, day);
        }
        let figures = self.word(the + 1).starts_with(|c: char| c.is_ascii_digit());
        let day_is =
            self.is(i.wrapping_sub(1), &["is", "was"]) && is(self.word(i.wrapping_sub(2)), WordClass::NamedDay);
        let placed = weekday.is_some() || day_is || is(self.before(i), WordClass::OpensDay);
        let next = the + 2;
        let ends = matches!(self.class(next), Class::Mark(_)) && self.word(next) != "-"
            || self.word(next).is_empty()
            || is(self.word(next), WordClass::AfterDay);
        if !(figures && placed && (ends || weekday.is_some())) {
            return None;
        }
        Some((next, Found::day(self.near_month_day(i, day, weekday)?)))
    }

    /// Returns the nearest day with that number, and with that weekday if there is one, by the tense around `i`.
    fn near_month_day(&self, i: usize, day: u32, weekday: Option<u32>) -> Option<NaiveDate> {
        let this = first_of_month(self.today);
        let in_month = |step| {
            let month = add_months(this, step);
            date(month.year(), month.month(), day)
        };
        let fits = |date: &NaiveDate| weekday.is_none_or(|day| date.weekday().num_days_from_monday() == day);
        let candidates = (-11..=11).filter_map(in_month).filter(fits);
        match self.tense(i) {
            Tense::Past => candidates.filter(|date| *date <= self.today).max(),
            Tense::Future => candidates.filter(|date| *date >= self.today).min(),
            Tense::Open | Tense::Unsure => candidates.min_by_key(|date| (*date - self.today).num_days().abs()),
        }
    }

    /// Reads "next month" or "the month" after "the 3rd of".
    fn day_of_told_month(&self, i: usize, day: u32) -> Read {
        let the = self.word(i) == "the" && self.class(i + 1) == Class::Unit(Unit::Month);
        let (end, month) = if the {
            (i + 2, Found::month(self.today))
        } else {
            self.deictic(i)?
        };
        let found = add_days(month.first_day(), i64::from(day) - 1);
        (month.grain == Grain::Month && found < month.day_after()).then(|| (end, Found::day(found)))
    }
}
