//! Holidays and other named days.

use chrono::{Datelike, NaiveDate, Weekday};

use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::calendar::{FoundTime, Grain, add_days, checked_date, easter_sunday, nth_weekday};
use crate::time::parser::{Parser, ReadResult};
use crate::time::token::Tense;
use crate::time_words::holidays::{HOLIDAYS, Rule};

impl Parser<'_> {
    fn read_holiday_name(&self, i: usize) -> Option<(usize, Rule)> {
        HOLIDAYS
            .iter()
            .find_map(|it| self.feast_named(i, &it.words).map(|end| (end, it.rule)))
    }

    fn feast_named(&self, i: usize, names: &[&str]) -> Option<usize> {
        let mut at = i;
        for name in names {
            if self.word_at(at) != *name {
                return None;
            }
            at = self.skip_word(at + 1, &["'s", "’s", "'", "’", "."]);
        }
        let bare = at > i + names.len() && self.is_any_of(at - 1, &["'s", "’s", "'", "’", "."]);
        Some(if bare { at - 1 } else { at })
    }

    /// Reads "Christmas 2022", "on Halloween", "Easter last year".
    pub(crate) fn read_holiday(&self, i: usize) -> ReadResult {
        let i = self.skip_word(i, &["the"]);
        let (j, rule) = self.read_holiday_name(i)?;
        if let Some((end, year)) = self.read_year_after(j) {
            return Some((end, span_of_holiday(rule, year)?.to_absolute()));
        }
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| span_of_holiday(rule, year));
        let mut all = all.iter().flatten().copied();
        let near = match self.tense_at(i) {
            Tense::Past => all
                .filter(|found| found.start <= self.now)
                .max_by_key(|found| found.start),
            Tense::Future => all.find(|found| found.end > self.now),
            Tense::Open | Tense::Unsure => all.min_by_key(|found| (found.start - self.now).abs()),
        };
        let opened = is_in_class(self.word_before(i), WordClass::OpensFeast);
        (opened || j > i + 1).then_some(())?;
        near.map(|found| (j, found))
    }

    /// Reads a holiday after "last", "this" or "next".
    pub(crate) fn holiday_step(&self, i: usize, this: bool, next: bool) -> ReadResult {
        let (j, rule) = self.read_holiday_name(i)?;
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| span_of_holiday(rule, year));
        let mut all = all.iter().flatten().copied();
        let past = this && self.tense_at(i) == Tense::Past;
        let chosen = if past {
            // "This Christmas I cooked" in January means the last one.
            all.filter(|found| found.start <= self.now)
                .max_by_key(|found| found.start)
        } else if this {
            all.find(|found| found.first_day().year() == year)
        } else if next {
            all.find(|found| found.start > self.now)
        } else {
            all.filter(|found| found.end <= self.now)
                .max_by_key(|found| found.start)
        };
        chosen.map(|found| (j, found))
    }
}

fn span_of_holiday(rule: Rule, year: i32) -> Option<FoundTime> {
    let days = |first: NaiveDate, count: i64| {
        FoundTime::from_days(
            first,
            add_days(first, count),
            if count == 1 { Grain::Day } else { Grain::Week },
        )
    };
    Some(match rule {
        Rule::Fixed(month, day, count) => days(checked_date(year, month, day)?, count),
        Rule::Nth(month, nth, weekday) => days(nth_weekday(checked_date(year, month, 1)?, nth, weekday), 1),
        Rule::Easter(offset, count) => days(add_days(easter_sunday(year)?, offset), count),
        Rule::BlackFriday => days(add_days(nth_weekday(checked_date(year, 11, 1)?, 4, Weekday::Thu), 1), 1),
    })
}
