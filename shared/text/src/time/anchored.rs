//! Times that another time places: "the week before 9 June", "the first Monday of July", "the end of May".

use chrono::{Datelike, NaiveDate, TimeDelta};

use super::Kind;
use super::calendar::{
    Found, Grain, add_days, add_months, first_of_month, midnight, monday, weekday_before, weekday_from,
};
use super::lexicon::{Class, Part, Unit};
use super::parser::{Amount, Parser, Read};
use super::relative::unit_around;

/// The part of an expression that the other time places.
#[derive(Clone, Copy)]
enum Head {
    Unit(Unit),
    Weekday(u32),
    Part(Part),
    Count(Amount, Unit, u32),
    Weekdays(u32, u32),
    Weekends(u32),
}

impl Parser<'_> {
    fn head(&self, i: usize) -> Option<(usize, Head)> {
        let i = self.skip(i, &["the", "that"]);
        match self.class(i) {
            Class::Unit(unit) => return Some((i + 1, Head::Unit(unit))),
            Class::Weekday(..) => return self.weekday(i).map(|(end, day)| (end, Head::Weekday(day))),
            Class::Part(part) => return Some((i + 1, Head::Part(part))),
            _ => {}
        }
        let (j, amount) = self.amount(i)?;
        match self.class(j) {
            Class::Weekdays(day) if amount.high < 1000 => Some((j + 1, Head::Weekdays(day, amount.low))),
            Class::Unit(Unit::Weekend) if amount.high < 1000 => Some((j + 1, Head::Weekends(amount.low))),
            _ => self
                .unit(j)
                .map(|(end, unit, factor)| (end, Head::Count(amount, unit, factor))),
        }
    }

    /// Reads "the Sunday before 9 June", "two days after Christmas", "the week before last", "the week of 5 June".
    pub(super) fn anchored(&self, i: usize) -> Read {
        let (j, head) = self.head(i)?;
        if let Some(read) = self.before_last(j, head) {
            return Some(read);
        }
        let side = match (self.word(j), self.word(j + 1)) {
            ("before" | "preceding", _) => -1,
            ("prior" | "previous", "to") => -1,
            ("after" | "following" | "since", _) => 1,
            ("of" | "on" | "in", _) => 0,
            _ => return None,
        };
        let k = if self.is(j, &["prior", "previous"]) {
            j + 2
        } else {
            j + 1
        };
        let (end, anchor) = self.simple(k).or_else(|| self.carried(k, side))?;
        let found = match side {
            0 => self.inside(head, &anchor, self.word(j))?,
            -1 => self.ahead_of(head, &anchor)?,
            _ => self.behind(head, &anchor)?,
        };
        Some((
            end,
            Found {
                relative: anchor.relative,
                dated: anchor.dated,
                ..found
            },
        ))
    }

    /// Reads "the week before" and "two days after", which the last time in the text places.
    fn carried(&self, i: usize, side: i64) -> Read {
        let ends = self.word(i).is_empty() || self.is(i, &[".", ",", ";", "!", "?", ")"]);
        let last = self.previous.filter(|_| ends && side != 0)?;
        Some((i, last.found))
    }

    /// Reads "the week before last", "the weekend after next".
    fn before_last(&self, j: usize, head: Head) -> Read {
        let step = match (self.word(j), self.word(j + 1)) {
            ("before", "last") => -2,
            ("after", "next") => 2,
            _ => return None,
        };
        let bare = matches!(
            self.class(j + 2),
            Class::Unit(_) | Class::Weekday(..) | Class::Month(..) | Class::Part(_)
        );
        if bare || self.is(j + 2, &["summer", "winter", "christmas"]) {
            return None;
        }
        let found = match head {
            Head::Weekday(day) if step < 0 => Found::day(add_days(weekday_before(self.today, day), -7)),
            Head::Weekday(day) => Found::day(add_days(monday(self.today), 14 + i64::from(day))),
            Head::Part(part) if step < 0 => Found::part(add_days(self.today, -2), part),
            Head::Unit(Unit::Month) => Found::month(add_months(first_of_month(self.today), step)),
            Head::Unit(Unit::Year) => Found::year(self.today.year() + if step < 0 { -2 } else { 2 }),
            Head::Unit(unit @ (Unit::Week | Unit::Weekend)) => unit_around(add_days(self.today, 7 * step), unit)?,
            _ => return None,
        };
        Some((j + 2, found))
    }

    /// Returns the meaning of "the week of 5 June", "the morning of 7 May", "Monday of next week".
    fn inside(&self, head: Head, anchor: &Found, word: &str) -> Option<Found> {
        let day = anchor.first_day();
        match head {
            Head::Unit(unit @ (Unit::Week | Unit::Weekend | Unit::Day))
                if anchor.grain == Grain::Day && word == "of" =>
            {
                unit_around(day, unit)
            }
            Head::Part(part) if anchor.grain == Grain::Day && word != "in" => Some(Found::part(day, part)),
            Head::Weekday(weekday) if anchor.grain == Grain::Week && word == "of" => {
                Some(Found::day(weekday_from(day, weekday)))
            }
            _ => None,
        }
    }

    fn ahead_of(&self, head: Head, anchor: &Found) -> Option<Found> {
        let day = anchor.first_day();
        Some(match head {
            Head::Unit(Unit::Week) if anchor.grain == Grain::Week => Found::week(add_days(day, -7)),
            // Both "the seven days before" and "the calendar week before" lie inside this span.
            Head::Unit(Unit::Week) => Found::days(add_days(monday(day), -7), day, Grain::Week),
            Head::Unit(Unit::Weekend) => Found::weekend(add_days(weekday_before(day, 6), -1)),
            Head::Unit(Unit::Day) => Found::day(add_days(day, -1)),
            Head::Unit(Unit::Month) => Found::month(add_months(first_of_month(day), -1)),
            Head::Unit(Unit::Year) => Found::year(day.year() - 1),
            Head::Unit(_) => return None,
            Head::Weekday(weekday) => Found::day(weekday_before(day, weekday)),
            Head::Part(part) => Found::part(add_days(day, -1), part),
            Head::Count(amount, unit, factor) => self.offset(amount, unit, -i64::from(factor), anchor.start),
            Head::Weekdays(weekday, n) => Found::day(add_days(weekday_before(day, weekday), -7 * (i64::from(n) - 1))),
            Head::Weekends(n) => Found::weekend(add_days(weekday_before(day, 6), -7 * (i64::from(n) - 1))),
        })
    }

    fn behind(&self, head: Head, anchor: &Found) -> Option<Found> {
        let day = anchor.day_after();
        Some(match head {
            Head::Unit(Unit::Week) if anchor.grain == Grain::Week => Found::week(day),
            Head::Unit(Unit::Week) => Found::days(day, add_days(monday(add_days(day, -1)), 14), Grain::Week),
            Head::Unit(Unit::Weekend) => Found::weekend(weekday_from(day, 5)),
            Head::Unit(Unit::Day) => Found::day(day),
            Head::Unit(Unit::Month) => Found::month(add_months(first_of_month(add_days(day, -1)), 1)),
            Head::Unit(Unit::Year) => Found::year(add_days(day, -1).year() + 1),
            Head::Unit(_) => return None,
            Head::Weekday(weekday) => Found::day(weekday_from(day, weekday)),
            Head::Part(part) => Found::part(day, part),
            Head::Count(amount, unit, factor) => self.offset(amount, unit, i64::from(factor), anchor.start),
            Head::Weekdays(weekday, n) => Found::day(add_days(weekday_from(day, weekday), 7 * (i64::from(n) - 1))),
            Head::Weekends(n) => Found::weekend(add_days(weekday_from(day, 5), 7 * (i64::from(n) - 1))),
        })
    }

    /// Reads "Monday next week", "Friday last week": the day of that week.
    pub(super) fn day_in_week(&self, i: usize) -> Read {
        let (j, day) = self.weekday(i)?;
        let (end, week) = self.deictic(self.skip(j, &[",", "of"]))?;
        (week.grain == Grain::Week && week.kind == Kind::Point)
            .then(|| (end, Found::day(add_days(week.first_day(), i64::from(day)))))
    }

    /// Reads a month, a season, a year or a similar period after "of".
    fn period(&self, i: usize) -> Read {
        let j = self.skip(i, &["the", "this"]);
        if let Class::Unit(unit) = self.class(j)
            && j > i
            && !self.is(j + 1, &["of", "before", "after"])
        {
            return unit_around(self.today, unit).map(|found| (j + 1, found));
        }
        if let Some((end, month, _)) = self.month(i)
            && self.year_behind(end).is_none()
        {
            return Some((end, Found::month(self.month_of_year(i, month))));
        }
        self.simple(i)
            .filter(|(_, found)| !matches!(found.grain, Grain::Moment | Grain::Part | Grain::Day | Grain::Unknown))
    }

    /// Reads "the first week of May", "the last Monday of July", "the second half of 2022".
    pub(super) fn ordinal_of(&self, i: usize) -> Read {
        let j = self.skip(i, &["the"]);
        let nth = match self.class(j) {
            Class::Ordinal(n @ 1..=53) => n,
            _ if self.is(j, &["last", "final"]) => 0,
            _ => return None,
        };
        let j = if self.word(j) == "second" && self.is(j + 1, &["to"]) {
            return None;
        } else {
            j + 1
        };
        if !self.is(j + 1, &["of", "in"]) {
            return None;
        }
        let (end, period) = self.period(j + 2)?;
        let (start, after) = (period.first_day(), period.day_after());
        let step = |size: i64, grain| match nth {
            0 => Found::days(add_days(after, -size), after, grain),
            n => Found::days(
                add_days(start, size * i64::from(n - 1)),
                add_days(start, size * i64::from(n)),
                grain,
            ),
        };
        let found = match self.class(j) {
            Class::Unit(Unit::Day) => step(1, Grain::Day),
            Class::Unit(Unit::Week) => step(7, Grain::Week),
            Class::Unit(Unit::Weekend) => Found::weekend(nth_from(start, after, nth, 5)),
            Class::Unit(Unit::Month) => months(start, after, nth, 1),
            Class::Unit(Unit::Quarter) => months(start, after, nth, 3),
            Class::Weekday(day, _) => Found::day(nth_from(start, after, nth, day)),
            _ if self.word(j) == "half" && nth <= 2 => {
                let middle = period.start + (period.end - period.start) / 2;
                let (from, to) = if nth == 1 {
                    (start, middle.date())
                } else {
                    (middle.date(), after)
                };
                Found::days(from, to, period.grain)
            }
            _ => return None,
        };
        let inside = found.start >= period.start && found.start < period.end;
        inside.then_some((
            end,
            Found {
                relative: period.relative,
                dated: period.dated,
                ..found
            },
        ))
    }

    /// Reads "the end of May", "early 2022", "mid-August", "late last year", "earlier this week".
    pub(super) fn edge(&self, i: usize) -> Read {
        let j = self.skip(i, &["the", "very"]);
        let (k, place) = match self.word(j) {
            "early" | "late" | "mid" | "mid-" => {
                let k = self.skip(self.skip(j + 1, &["-"]), &["in", "on"]);
                (
                    k,
                    if self.word(j) == "early" {
                        0
                    } else if self.word(j) == "late" {
                        2
                    } else {
                        1
                    },
                )
            }
            "beginning" | "start" | "middle" | "end" if self.word(j + 1) == "of" => (
                j + 2,
                match self.word(j) {
                    "middle" => 1,
                    "end" => 2,
                    _ => 0,
                },
            ),
            "earlier" | "later" => return self.rest_of(j),
            _ => return None,
        };
        if let Class::Part(_) | Class::Relative(_) = self.class(k) {
            return self.near_day(k);
        }
        let (end, period) = self.period(k).or_else(|| {
            let (end, part) = self.deictic(k)?;
            matches!(part.grain, Grain::Part | Grain::Day).then_some((end, part))
        })?;
        Some((end, third(&period, place)))
    }

    /// Reads "earlier this week" (the part before today) and "later today".
    fn rest_of(&self, j: usize) -> Read {
        let (end, period) = self
            .near_day(j + 1)
            .or_else(|| self.deictic(j + 1))
            .or_else(|| self.period(self.skip(j + 1, &["in"])))?;
        let (start, after) = (period.start, period.end);
        let now = if matches!(period.grain, Grain::Day | Grain::Part) {
            self.now
        } else {
            midnight(self.today)
        };
        let next = if matches!(period.grain, Grain::Day | Grain::Part) {
            now
        } else {
            now + TimeDelta::days(1)
        };
        let (from, to) = match self.word(j) {
            "earlier" if now > start && now <= after => (start, now),
            "later" if next < after && next >= start => (next, after),
            _ => (start, after),
        };
        Some((
            end,
            Found {
                start: from,
                end: to,
                kind: Kind::Interval,
                ..period
            },
        ))
    }
}

fn nth_from(start: NaiveDate, after: NaiveDate, nth: u32, day: u32) -> NaiveDate {
    if nth == 0 {
        weekday_before(after, day)
    } else {
        add_days(weekday_from(start, day), 7 * (i64::from(nth) - 1))
    }
}

fn months(start: NaiveDate, after: NaiveDate, nth: u32, size: i64) -> Found {
    let first = if nth == 0 {
        add_months(after, -size)
    } else {
        add_months(start, size * (i64::from(nth) - 1))
    };
    Found::days(
        first,
        add_months(first, size),
        if size == 1 { Grain::Month } else { Grain::Season },
    )
}

/// Returns the first, middle or last part of a period (`place` 0 to 2): ten to twelve days of a month, a third of a
/// longer period, and all of a day or a shorter period.
fn third(period: &Found, place: u32) -> Found {
    let (start, after) = (period.first_day(), period.day_after());
    let (from, to) = match (period.grain, place) {
        (Grain::Moment | Grain::Part | Grain::Day, _) => return *period,
        (Grain::Month, 0) => (start, add_days(start, 10)),
        (Grain::Month, 1) => (add_days(start, 9), add_days(start, 21)),
        (Grain::Month, _) => (add_days(start, 20), after),
        (Grain::Year, _) if (after - start).num_days() < 400 => (
            add_months(start, 4 * i64::from(place)),
            add_months(start, 4 * (i64::from(place) + 1)),
        ),
        _ => {
            let size = (after - start).num_days();
            let place = i64::from(place);
            (
                add_days(start, size * place / 3),
                add_days(start, (size * (place + 1) + 2) / 3),
            )
        }
    };
    Found {
        start: midnight(from),
        end: midnight(to),
        ..*period
    }
}
