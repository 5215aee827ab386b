//! Times that another time places: "the week before 9 June", "the first Monday of July", "the end of May".

use chrono::{Datelike, NaiveDate, TimeDelta};

use crate::lexicon::Class as WordClass;
use crate::time::Kind;
use crate::time::amounts::Amount;
use crate::time::calendar::{
    FoundTime, Grain, add_days, add_months, first_of_month, midnight_of, monday_of_week, weekday_before, weekday_from,
};
use crate::time::expressions::relative_times::unit_around;
use crate::time::parser::{Parser, ReadResult};
use crate::time_words::lexicon::{Class, Part, Unit};

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
    fn read_head(&self, i: usize) -> Option<(usize, Head)> {
        let i = self.skip_word(i, &["the", "that"]);
        match self.class_at(i) {
            Class::Unit(unit) => return Some((i + 1, Head::Unit(unit))),
            Class::Weekday(..) => return self.read_weekday(i).map(|(end, day)| (end, Head::Weekday(day))),
            Class::Part(part) => return Some((i + 1, Head::Part(part))),
            _ => {}
        }
        let (j, amount) = self.read_amount(i)?;
        match self.class_at(j) {
            Class::Weekdays(day) if amount.high < 1000 => Some((j + 1, Head::Weekdays(day, amount.low))),
            Class::Unit(Unit::Weekend) if amount.high < 1000 => Some((j + 1, Head::Weekends(amount.low))),
            _ => self
                .read_unit(j)
                .map(|(end, unit, factor)| (end, Head::Count(amount, unit, factor))),
        }
    }

    /// Reads "the Sunday before 9 June", "two days after Christmas", "the week before last", "the week of 5 June".
    pub(crate) fn read_anchored_time(&self, i: usize) -> ReadResult {
        let (j, head) = self.read_head(i)?;
        if let Some(read) = self.before_last(j, head) {
            return Some(read);
        }
        let side = match (self.word_at(j), self.word_at(j + 1)) {
            ("before" | "preceding", _) => -1,
            ("prior" | "previous", "to") => -1,
            ("after" | "following" | "since", _) => 1,
            ("of" | "on" | "in", _) => 0,
            _ => return None,
        };
        let k = if self.is_any_of(j, &["prior", "previous"]) {
            j + 2
        } else {
            j + 1
        };
        let (end, anchor) = self.read_simple_time(k).or_else(|| self.anchor_to_last_time(k, side))?;
        let found = match side {
            0 => self.resolve_inside_anchor(head, &anchor, self.word_at(j))?,
            -1 => self.ahead_of(head, &anchor)?,
            _ => self.resolve_after_anchor(head, &anchor)?,
        };
        Some((
            end,
            FoundTime {
                relative: anchor.relative,
                dated: anchor.dated,
                ..found
            },
        ))
    }

    /// Reads "the week before" and "two days after", which the last time in the text places.
    fn anchor_to_last_time(&self, i: usize, side: i64) -> ReadResult {
        let ends = self.word_at(i).is_empty() || self.is_any_of(i, &[".", ",", ";", "!", "?", ")"]);
        let last = self.previous.filter(|_| ends && side != 0)?;
        Some((i, last.found))
    }

    /// Reads "the week before last", "the weekend after next".
    fn before_last(&self, j: usize, head: Head) -> ReadResult {
        let step = match (self.word_at(j), self.word_at(j + 1)) {
            ("before", "last") => -2,
            ("after", "next") => 2,
            _ => return None,
        };
        let bare = matches!(
            self.class_at(j + 2),
            Class::Unit(_) | Class::Weekday(..) | Class::Month(..) | Class::Part(_)
        );
        if bare || self.is_of_class(j + 2, WordClass::AfterLast) {
            return None;
        }
        let found = match head {
            Head::Weekday(day) if step < 0 => FoundTime::from_day(add_days(weekday_before(self.today, day), -7)),
            Head::Weekday(day) => FoundTime::from_day(add_days(monday_of_week(self.today), 14 + i64::from(day))),
            Head::Part(part) if step < 0 => FoundTime::from_day_part(add_days(self.today, -2), part),
            Head::Unit(Unit::Month) => FoundTime::month_of(add_months(first_of_month(self.today), step)),
            Head::Unit(Unit::Year) => FoundTime::from_year(self.today.year() + if step < 0 { -2 } else { 2 }),
            Head::Unit(unit @ (Unit::Week | Unit::Weekend)) => unit_around(add_days(self.today, 7 * step), unit)?,
            _ => return None,
        };
        Some((j + 2, found))
    }

    /// Returns the meaning of "the week of 5 June", "the morning of 7 May", "Monday of next week".
    fn resolve_inside_anchor(&self, head: Head, anchor: &FoundTime, word: &str) -> Option<FoundTime> {
        let day = anchor.first_day();
        match head {
            Head::Unit(unit @ (Unit::Week | Unit::Weekend | Unit::Day))
                if anchor.grain == Grain::Day && word == "of" =>
            {
                unit_around(day, unit)
            }
            Head::Part(part) if anchor.grain == Grain::Day && word != "in" => Some(FoundTime::from_day_part(day, part)),
            Head::Weekday(weekday) if anchor.grain == Grain::Week && word == "of" => {
                Some(FoundTime::from_day(weekday_from(day, weekday)))
            }
            _ => None,
        }
    }

    fn ahead_of(&self, head: Head, anchor: &FoundTime) -> Option<FoundTime> {
        let day = anchor.first_day();
        Some(match head {
            Head::Unit(Unit::Week) if anchor.grain == Grain::Week => FoundTime::week_of(add_days(day, -7)),
            // Both "the seven days before" and "the calendar week before" lie inside this span.
            Head::Unit(Unit::Week) => FoundTime::from_days(add_days(monday_of_week(day), -7), day, Grain::Week),
            Head::Unit(Unit::Weekend) => FoundTime::weekend_of(add_days(weekday_before(day, 6), -1)),
            Head::Unit(Unit::Day) => FoundTime::from_day(add_days(day, -1)),
            Head::Unit(Unit::Month) => FoundTime::month_of(add_months(first_of_month(day), -1)),
            Head::Unit(Unit::Year) => FoundTime::from_year(day.year() - 1),
            Head::Unit(_) => return None,
            Head::Weekday(weekday) => FoundTime::from_day(weekday_before(day, weekday)),
            Head::Part(part) => FoundTime::from_day_part(add_days(day, -1), part),
            Head::Count(amount, unit, factor) => self.offset_by_amount(amount, unit, -i64::from(factor), anchor.start),
            Head::Weekdays(weekday, n) => {
                FoundTime::from_day(add_days(weekday_before(day, weekday), -7 * (i64::from(n) - 1)))
            }
            Head::Weekends(n) => FoundTime::weekend_of(add_days(weekday_before(day, 6), -7 * (i64::from(n) - 1))),
        })
    }

    fn resolve_after_anchor(&self, head: Head, anchor: &FoundTime) -> Option<FoundTime> {
        let day = anchor.day_after();
        Some(match head {
            Head::Unit(Unit::Week) if anchor.grain == Grain::Week => FoundTime::week_of(day),
            Head::Unit(Unit::Week) => {
                FoundTime::from_days(day, add_days(monday_of_week(add_days(day, -1)), 14), Grain::Week)
            }
            Head::Unit(Unit::Weekend) => FoundTime::weekend_of(weekday_from(day, 5)),
            Head::Unit(Unit::Day) => FoundTime::from_day(day),
            Head::Unit(Unit::Month) => FoundTime::month_of(add_months(first_of_month(add_days(day, -1)), 1)),
            Head::Unit(Unit::Year) => FoundTime::from_year(add_days(day, -1).year() + 1),
            Head::Unit(_) => return None,
            Head::Weekday(weekday) => FoundTime::from_day(weekday_from(day, weekday)),
            Head::Part(part) => FoundTime::from_day_part(day, part),
            Head::Count(amount, unit, factor) => self.offset_by_amount(amount, unit, i64::from(factor), anchor.start),
            Head::Weekdays(weekday, n) => {
                FoundTime::from_day(add_days(weekday_from(day, weekday), 7 * (i64::from(n) - 1)))
            }
            Head::Weekends(n) => FoundTime::weekend_of(add_days(weekday_from(day, 5), 7 * (i64::from(n) - 1))),
        })
    }

    /// Reads "Monday next week", "Friday last week": the day of that week.
    pub(crate) fn day_in_week(&self, i: usize) -> ReadResult {
        let (j, day) = self.read_weekday(i)?;
        let (end, week) = self.read_deictic(self.skip_word(j, &[",", "of"]))?;
        (week.grain == Grain::Week && week.kind == Kind::Point)
            .then(|| (end, FoundTime::from_day(add_days(week.first_day(), i64::from(day)))))
    }

    /// Reads a month, a season, a year or a similar period after "of".
    fn read_period(&self, i: usize) -> ReadResult {
        let j = self.skip_word(i, &["the", "this"]);
        if let Class::Unit(unit) = self.class_at(j)
            && j > i
            && !self.is_of_class(j + 1, WordClass::PlacesPeriod)
        {
            return unit_around(self.today, unit).map(|found| (j + 1, found));
        }
        if let Some((end, month, _)) = self.read_month(i)
            && self.read_year_after(end).is_none()
        {
            return Some((end, FoundTime::month_of(self.month_of_year(i, month))));
        }
        self.read_simple_time(i)
            .filter(|(_, found)| !matches!(found.grain, Grain::Moment | Grain::Part | Grain::Day | Grain::Unknown))
    }

    /// Reads "the first week of May", "the last Monday of July", "the second half of 2022".
    pub(crate) fn ordinal_of(&self, i: usize) -> ReadResult {
        let j = self.skip_word(i, &["the"]);
        let nth = match self.class_at(j) {
            Class::Ordinal(n @ 1..=53) => n,
            _ if self.is_any_of(j, &["last", "final"]) => 0,
            _ => return None,
        };
        let j = if self.word_at(j) == "second" && self.is_any_of(j + 1, &["to"]) {
            return None;
        } else {
            j + 1
        };
        if !self.is_any_of(j + 1, &["of", "in"]) {
            return None;
        }
        let (end, period) = self.read_period(j + 2)?;
        let (start, after) = (period.first_day(), period.day_after());
        let step = |size: i64, grain| match nth {
            0 => FoundTime::from_days(add_days(after, -size), after, grain),
            n => FoundTime::from_days(
                add_days(start, size * i64::from(n - 1)),
                add_days(start, size * i64::from(n)),
                grain,
            ),
        };
        let found = match self.class_at(j) {
            Class::Unit(Unit::Day) => step(1, Grain::Day),
            Class::Unit(Unit::Week) => step(7, Grain::Week),
            Class::Unit(Unit::Weekend) => FoundTime::weekend_of(nth_from(start, after, nth, 5)),
            Class::Unit(Unit::Month) => nth_month_span(start, after, nth, 1),
            Class::Unit(Unit::Quarter) => nth_month_span(start, after, nth, 3),
            Class::Weekday(day, _) => FoundTime::from_day(nth_from(start, after, nth, day)),
            _ if self.word_at(j) == "half" && nth <= 2 => {
                let middle = period.start + (period.end - period.start) / 2;
                let (from, to) = if nth == 1 {
                    (start, middle.date())
                } else {
                    (middle.date(), after)
                };
                FoundTime::from_days(from, to, period.grain)
            }
            _ => return None,
        };
        let inside = found.start >= period.start && found.start < period.end;
        inside.then_some((
            end,
            FoundTime {
                relative: period.relative,
                dated: period.dated,
                ..found
            },
        ))
    }

    /// Reads "the end of May", "early 2022", "mid-August", "late last year", "earlier this week".
    pub(crate) fn read_period_edge(&self, i: usize) -> ReadResult {
        let j = self.skip_word(i, &["the", "very"]);
        let after_adjective = || self.skip_word(self.skip_word(j + 1, &["-"]), &["in", "on"]);
        let is_noun = self.word_at(j + 1) == "of";
        let (k, place) = match self.word_at(j) {
            "early" => (after_adjective(), 0),
            "mid" | "mid-" => (after_adjective(), 1),
            "late" => (after_adjective(), 2),
            "beginning" | "start" if is_noun => (j + 2, 0),
            "middle" if is_noun => (j + 2, 1),
            "end" if is_noun => (j + 2, 2),
            "earlier" | "later" => return self.rest_of(j),
            _ => return None,
        };
        if let Class::Part(_) | Class::Relative(_) = self.class_at(k) {
            return self.near_day(k);
        }
        let (end, period) = self.read_period(k).or_else(|| {
            let (end, part) = self.read_deictic(k)?;
            matches!(part.grain, Grain::Part | Grain::Day).then_some((end, part))
        })?;
        Some((end, third_of_period(&period, place)))
    }

    /// Reads "earlier this week" (the part before today) and "later today".
    fn rest_of(&self, j: usize) -> ReadResult {
        let (end, period) = self
            .near_day(j + 1)
            .or_else(|| self.read_deictic(j + 1))
            .or_else(|| self.read_period(self.skip_word(j + 1, &["in"])))?;
        let (start, after) = (period.start, period.end);
        let now = if matches!(period.grain, Grain::Day | Grain::Part) {
            self.now
        } else {
            midnight_of(self.today)
        };
        let next = if matches!(period.grain, Grain::Day | Grain::Part) {
            now
        } else {
            now + TimeDelta::days(1)
        };
        let (from, to) = match self.word_at(j) {
            "earlier" if now > start && now <= after => (start, now),
            "later" if next < after && next >= start => (next, after),
            _ => (start, after),
        };
        Some((
            end,
            FoundTime {
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

fn nth_month_span(start: NaiveDate, after: NaiveDate, nth: u32, size: i64) -> FoundTime {
    let first = if nth == 0 {
        add_months(after, -size)
    } else {
        add_months(start, size * (i64::from(nth) - 1))
    };
    FoundTime::from_days(
        first,
        add_months(first, size),
        if size == 1 { Grain::Month } else { Grain::Season },
    )
}

/// Returns the first, middle or last part of a period (`place` 0 to 2): ten to twelve days of a month, a third of a
/// longer period, and all of a day or a shorter period.
fn third_of_period(period: &FoundTime, place: u32) -> FoundTime {
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
    FoundTime {
        start: midnight_of(from),
        end: midnight_of(to),
        ..*period
    }
}
