//! Times at a counted distance: "two weeks ago", "in three days".

use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};

use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::amounts::Amount;
use crate::time::calendar::{
    FoundTime, Grain, add_days, add_months, first_of_month, monday_of_week, shift_by_units, span_of_season,
    weekday_before, weekday_from,
};
use crate::time::expressions::relative_times::Step;
use crate::time::parser::{Parser, ReadResult};
use crate::time::tense::verb_forms::{is_be, tense_cue};
use crate::time::token::Tense;
use crate::time_words::lexicon::{Class, Trust, Unit};

impl Parser<'_> {
    /// Reads "two weeks ago", "a year and a half ago", "three days from now", "two Fridays ago".
    pub(crate) fn read_counted_time(&self, i: usize) -> ReadResult {
        let (j, amount) = self.read_amount(i)?;
        if let Some(read) = self.counted_names(j, amount) {
            return Some(read);
        }
        let (k, unit, factor) = self.read_unit(j)?;
        let half = self.read_added_half(k);
        let amount = Amount {
            half: amount.half || half.is_some(),
            ..amount
        };
        let k = half.unwrap_or(k);
        if self.is_any_of(k, &["ago", "back"])
            && (self.word_at(k) == "ago" || !is_in_class(self.word_at(k + 1), WordClass::AfterBack))
        {
            let found = self.offset_by_amount(amount, unit, -i64::from(factor), self.now);
            return Some(self.weekday_in(k + 1, found));
        }
        if let Some(read) = self.read_added_count(k, amount, unit, factor) {
            return Some(read);
        }
        if self.word_at(k) == "earlier" {
            let from = self.previous.map_or(self.now, |last| last.found.start);
            return Some((k + 1, self.offset_by_amount(amount, unit, -i64::from(factor), from)));
        }
        if let Some(end) = self.read_phrase(k, &["from", "now"]) {
            return Some((end, self.offset_by_amount(amount, unit, i64::from(factor), self.now)));
        }
        if self.word_at(k) == "from" {
            let (end, anchor) = self.near_day(k + 1).or_else(|| {
                let (end, day) = self.read_weekday(self.skip_word(k + 1, &["this"]))?;
                Some((end, FoundTime::from_day(weekday_from(self.today, day))))
            })?;
            return Some((
                end,
                self.offset_by_amount(amount, unit, i64::from(factor), anchor.start),
            ));
        }
        None
    }

    /// Reads "and two months ago" after "a year": `amount` units, each `factor` times as long, count too.
    fn read_added_count(&self, i: usize, amount: Amount, unit: Unit, factor: u32) -> ReadResult {
        if self.word_at(i) != "and" || amount.half || amount.vague {
            return None;
        }
        let (j, added) = self.read_amount(i + 1)?;
        let (k, small, small_factor) = self.read_unit(j)?;
        if self.word_at(k) != "ago" {
            return None;
        }
        let from = shift_by_units(self.now, -(i64::from(amount.low) * i64::from(factor)), unit);
        Some((
            k + 1,
            self.offset_by_amount(added, small, -i64::from(small_factor), from),
        ))
    }

    /// Reads the weekday of "two weeks ago on Friday": the day in that week.
    fn weekday_in(&self, end: usize, found: FoundTime) -> (usize, FoundTime) {
        let next = self.skip_word(end, &["on"]);
        match self.read_weekday(next) {
            Some((after, day)) if found.grain == Grain::Week => (
                after,
                FoundTime::from_day(add_days(monday_of_week(found.first_day()), i64::from(day))),
            ),
            _ => (end, found),
        }
    }

    /// Reads "two Fridays ago", "two summers ago".
    fn counted_names(&self, j: usize, amount: Amount) -> ReadResult {
        if self.word_at(j + 1) != "ago" || amount.high == 0 || amount.high > 1000 {
            return None;
        }
        let back = i64::from(amount.low);
        match self.class_at(j) {
            Class::Weekdays(day) | Class::Weekday(day, Trust::Plain) => Some((
                j + 2,
                FoundTime::from_day(add_days(weekday_before(self.today, day), -7 * (back - 1))),
            )),
            Class::Season(name, _) => {
                let last = self.season_step(name, Step::Last)?;
                let year = last.first_day().year().checked_sub(i32::try_from(back - 1).ok()?)?;
                span_of_season(name, year).map(|found| (j + 2, found))
            }
            _ => None,
        }
    }

    /// Reads "in two weeks", "within a month".
    pub(crate) fn in_units(&self, i: usize) -> ReadResult {
        if !self.is_any_of(i, &["in", "within"]) || self.tense_at(i) == Tense::Past || self.has_not_happened(i) {
            return None;
        }
        let j = self.skip_class(i + 1, WordClass::AboutAmount);
        let (k, amount) = self.read_amount(j)?;
        let (end, unit, factor) = self.read_unit(k)?;
        let idle = matches!(unit, Unit::Second | Unit::Minute) && self.is_of_class(j, WordClass::IdleAmount);
        let other = self.word_at(end) == "-" || self.is_of_class(end, WordClass::NoTimeAhead);
        let within_a_day = unit == Unit::Day && amount.high == 1 && self.word_at(i) == "in";
        if idle || other || within_a_day || self.word_at(j) == "the" {
            return None;
        }
        let end = self
            .read_phrase(end, &["'", "time"])
            .or_else(|| self.read_phrase(end, &["'s", "time"]))
            .unwrap_or(end);
        if self.word_at(i) == "within" {
            return Some((end, self.span_ahead(i64::from(amount.high) * i64::from(factor), unit)));
        }
        Some((end, self.offset_by_amount(amount, unit, i64::from(factor), self.now)))
    }

    /// Returns true if the clause of token `i` says before it that something has not happened. "In two years" is then a
    /// length: "I haven't seen him in two years".
    fn has_not_happened(&self, i: usize) -> bool {
        let sentence = self.tokens.get(i).map(|token| token.sentence);
        let in_clause = |at: &usize| {
            let token = self.tokens.get(*at);
            token.is_some_and(|token| Some(token.sentence) == sentence && !matches!(token.class, Class::Mark(_)))
                && !self.is_of_class(*at, WordClass::PartsPlans)
        };
        let denied = |at: usize| {
            self.is_any_of(at, &["haven", "havent", "hasn", "hasnt", "hadn", "hadnt"])
                || (self.is_any_of(at, &["have", "has", "had", "'ve", "’ve"])
                    && self.is_any_of(at + 1, &["not", "never"]))
        };
        // The last verb counts: "I haven't told her we're moving in two weeks".
        let mut before = (0..i).rev().take_while(in_clause);
        let verb = before.find(|at| denied(*at) || self.looks_ahead(*at));
        verb.is_some_and(denied)
    }

    /// Returns true at a verb of the present or the future that a time ahead can follow: "is", "we're", "will", "can".
    fn looks_ahead(&self, i: usize) -> bool {
        let word = self.word_at(i);
        let is = matches!(word, "'s" | "’s") && is_in_class(self.word_before(i), WordClass::PersonBeforeIs);
        is || is_be(word)
            || matches!(word, "can" | "must")
            || is_in_class(word, WordClass::UnsureAuxiliary)
            || tense_cue(self.word_before(i), word, self.word_at(i + 1)) == Tense::Future
    }

    /// Returns the stretch `amount` units from `from`; `factor` multiplies the amount and is negative for the past. The
    /// result is no finer than the unit.
    pub(crate) fn offset_by_amount(&self, amount: Amount, unit: Unit, factor: i64, from: NaiveDateTime) -> FoundTime {
        if amount.half {
            return half_offset(amount, unit, factor, from);
        }
        let (near, far) = (i64::from(amount.low) * factor, i64::from(amount.high) * factor);
        let (first, last) = (near.min(far), near.max(far));
        let (a, b) = (unit_at(from, first, unit), unit_at(from, last, unit));
        if !amount.vague {
            return a;
        }
        if unit == Unit::Year && amount.high > amount.low + 1 {
            // "A few years" does not follow calendar years: two to six years, with the precision of a month.
            let start = add_months(
                first_of_month(from.date()),
                12 * if factor < 0 { first - 1 } else { first },
            );
            let end = add_months(
                first_of_month(from.date()),
                12 * if factor < 0 { last } else { last + 1 } + 1,
            );
            return FoundTime::from_days(start, end, Grain::Year).to_vague();
        }
        let grain = if unit == Unit::Day { Grain::Week } else { a.grain };
        FoundTime {
            start: a.start,
            end: b.end,
            grain,
            ..a
        }
        .to_vague()
    }
}

/// Returns the calendar unit that lies `count` units from `from`.
fn unit_at(from: NaiveDateTime, count: i64, unit: Unit) -> FoundTime {
    let at = shift_by_units(from, count, unit);
    let day = at.date();
    match unit {
        Unit::Second | Unit::Minute => FoundTime::from_clock(day, i64::from(at.hour() * 60 + at.minute()), 1),
        Unit::Hour => FoundTime::from_clock(day, i64::from(at.hour()) * 60, 60),
        Unit::Day | Unit::Night => FoundTime::from_day(day),
        Unit::Weekend => FoundTime::weekend_of(day),
        Unit::Week | Unit::Fortnight => FoundTime::week_of(day),
        Unit::Month | Unit::Quarter => FoundTime::month_of(day),
        Unit::Year | Unit::Decade | Unit::Century => FoundTime::from_year(day.year()),
    }
}

/// Returns the time at a distance of some units and a half. From weeks on, it is a stretch around the exact distance,
/// since nobody means half a unit exactly.
fn half_offset(amount: Amount, unit: Unit, factor: i64, from: NaiveDateTime) -> FoundTime {
    let sign = factor.signum();
    let size = factor.abs();
    let full_units = shift_by_units(from, i64::from(amount.low) * factor, unit);
    let around = |at: NaiveDateTime, days: i64, grain| {
        FoundTime::from_days(add_days(at.date(), -days), add_days(at.date(), days + 1), grain)
    };
    match unit {
        Unit::Second | Unit::Minute => FoundTime::from_clock(
            full_units.date(),
            i64::from(full_units.hour() * 60 + full_units.minute()),
            1,
        ),
        Unit::Hour => {
            let at = full_units + TimeDelta::minutes(30 * sign);
            FoundTime::from_clock(at.date(), i64::from(at.hour() * 60 + at.minute()), 1)
        }
        Unit::Day | Unit::Night => FoundTime::from_day((full_units + TimeDelta::hours(12 * sign)).date()),
        Unit::Week | Unit::Fortnight | Unit::Weekend => {
            around(shift_by_units(full_units, 3 * size * sign, Unit::Day), 3, Grain::Week)
        }
        Unit::Month | Unit::Quarter => around(shift_by_units(full_units, 15 * size * sign, Unit::Day), 7, Grain::Month),
        Unit::Year => {
            let at = add_months(full_units.date(), 6 * sign);
            FoundTime::from_days(add_months(at, -1), add_days(add_months(at, 1), 1), Grain::Season)
        }
        Unit::Decade | Unit::Century => {
            FoundTime::from_years(shift_by_units(full_units, 5 * size * sign, Unit::Year).year() - 1, 3)
        }
    }
}
