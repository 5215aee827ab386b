//! Times relative to the reference: "yesterday", "last Friday", "two weeks ago", "in three days".

use chrono::Datelike;

use super::Kind;
use super::calendar::{
    Found, Grain, add_days, add_months, first_of_month, midnight, monday, new_year, season, weekday_before,
    weekday_from,
};
use super::counted::shift;
use super::lexicon::{Class, Part, Season, Trust, Unit};
use super::parser::{Amount, Parser, Read};
use super::token::Tense;
use crate::lexicon::{Class as WordClass, is};

/// The word before a unit: "this", "last", "past", "next", "coming".
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    This,
    Last,
    /// "the past": counts back from the reference.
    Past,
    Next,
    Coming,
}

impl Parser<'_> {
    /// Reads "yesterday", "tonight".
    pub(super) fn near_day(&self, i: usize) -> Read {
        match self.class(i) {
            Class::Relative(days) if self.near_in_language(i) => Some((i + 1, Found::day(add_days(self.today, days)))),
            Class::Unit(Unit::Weekend) => self.lone_weekend(i),
            Class::Part(Part::Tonight) => Some((i + 1, Found::part(self.today, Part::Tonight))),
            _ => None,
        }
    }

    /// Reads "the weekend", "over the whole weekend": the last one in a report about the past, otherwise the next one.
    fn lone_weekend(&self, i: usize) -> Read {
        let the = self.skip_back(i, &["whole", "entire", "long"]);
        if self.before(the) != "the"
            || self.word(i) == "weekends"
            || is(self.word(i + 1), WordClass::AfterWeekendNoun)
            || self.word(i + 1) == "-"
        {
            return None;
        }
        let free = self.today.weekday().num_days_from_monday() >= 5;
        let weeks = if self.tense(i) == Tense::Past && !free { -1 } else { 0 };
        Some((i + 1, Found::weekend(add_days(self.today, 7 * weeks))))
    }

    fn step(&self, i: usize) -> Option<(usize, Step)> {
        let i = self.skip(i, &["the", "these", "those"]);
        let step = match (self.word(i), self.word(i + 1)) {
            ("this", "past" | "last") => return Some((i + 2, Step::Past)),
            ("this", "coming" | "upcoming" | "next") => return Some((i + 2, Step::Coming)),
            ("this" | "current", _) => Step::This,
            ("last" | "previous", _) => Step::Last,
            ("past", _) => Step::Past,
            ("next", _) => Step::Next,
            ("coming" | "upcoming", _) => Step::Coming,
            _ => return None,
        };
        Some((i + 1, step))
    }

    /// Reads "last Friday", "this morning", "next month", "the past three weeks".
    pub(super) fn deictic(&self, i: usize) -> Read {
        let (j, step) = self.step(i)?;
        if let Some(read) = self.rolling(j, step) {
            return Some(read);
        }
        match self.class(j) {
            Class::Unit(unit) => self.unit_step(i, unit, step).map(|found| (j + 1, found)),
            Class::Part(part) if part != Part::Tonight => self.part_step(part, step).map(|found| (j + 1, found)),
            Class::Weekday(day, trust) if trust == Trust::Plain || self.capital(j) => {
                let (end, _) = self.weekday(j)?;
                Some((end, Found::day(self.weekday_step(j, day, step))))
            }
            Class::Month(month, trust) => {
                let verb =
                    trust == Trust::Common && (!self.capital(j) || self.is(j + 1, &["be", "have", "not", "also"]));
                if step == Step::This && verb {
                    return None;
                }
                Some((j + 1, Found::month(self.month_step(j, month, step))))
            }
            Class::Season(name, trust) if trust == Trust::Plain || self.is_season(j) => {
                let found = self.season_step(name, step)?;
                // "This autumn I moved" in June means the last one.
                let past = step == Step::This && found.start > self.now && self.tense(j) == Tense::Past;
                let found = if past {
                    self.season_step(name, Step::Last)?
                } else {
                    found
                };
                Some((j + 1, found))
            }
            _ => self.holiday_step(j, step == Step::This, matches!(step, Step::Next | Step::Coming)),
        }
    }

    /// Returns true if "fall" or "spring" after "last" is a season and not a verb.
    fn is_season(&self, j: usize) -> bool {
        !is(self.word(j + 1), WordClass::AfterSpringVerb)
    }

    /// Reads "the last three days", "the next couple of months", "the past week".
    fn rolling(&self, j: usize, step: Step) -> Read {
        if step == Step::This {
            return None;
        }
        let (k, amount) = match self.amount(j) {
            Some((k, amount)) if !self.is(j, &["a", "an", "the", "half"]) => (k, amount),
            None if step == Step::Past && self.word(j.wrapping_sub(2)) != "this" => (j, Amount::exact(1)),
            // "In the last month" counts back from the reference; "last month" is a calendar month.
            None if self.before(j - 1) == "the" && is(self.word(j.wrapping_sub(3)), WordClass::OpensRolling) => {
                (j, Amount::exact(1))
            }
            None if matches!(self.class(j), Class::Unit(Unit::Hour)) => (j, Amount::exact(1)),
            _ => return None,
        };
        let (end, unit, factor) = self.unit(k)?;
        if unit == Unit::Weekend || (unit == Unit::Second && amount.high < 2) {
            return None;
        }
        let count = i64::from(amount.high) * i64::from(factor);
        let found = match step {
            Step::Next | Step::Coming => self.ahead(count, unit),
            Step::This | Step::Last | Step::Past => self.back(count, unit),
        };
        Some((
            end,
            found.with_kind(if amount.vague { Kind::Vague } else { Kind::Interval }),
        ))
    }

    fn back(&self, count: i64, unit: Unit) -> Found {
        let start = shift(self.now, -count, unit);
        let small = matches!(unit, Unit::Second | Unit::Minute | Unit::Hour);
        if small {
            return Found::between(start, self.now, Grain::Moment);
        }
        Found::between(
            midnight(start.date()),
            midnight(add_days(self.today, 1)),
            grain_of(unit),
        )
    }

    pub(super) fn ahead(&self, count: i64, unit: Unit) -> Found {
        let end = shift(self.now, count, unit);
        let small = matches!(unit, Unit::Second | Unit::Minute | Unit::Hour);
        if small {
            return Found::between(self.now, end, Grain::Moment);
        }
        Found::between(midnight(self.today), midnight(add_days(end.date(), 1)), grain_of(unit))
    }

    fn unit_step(&self, i: usize, unit: Unit, step: Step) -> Option<Found> {
        let count = match step {
            Step::This => 0,
            Step::Last | Step::Past => -1,
            Step::Next | Step::Coming => 1,
        };
        let today = self.today;
        Some(match unit {
            Unit::Week => Found::week(add_days(today, 7 * count)),
            Unit::Weekend => {
                let early = today.weekday().num_days_from_monday();
                let just_over = step == Step::This && early < 3 && self.tense(i) == Tense::Past;
                let to_come = step == Step::Coming && early < 5;
                let weeks = if just_over {
                    -1
                } else if to_come {
                    0
                } else {
                    count
                };
                Found::weekend(add_days(today, 7 * weeks))
            }
            Unit::Month => Found::month(add_months(first_of_month(today), count)),
            Unit::Quarter => {
                let back = i64::from((today.month() - 1) % 3);
                let start = add_months(first_of_month(today), 3 * count - back);
                Found::days(start, add_months(start, 3), Grain::Season)
            }
            Unit::Year => Found::year(today.year().saturating_add(i32::try_from(count).unwrap_or(0))),
            Unit::Decade | Unit::Century => {
                let size = if unit == Unit::Decade { 10 } else { 100 };
                let start = today.year() - today.year().rem_euclid(size);
                Found::years(start + size * i32::try_from(count).unwrap_or(0), size)
            }
            Unit::Second | Unit::Minute | Unit::Hour | Unit::Day | Unit::Night | Unit::Fortnight => return None,
        })
    }

    fn part_step(&self, part: Part, step: Step) -> Option<Found> {
        let night = if part == Part::Night { Part::Tonight } else { part };
        match step {
            Step::This => Some(Found::part(self.today, night)),
            Step::Last | Step::Past => Some(Found::part(add_days(self.today, -1), part)),
            Step::Next | Step::Coming => None,
        }
    }

    fn weekday_step(&self, j: usize, day: u32, step: Step) -> chrono::NaiveDate {
        let here = add_days(monday(self.today), i64::from(day));
        match step {
            Step::Last | Step::Past => weekday_before(self.today, day),
            Step::This if here < self.today && self.tense(j) == Tense::Future => add_days(here, 7),
            Step::This if here > self.today && self.tense(j) == Tense::Past => add_days(here, -7),
            Step::This => here,
            Step::Next => add_days(here, 7),
            Step::Coming => weekday_from(add_days(self.today, 1), day),
        }
    }

    fn month_step(&self, j: usize, month: u32, step: Step) -> chrono::NaiveDate {
        let this = first_of_month(self.today);
        let ahead = (12 + i64::from(month) - i64::from(this.month())) % 12;
        match step {
            // "This December I moved" in June means the last one.
            Step::This if month > this.month() && self.tense(j) == Tense::Past => add_months(this, ahead - 12),
            Step::This => this.with_month(month).unwrap_or(this),
            Step::Last | Step::Past => add_months(this, ahead - 12),
            Step::Next | Step::Coming => add_months(this, if ahead == 0 { 12 } else { ahead }),
        }
    }

    /// Returns a season relative to the reference. Here seasons change with the months: spring is over on 1 June.
    pub(super) fn season_step(&self, name: Season, step: Step) -> Option<Found> {
        let year = self.today.year();
        let all = [year - 2, year - 1, year, year + 1].map(|year| season(name, year));
        let mut all = all.iter().flatten().copied();
        let over = |found: &Found| midnight(add_months(found.first_day(), 3)) <= self.now;
        match step {
            Step::Last | Step::Past => all.filter(over).max_by_key(|found| found.start),
            Step::Next | Step::Coming => all.find(|found| found.start > self.now),
            Step::This => all.find(|found| found.first_day().year() == year || !over(found)),
        }
    }
}

pub(super) fn grain_of(unit: Unit) -> Grain {
    match unit {
        Unit::Second | Unit::Minute | Unit::Hour => Grain::Moment,
        Unit::Day | Unit::Night => Grain::Day,
        Unit::Weekend => Grain::Weekend,
        Unit::Week | Unit::Fortnight => Grain::Week,
        Unit::Month => Grain::Month,
        Unit::Quarter => Grain::Season,
        Unit::Year | Unit::Decade | Unit::Century => Grain::Year,
    }
}

/// Returns the calendar unit that contains a day.
pub(super) fn unit_around(day: chrono::NaiveDate, unit: Unit) -> Option<Found> {
    Some(match unit {
        Unit::Day => Found::day(day),
        Unit::Weekend => Found::weekend(day),
        Unit::Week => Found::week(day),
        Unit::Month => Found::month(day),
        Unit::Year => Found::year(day.year()),
        Unit::Decade => Found::days(
            new_year(day.year() - day.year() % 10),
            new_year(day.year() - day.year() % 10 + 10),
            Grain::Year,
        ),
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Night | Unit::Fortnight | Unit::Quarter | Unit::Century => {
            return None;
        }
    })
}
