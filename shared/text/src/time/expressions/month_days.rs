//! Days of a month that the expression does not name: "on the 5th", "the 3rd of next month", "Thursday the 8th",
//! "Friday 23".

use chrono::{Datelike, NaiveDate};

use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::calendar::{FoundTime, Grain, add_days, add_months, checked_date, first_of_month};
use crate::time::parser::{Parser, ReadResult};
use crate::time::tense::verb_forms::may_be_present_be;
use crate::time::token::Tense;
use crate::time_words::lexicon::{Class, Unit};

/// Largest number of days between a text and a weekday with a number, such as "Friday 23".
const NUMBERED_DAYS: i64 = 45;

impl Parser<'_> {
    /// Reads "on the 5th", the day in the nearest fitting month, and "the 5th of next month".
    pub(crate) fn day_of_month(&self, i: usize) -> ReadResult {
        let (the, weekday) = match self.class_at(i) {
            Class::Weekday(day, _) => (self.skip_word(i + 1, &[","]), Some(day)),
            _ => (i, None),
        };
        if let Some(found) = weekday.and_then(|weekday| self.numbered_weekday(i, weekday)) {
            return Some((i + 2, found));
        }
        let Class::Ordinal(day @ 1..=31) = self.class_at(the + 1) else {
            return None;
        };
        if self.word_at(the) != "the" {
            return None;
        }
        if self.word_at(the + 2) == "of" {
            return self.day_of_told_month(the + 3, day);
        }
        let figures = self.word_at(the + 1).starts_with(|c: char| c.is_ascii_digit());
        let day_is = self.is_any_of(i.wrapping_sub(1), &["is", "was"])
            && is_in_class(self.word_at(i.wrapping_sub(2)), WordClass::NamedDay);
        let placed = weekday.is_some() || day_is || is_in_class(self.word_before(i), WordClass::OpensDay);
        let next = the + 2;
        if !(figures && placed && (self.ends_day(next) || weekday.is_some())) {
            return None;
        }
        Some((next, FoundTime::from_day(self.near_month_day(i, day, weekday)?)))
    }

    /// Returns true if no word at `i` says what a number before it counts.
    fn ends_day(&self, i: usize) -> bool {
        matches!(self.class_at(i), Class::Mark(_)) && !self.is_any_of(i, &["-", ":", "%"])
            || self.word_at(i).is_empty()
            || is_in_class(self.word_at(i), WordClass::AfterDay)
    }

    /// Reads "Friday 23" and "el lunes 12": the nearest day with that number, if it is that weekday and at most
    /// [`NUMBERED_DAYS`] away. Otherwise the number is something else: "on Friday 12 came".
    fn numbered_weekday(&self, i: usize, weekday: u32) -> Option<FoundTime> {
        let Class::Digits(day @ 1..=31, _) = self.class_at(i + 1) else {
            return None;
        };
        let is_glued = self.is_glued(i + 2) && matches!(self.class_at(i + 3), Class::Digits(..));
        if is_glued || !self.ends_day(i + 2) {
            return None;
        }
        let date = self.near_month_day(i, day, Some(weekday))?;
        ((date - self.today).num_days().abs() <= NUMBERED_DAYS).then(|| FoundTime::from_day(date))
    }

    /// Returns the day with that number, and with that weekday if there is one: in the month that the sentence named
    /// before, otherwise the nearest one by the tense around `i`.
    fn near_month_day(&self, i: usize, day: u32, weekday: Option<u32>) -> Option<NaiveDate> {
        let this = first_of_month(self.today);
        let in_month = |step| {
            let month = add_months(this, step);
            checked_date(month.year(), month.month(), day)
        };
        let fits = |date: &NaiveDate| weekday.is_none_or(|day| date.weekday().num_days_from_monday() == day);
        if let Some(date) = self.later_day_of_named_month(i, day).filter(fits) {
            return Some(date);
        }
        let candidates = (-11..=11).filter_map(in_month).filter(fits);
        match self.tense_at(i) {
            _ if self.follows_present_be(i) => candidates.filter(|date| *date >= self.today).min(),
            Tense::Past => candidates.filter(|date| *date <= self.today).max(),
            Tense::Future => candidates.filter(|date| *date >= self.today).min(),
            Tense::Open | Tense::Unsure => candidates.min_by_key(|date| (*date - self.today).num_days().abs()),
        }
    }

    /// Returns the day with that number in the month of the last day that the sentence named: "we fly on 7 March, back on
    /// the 21st". Returns `None` if it is not later than the named day, if the tense around `i` excludes it, and after
    /// "by" and "since", which lead to a day relative to the present.
    fn later_day_of_named_month(&self, i: usize, day: u32) -> Option<NaiveDate> {
        let named = self.previous.filter(|it| it.names_month)?;
        let in_sentence = self.tokens.get(i).is_some_and(|it| it.sentence == named.sentence);
        let is_day = matches!(named.found.grain, Grain::Day | Grain::Part | Grain::Moment);
        let first = named.found.first_day();
        if !in_sentence || !is_day || first.day() >= day || ["by", "since"].contains(&self.word_before(i)) {
            return None;
        }
        let date = checked_date(first.year(), first.month(), day)?;
        let fits_tense = match self.tense_at(i) {
            _ if self.follows_present_be(i) => date >= self.today,
            Tense::Past => date <= self.today,
            Tense::Future => date >= self.today,
            Tense::Open | Tense::Unsure => true,
        };
        fits_tense.then_some(date)
    }

    /// Returns true if the day at `i` is one that something present has: "the exam is on the 9th", "her last day is the
    /// 9th". Nobody says so of a day that is over.
    fn follows_present_be(&self, i: usize) -> bool {
        may_be_present_be(self.word_before(self.skip_back(i, &["on"])))
    }

    /// Reads "next month" or "the month" after "the 3rd of".
    fn day_of_told_month(&self, i: usize, day: u32) -> ReadResult {
        let the = self.word_at(i) == "the" && self.class_at(i + 1) == Class::Unit(Unit::Month);
        let (end, month) = if the {
            (i + 2, FoundTime::month_of(self.today))
        } else {
            self.read_deictic(i)?
        };
        let found = add_days(month.first_day(), i64::from(day) - 1);
        (month.grain == Grain::Month && found < month.day_after()).then(|| (end, FoundTime::from_day(found)))
    }
}
