//! Times at a counted distance: "two weeks ago", "in three days".

use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};

use super::calendar::{
    Found, Grain, add_days, add_months, first_of_month, monday, season, weekday_before, weekday_from,
};
use super::lexicon::{Class, Trust, Unit};
use super::parser::{Amount, Parser, Read};
use super::relative::Step;
use super::token::Tense;
use crate::lexicon::{Class as WordClass, is};

impl Parser<'_> {
    /// Reads "two weeks ago", "a year and a half ago", "three days from now", "two Fridays ago".
    pub(super) fn counted(&self, i: usize) -> Read {
        let (j, amount) = self.amount(i)?;
        if let Some(read) = self.counted_names(j, amount) {
            return Some(read);
        }
        let (k, unit, factor) = self.unit(j)?;
        let half = self.phrase(k, &["and", "a", "half"]);
        let amount = Amount {
            half: amount.half || half.is_some(),
            ..amount
        };
        let k = half.unwrap_or(k);
        if self.is(k, &["ago", "back"]) && (self.word(k) == "ago" || !is(self.word(k + 1), WordClass::AfterBack)) {
            let found = self.offset(amount, unit, -i64::from(factor), self.now);
            return Some(self.weekday_in(k + 1, found));
        }
        if self.word(k) == "earlier" {
            let from = self.previous.map_or(self.now, |last| last.found.start);
            return Some((k + 1, self.offset(amount, unit, -i64::from(factor), from)));
        }
        if let Some(end) = self.phrase(k, &["from", "now"]) {
            return Some((end, self.offset(amount, unit, i64::from(factor), self.now)));
        }
        if self.word(k) == "from" {
            let (end, anchor) = self.near_day(k + 1).or_else(|| {
                let (end, day) = self.weekday(self.skip(k + 1, &["this"]))?;
                Some((end, Found::day(weekday_from(self.today, day))))
            })?;
            return Some((end, self.offset(amount, unit, i64::from(factor), anchor.start)));
        }
        None
    }

    /// Reads the weekday of "two weeks ago on Friday": the day in that week.
    fn weekday_in(&self, end: usize, found: Found) -> (usize, Found) {
        let next = self.skip(end, &["on"]);
        match self.weekday(next) {
            Some((after, day)) if found.grain == Grain::Week => {
                (after, Found::day(add_days(monday(found.first_day()), i64::from(day))))
            }
            _ => (end, found),
        }
    }

    /// Reads "two Fridays ago", "two summers ago".
    fn counted_names(&self, j: usize, amount: Amount) -> Read {
        if self.word(j + 1) != "ago" || amount.high == 0 || amount.high > 1000 {
            return None;
        }
        let back = i64::from(amount.low);
        match self.class(j) {
            Class::Weekdays(day) | Class::Weekday(day, Trust::Plain) => Some((
                j + 2,
                Found::day(add_days(weekday_before(self.today, day), -7 * (back - 1))),
            )),
            Class::Season(name, _) => {
                let last = self.season_step(name, Step::Last)?;
                let year = last.first_day().year().checked_sub(i32::try_from(back - 1).ok()?)?;
                season(name, year).map(|found| (j + 2, found))
            }
            _ => None,
        }
    }

    /// Reads "in two weeks", "within a month".
    pub(super) fn in_units(&self, i: usize) -> Read {
        if !self.is(i, &["in", "within"]) || self.tense(i) == Tense::Past {
            return None;
        }
        let j = self.skip_class(i + 1, WordClass::AboutAmount);
        let (k, amount) = self.amount(j)?;
        let (end, unit, factor) = self.unit(k)?;
        let idle = matches!(unit, Unit::Second | Unit::Minute) && self.is(j, &["a", "an", "one"]);
        let rate = self.is(end, &["ago", "old", "-", "of"]);
        let within_a_day = unit == Unit::Day && amount.high == 1 && self.word(i) == "in";
        if idle || rate || within_a_day || self.word(j) == "the" {
            return None;
        }
        let end = self
            .phrase(end, &["'", "time"])
            .or_else(|| self.phrase(end, &["'s", "time"]))
            .unwrap_or(end);
        if self.word(i) == "within" {
            return Some((end, self.ahead(i64::from(amount.high) * i64::from(factor), unit)));
        }
        Some((end, self.offset(amount, unit, i64::from(factor), self.now)))
    }

    /// Returns the stretch `amount` units from `from`; `factor` multiplies the amount and is negative for the past. The
    /// result is no finer than the unit.
    pub(super) fn offset(&self, amount: Amount, unit: Unit, factor: i64, from: NaiveDateTime) -> Found {
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
            return Found::days(start, end, Grain::Year).vague();
        }
        let grain = if unit == Unit::Day { Grain::Week } else { a.grain };
        Found {
            start: a.start,
            end: b.end,
            grain,
            ..a
        }
        .vague()
    }
}

/// Returns the calendar unit that lies `count` units from `from`.
fn unit_at(from: NaiveDateTime, count: i64, unit: Unit) -> Found {
    let at = shift(from, count, unit);
    let day = at.date();
    match unit {
        Unit::Second | Unit::Minute => Found::clock(day, i64::from(at.hour() * 60 + at.minute()), 1),
        Unit::Hour => Found::clock(day, i64::from(at.hour()) * 60, 60),
        Unit::Day | Unit::Night => Found::day(day),
        Unit::Weekend => Found::weekend(day),
        Unit::Week | Unit::Fortnight => Found::week(day),
        Unit::Month | Unit::Quarter => Found::month(day),
        Unit::Year | Unit::Decade | Unit::Century => Found::year(day.year()),
    }
}

/// Returns the time at a distance of some units and a half. From weeks on, it is a stretch around the exact distance,
/// since nobody means half a unit exactly.
fn half_offset(amount: Amount, unit: Unit, factor: i64, from: NaiveDateTime) -> Found {
    let sign = factor.signum();
    let size = factor.abs();
    let whole = shift(from, i64::from(amount.low) * factor, unit);
    let around = |at: NaiveDateTime, days: i64, grain| {
        Found::days(add_days(at.date(), -days), add_days(at.date(), days + 1), grain)
    };
    match unit {
        Unit::Second | Unit::Minute => Found::clock(whole.date(), i64::from(whole.hour() * 60 + whole.minute()), 1),
        Unit::Hour => {
            let at = whole + TimeDelta::minutes(30 * sign);
            Found::clock(at.date(), i64::from(at.hour() * 60 + at.minute()), 1)
        }
        Unit::Day | Unit::Night => Found::day((whole + TimeDelta::hours(12 * sign)).date()),
        Unit::Week | Unit::Fortnight | Unit::Weekend => {
            around(shift(whole, 3 * size * sign, Unit::Day), 3, Grain::Week)
        }
        Unit::Month | Unit::Quarter => around(shift(whole, 15 * size * sign, Unit::Day), 7, Grain::Month),
        Unit::Year => {
            let at = add_months(whole.date(), 6 * sign);
            Found::days(add_months(at, -1), add_days(add_months(at, 1), 1), Grain::Season)
        }
        Unit::Decade | Unit::Century => Found::years(shift(whole, 5 * size * sign, Unit::Year).year() - 1, 3),
    }
}

/// Returns a moment moved by whole units; stops at the ends of the calendar.
pub(super) fn shift(from: NaiveDateTime, count: i64, unit: Unit) -> NaiveDateTime {
    let days = |days: i64| add_days(from.date(), days).and_time(from.time());
    let months = |months: i64| add_months(from.date(), months).and_time(from.time());
    let fine = |delta: Option<TimeDelta>| {
        let at = delta.and_then(|delta| from.checked_add_signed(delta)).unwrap_or(from);
        add_days(at.date(), 0).and_time(at.time())
    };
    match unit {
        Unit::Second => fine(TimeDelta::try_seconds(count)),
        Unit::Minute => fine(TimeDelta::try_minutes(count)),
        Unit::Hour => fine(TimeDelta::try_hours(count)),
        Unit::Day | Unit::Night => days(count),
        Unit::Week | Unit::Weekend => days(7 * count),
        Unit::Fortnight => days(14 * count),
        Unit::Month => months(count),
        Unit::Quarter => months(3 * count),
        Unit::Year => months(12 * count),
        Unit::Decade => months(120 * count),
        Unit::Century => months(1200 * count),
    }
}
