//! Times relative to the reference: "yesterday", "last Friday", "two weeks ago", "in three days".

use chrono::Datelike;

use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::Kind;
use crate::time::amounts::Amount;
use crate::time::calendar::{
    FoundTime, Grain, add_days, add_months, first_of_month, midnight_of, monday_of_week, new_year, shift_by_units,
    span_of_season, weekday_before, weekday_from,
};
use crate::time::parser::{Parser, ReadResult};
use crate::time::token::Tense;
use crate::time_words::lexicon::{Class, Part, Season, Trust, Unit};

/// The word before a unit: "this", "last", "past", "next", "coming".
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    This,
    Last,
    /// "the past": counts back from the reference.
    Past,
    Next,
    Coming,
}

impl Parser<'_> {
    /// Reads "yesterday", "tonight".
    pub(crate) fn near_day(&self, i: usize) -> ReadResult {
        match self.class_at(i) {
            Class::Relative(days) if self.near_in_language(i) => {
                Some((i + 1, FoundTime::from_day(add_days(self.today, days))))
            }
            Class::Unit(Unit::Weekend) => self.lone_weekend(i),
            Class::Part(Part::Tonight) => Some((i + 1, FoundTime::from_day_part(self.today, Part::Tonight))),
            _ => None,
        }
    }

    /// Reads "the weekend", "over the whole weekend": the last one in a report about the past, otherwise the next one.
    fn lone_weekend(&self, i: usize) -> ReadResult {
        let the = self.skip_back(i, words_of_class(WordClass::WeekendAdjective));
        if self.word_before(the) != "the"
            || self.word_at(i) == "weekends"
            || is_in_class(self.word_at(i + 1), WordClass::AfterWeekendNoun)
            || self.word_at(i + 1) == "-"
        {
            return None;
        }
        let free = self.today.weekday().num_days_from_monday() >= 5;
        let weeks = if self.tense_at(i) == Tense::Past && !free {
            -1
        } else {
            0
        };
        Some((i + 1, FoundTime::weekend_of(add_days(self.today, 7 * weeks))))
    }

    fn read_step(&self, i: usize) -> Option<(usize, Step)> {
        // This runs for most tokens, and a scan of three words is faster than a lookup.
        let i = self.skip_word(i, words_of_class(WordClass::BeforeStep));
        let step = match (self.word_at(i), self.word_at(i + 1)) {
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
    pub(crate) fn read_deictic(&self, i: usize) -> ReadResult {
        let (j, step) = self.read_step(i)?;
        if let Some(read) = self.read_rolling_span(j, step) {
            return Some(read);
        }
        match self.class_at(j) {
            Class::Unit(unit) => self.unit_step(i, unit, step).map(|found| (j + 1, found)),
            Class::Part(part) if part != Part::Tonight => self.part_step(part, step).map(|found| (j + 1, found)),
            Class::Weekday(day, trust) if trust == Trust::Plain || self.is_capitalised(j) => {
                let (end, _) = self.read_weekday(j)?;
                Some((end, FoundTime::from_day(self.weekday_step(j, day, step))))
            }
            Class::Month(month, trust) => {
                let verb = trust == Trust::Common
                    && (!self.is_capitalised(j) || self.is_of_class(j + 1, WordClass::MonthAsVerb));
                if step == Step::This && verb {
                    return None;
                }
                Some((j + 1, FoundTime::month_of(self.month_step(j, month, step))))
            }
            Class::Season(name, trust) if trust == Trust::Plain || self.is_season(j) => {
                let found = self.season_step(name, step)?;
                // "This autumn I moved" in June means the last one.
                let past = step == Step::This && found.start > self.now && self.tense_at(j) == Tense::Past;
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
        !is_in_class(self.word_at(j + 1), WordClass::AfterSpringVerb)
    }

    /// Reads "the last three days", "the next couple of months", "the past week".
    fn read_rolling_span(&self, j: usize, step: Step) -> ReadResult {
        if step == Step::This {
            return None;
        }
        let (k, amount) = match self.read_amount(j) {
            Some((k, amount)) if !self.is_of_class(j, WordClass::NoRollingCount) => (k, amount),
            None if step == Step::Past && self.word_at(j.wrapping_sub(2)) != "this" => (j, Amount::from_count(1)),
            // "In the last month" counts back from the reference; "last month" is a calendar month.
            None if self.word_before(j - 1) == "the"
                && is_in_class(self.word_at(j.wrapping_sub(3)), WordClass::OpensRolling) =>
            {
                (j, Amount::from_count(1))
            }
            None if matches!(self.class_at(j), Class::Unit(Unit::Hour)) => (j, Amount::from_count(1)),
            _ => return None,
        };
        let (end, unit, factor) = self.read_unit(k)?;
        if unit == Unit::Weekend || (unit == Unit::Second && amount.high < 2) {
            return None;
        }
        let count = i64::from(amount.high) * i64::from(factor);
        let found = match step {
            Step::Next | Step::Coming => self.span_ahead(count, unit),
            Step::This | Step::Last | Step::Past => self.span_back(count, unit),
        };
        Some((
            end,
            found.with_kind(if amount.vague { Kind::Vague } else { Kind::Interval }),
        ))
    }

    fn span_back(&self, count: i64, unit: Unit) -> FoundTime {
        let start = shift_by_units(self.now, -count, unit);
        let small = matches!(unit, Unit::Second | Unit::Minute | Unit::Hour);
        if small {
            return FoundTime::between_moments(start, self.now, Grain::Moment);
        }
        FoundTime::between_moments(
            midnight_of(start.date()),
            midnight_of(add_days(self.today, 1)),
            grain_of(unit),
        )
    }

    pub(crate) fn span_ahead(&self, count: i64, unit: Unit) -> FoundTime {
        let end = shift_by_units(self.now, count, unit);
        let small = matches!(unit, Unit::Second | Unit::Minute | Unit::Hour);
        if small {
            return FoundTime::between_moments(self.now, end, Grain::Moment);
        }
        FoundTime::between_moments(
            midnight_of(self.today),
            midnight_of(add_days(end.date(), 1)),
            grain_of(unit),
        )
    }

    fn unit_step(&self, i: usize, unit: Unit, step: Step) -> Option<FoundTime> {
        let count = match step {
            Step::This => 0,
            Step::Last | Step::Past => -1,
            Step::Next | Step::Coming => 1,
        };
        let today = self.today;
        Some(match unit {
            Unit::Week => FoundTime::week_of(add_days(today, 7 * count)),
            Unit::Weekend => {
                let early = today.weekday().num_days_from_monday();
                let just_over = step == Step::This && early < 3 && self.tense_at(i) == Tense::Past;
                let to_come = step == Step::Coming && early < 5;
                let weeks = if just_over {
                    -1
                } else if to_come {
                    0
                } else {
                    count
                };
                FoundTime::weekend_of(add_days(today, 7 * weeks))
            }
            Unit::Month => FoundTime::month_of(add_months(first_of_month(today), count)),
            Unit::Quarter => {
                let back = i64::from((today.month() - 1) % 3);
                let start = add_months(first_of_month(today), 3 * count - back);
                FoundTime::from_days(start, add_months(start, 3), Grain::Season)
            }
            Unit::Year => FoundTime::from_year(today.year().saturating_add(i32::try_from(count).unwrap_or(0))),
            Unit::Decade | Unit::Century => {
                let size = if unit == Unit::Decade { 10 } else { 100 };
                let start = today.year() - today.year().rem_euclid(size);
                FoundTime::from_years(start + size * i32::try_from(count).unwrap_or(0), size)
            }
            Unit::Second | Unit::Minute | Unit::Hour | Unit::Day | Unit::Night | Unit::Fortnight => return None,
        })
    }

    fn part_step(&self, part: Part, step: Step) -> Option<FoundTime> {
        let night = if part == Part::Night { Part::Tonight } else { part };
        match step {
            Step::This => Some(FoundTime::from_day_part(self.today, night)),
            Step::Last | Step::Past => Some(FoundTime::from_day_part(add_days(self.today, -1), part)),
            Step::Next | Step::Coming => None,
        }
    }

    fn weekday_step(&self, j: usize, day: u32, step: Step) -> chrono::NaiveDate {
        let here = add_days(monday_of_week(self.today), i64::from(day));
        match step {
            Step::Last | Step::Past => weekday_before(self.today, day),
            Step::This if here < self.today && self.tense_at(j) == Tense::Future => add_days(here, 7),
            Step::This if here > self.today && self.tense_at(j) == Tense::Past => add_days(here, -7),
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
            Step::This if month > this.month() && self.tense_at(j) == Tense::Past => add_months(this, ahead - 12),
            Step::This => this.with_month(month).unwrap_or(this),
            Step::Last | Step::Past => add_months(this, ahead - 12),
            Step::Next | Step::Coming => add_months(this, if ahead == 0 { 12 } else { ahead }),
        }
    }

    /// Returns a season relative to the reference. Here seasons change with the months: spring is over on 1 June.
    pub(crate) fn season_step(&self, name: Season, step: Step) -> Option<FoundTime> {
        let year = self.today.year();
        let all = [year - 2, year - 1, year, year + 1].map(|year| span_of_season(name, year));
        let mut all = all.iter().flatten().copied();
        let over = |found: &FoundTime| midnight_of(add_months(found.first_day(), 3)) <= self.now;
        match step {
            Step::Last | Step::Past => all.filter(over).max_by_key(|found| found.start),
            Step::Next | Step::Coming => all.find(|found| found.start > self.now),
            Step::This => all.find(|found| found.first_day().year() == year || !over(found)),
        }
    }
}

pub(crate) fn grain_of(unit: Unit) -> Grain {
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
pub(crate) fn unit_around(day: chrono::NaiveDate, unit: Unit) -> Option<FoundTime> {
    Some(match unit {
        Unit::Day => FoundTime::from_day(day),
        Unit::Weekend => FoundTime::weekend_of(day),
        Unit::Week => FoundTime::week_of(day),
        Unit::Month => FoundTime::month_of(day),
        Unit::Year => FoundTime::from_year(day.year()),
        Unit::Decade => FoundTime::from_days(
            new_year(day.year() - day.year() % 10),
            new_year(day.year() - day.year() % 10 + 10),
            Grain::Year,
        ),
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Night | Unit::Fortnight | Unit::Quarter | Unit::Century => {
            return None;
        }
    })
}
