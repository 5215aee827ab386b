//! Calendar dates: a day, a month, a season, a year or a decade.

use chrono::Datelike;

use super::calendar::{Found, Grain, add_months, date, new_year, season};
use super::lexicon::{Class, Season, Trust, Unit, decade_word};
use super::parser::{Parser, Read, full_year};
use super::token::Tense;
use crate::lexicon::{Class as WordClass, is};

impl Parser<'_> {
    /// Reads a calendar date; `year` is the year of a date that names none.
    pub(super) fn absolute(&self, i: usize, year: Option<i32>) -> Read {
        if let Some((next, day)) = self.named_weekday(i) {
            return self.fitting(next, day).or_else(|| self.absolute(next, year));
        }
        [
            self.numeric(i),
            self.month_first(i, year),
            self.day_first(i, year),
            self.season_of_year(i),
            self.decade(i),
            self.quarter(i),
            self.lone_year(i),
            self.day_of_month(i),
        ]
        .into_iter()
        .flatten()
        .max_by_key(|(end, _)| *end)
    }

    /// Skips the weekday in "Friday, 9 June" and "Fri the 9th of June"; returns the next token and the weekday.
    fn named_weekday(&self, i: usize) -> Option<(usize, u32)> {
        let Class::Weekday(day, _) = self.class(i) else {
            return None;
        };
        let next = self.skip(self.skip(i + 1, &[".", ","]), &[",", "the"]);
        self.day_of_a_month(next, None).map(|_| (next, day))
    }

    fn day_of_a_month(&self, i: usize, year: Option<i32>) -> Read {
        let led = self.month_first(i, year).filter(|(_, found)| found.grain == Grain::Day);
        led.or_else(|| self.day_first(i, year)).or_else(|| self.numeric(i))
    }

    /// Reads a date without a year after a weekday. The weekday decides the year: the nearest year in which the two
    /// agree.
    fn fitting(&self, i: usize, weekday: u32) -> Read {
        let year = self.today.year();
        let (_, plain) = self.day_of_a_month(i, None)?;
        if plain.dated || plain.first_day().weekday().num_days_from_monday() == weekday {
            return None;
        }
        [year, year - 1, year + 1]
            .into_iter()
            .filter_map(|year| self.day_of_a_month(i, Some(year)))
            .find(|(_, found)| found.first_day().weekday().num_days_from_monday() == weekday)
    }

    /// Reads a day of a month, in digits or as an ordinal.
    fn day_number(&self, i: usize) -> Option<(usize, u32)> {
        let day = match self.class(i) {
            Class::Digits(..) => match self.digits(i)? {
                (day, 1 | 2) => day,
                _ => return None,
            },
            Class::Ordinal(day) if self.word(i) != "second" || self.is(i.wrapping_sub(1), &["the"]) => day,
            Class::Number(20 | 30) => {
                let Class::Ordinal(ones @ 1..=9) = self.class(self.skip(i + 1, &["-"])) else {
                    return None;
                };
                let Class::Number(tens) = self.class(i) else {
                    return None;
                };
                return (tens + ones <= 31).then_some((self.skip(i + 1, &["-"]) + 1, tens + ones));
            }
            _ => return None,
        };
        let clock = self.is(i + 1, &["am", "pm"]) || (self.word(i + 1) == ":" && self.glued(i + 2));
        ((1..=31).contains(&day) && !clock).then_some((i + 1, day))
    }

    /// Reads the year after a month: "2021", ", 2021", "of 2021", "last year".
    pub(super) fn year_behind(&self, i: usize) -> Option<(usize, i32)> {
        let j = self.skip(i, &[",", "of", "de", "del", "in"]);
        let named = match self.word(j) {
            "last" => Some(-1),
            "this" => Some(0),
            "next" => Some(1),
            _ => None,
        };
        if let Some(step) = named {
            return (self.class(j + 1) == Class::Unit(Unit::Year)).then_some((j + 2, self.today.year() + step));
        }
        self.year(j)
    }

    /// Reads "June 9th, 2023", "June 2021", "in June".
    fn month_first(&self, i: usize, year: Option<i32>) -> Read {
        let (j, month, trust) = self.month(i)?;
        let of_day = self
            .day_number(self.skip(j, &["the"]))
            .filter(|(k, _)| self.day_fits(i, *k, trust));
        if let Some((k, day)) = of_day {
            if let Some((end, year)) = self.year_behind(k) {
                return Some((end, Found::day(date(year, month, day)?).absolute()));
            }
            let found = match year {
                Some(year) => date(year, month, day)?,
                None => self.day_of_year(i, month, day)?,
            };
            return Some((k, Found::day(found)));
        }
        if let Some((end, year)) = self.year_behind(j) {
            let worded = trust == Trust::Common && !self.capital(i) && self.is(j, &["this", "in"]);
            return if worded {
                None
            } else {
                Some((end, Found::month(date(year, month, 1)?).absolute()))
            };
        }
        let opened = self.opened(i) || self.listed(i, Grain::Month);
        let fits = match trust {
            Trust::Plain => true,
            Trust::Name => opened || year.is_some(),
            Trust::Common => (opened || year.is_some()) && !is(self.word(i + 1), WordClass::NoMonth),
        };
        if !fits {
            return None;
        }
        let found = year.map_or_else(|| Some(self.month_of_year(i, month)), |year| date(year, month, 1))?;
        Some((j, Found::month(found)))
    }

    /// Returns true if the words before a month show that it is a month.
    fn opened(&self, i: usize) -> bool {
        let of = self.word(i.wrapping_sub(1)) == "of"
            && i.checked_sub(2).is_some_and(|k| {
                matches!(self.class(k), Class::Unit(_) | Class::Weekday(..)) || is(self.word(k), WordClass::PartOf)
            });
        let from_march = self.word(i) == "march" && self.word(i.wrapping_sub(1)) == "from" && self.capital(i);
        of || from_march
            || is(self.before(i), WordClass::OpensDate)
            || (self.is(i.wrapping_sub(1), &["-"]) && self.is(i.wrapping_sub(2), &["mid"]))
    }

    /// Returns true if the number after a month is a day: "may 7", not "may 7 of them". A month that is also a common
    /// word needs further evidence.
    fn day_fits(&self, i: usize, next: usize, trust: Trust) -> bool {
        if trust != Trust::Common || is(self.before(i), WordClass::OpensDay) {
            return true;
        }
        let ordinal = matches!(self.class(next - 1), Class::Ordinal(_));
        let alone = !matches!(self.class(next), Class::Other | Class::Unit(_) | Class::Number(_))
            || self.word(next).is_empty()
            || self.word(next).starts_with(['\'', '’']);
        ordinal
            || alone && !self.is(next, &["more", "of", "a", "an"])
            || (self.capital(i) && i > 0 && self.is(next, &["at", "and", "to"]))
    }

    /// Reads "9 June, 2023", "the 9th of June", "9. Juni 2023", "9 de junio de 2023".
    fn day_first(&self, i: usize, year: Option<i32>) -> Read {
        let start = self.skip_class(i, WordClass::DateArticle);
        let (j, day) = self.day_number(start)?;
        let dot = self.word(j) == "." && self.glued(j);
        let j = if dot { j + 1 } else { j };
        let of = self.skip(j, &["of", "de"]);
        let (k, month, trust) = self.month(of)?;
        let figures = self.word(j - 1).starts_with(|c: char| c.is_ascii_digit());
        let sure = self.capital(of) || of > j || (figures && matches!(self.class(j - 1), Class::Ordinal(_)));
        if let Some((end, year)) = self.year_behind(k) {
            return Some((end, Found::day(date(year, month, day)?).absolute()));
        }
        if trust == Trust::Common && !sure {
            return None;
        }
        let found = match year {
            Some(year) => date(year, month, day)?,
            None => self.day_of_year(i, month, day)?,
        };
        Some((k, Found::day(found)))
    }

    /// Reads "summer 2022", "the summer of '22", "in the summer".
    fn season_of_year(&self, i: usize) -> Read {
        let (j, name, trust) = self.season(self.skip(i, &["the"]))?;
        if let Some((end, year)) = self.year_behind(j) {
            // "The winter of 2020-2021" begins in the first of the two years.
            let second = self.is(end, &["-", "–", "/"]) && matches!(self.class(end + 1), Class::Digits(_, 2 | 4));
            return Some((if second { end + 2 } else { end }, season(name, year)?.absolute()));
        }
        let the = j == i + 2;
        let opened = is(self.before(i), WordClass::OpensSeason);
        if !opened || !(the || trust == Trust::Plain || self.is(i.wrapping_sub(1), &["in", "by"])) {
            return None;
        }
        Some((j, self.season_near(i, name)?))
    }

    /// Returns the season without a year that is meant, by the tense around `i`.
    fn season_near(&self, i: usize, name: Season) -> Option<Found> {
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| season(name, year));
        let mut all = all.iter().flatten().copied();
        match self.tense(i) {
            Tense::Past => all
                .filter(|found| found.start <= self.now)
                .max_by_key(|found| found.start),
            Tense::Future => all.find(|found| found.end > self.now),
            Tense::Open | Tense::Unsure => all.min_by_key(|found| (found.start - self.now).abs()),
        }
    }

    /// Reads "the 1990s", "the '90s", "the nineties".
    pub(super) fn decade(&self, i: usize) -> Read {
        let i = self.skip(i, &["the"]);
        let i = self.skip(i, &["'", "’", "‘"]);
        if let Some(tens) = decade_word(self.word(i)).filter(|_| self.word(i.wrapping_sub(1)) == "the") {
            let year = full_year(tens.into());
            return Some((i + 1, Found::years(year, 10).absolute()));
        }
        let Class::Digits(value, length) = self.class(i) else {
            return None;
        };
        let plural = self.glued(i + 1) && self.is(i + 1, &["s", "'s", "’s"]) && value % 10 == 0;
        let year = i32::try_from(value).ok()?;
        match length {
            4 if plural && (1000..2200).contains(&value) => Some((i + 2, Found::years(year, 10).absolute())),
            2 if plural
                && i > 0
                && (is(self.before(i), WordClass::BeforeDecade) || self.is(i - 1, &["'", "’", "‘", "-"])) =>
            {
                Some((i + 2, Found::years(full_year(year), 10).absolute()))
            }
            _ => None,
        }
    }

    /// Reads "Q3 2022".
    fn quarter(&self, i: usize) -> Read {
        let Class::Digits(quarter @ 1..=4, 1) = self.class(i + 1) else {
            return None;
        };
        let (end, year) = self.year_behind(i + 2).filter(|_| self.word(i) == "q")?;
        let start = add_months(new_year(year), 3 * i64::from(quarter - 1));
        Some((end, Found::days(start, add_months(start, 3), Grain::Season).absolute()))
    }

    /// Reads a year alone if its neighbours show that it is one: "in 2022", "(2022)".
    fn lone_year(&self, i: usize) -> Read {
        let (end, year) = self.year(i)?;
        let opened = is(self.before(i), WordClass::OpensDate)
            || is(self.before(i), WordClass::OpensYear)
            || self.is(i.wrapping_sub(1), &["(", "-", "–"]);
        let stands = self.is(end, &["", ".", ",", "!", "?", ")", ";", ":"]) && !self.is(i.wrapping_sub(1), &["'", "’"]);
        let lone = i == 0 || matches!(self.class(i - 1), Class::Mark(_)) || year % 50 != 0;
        let opened = opened || self.listed(i, Grain::Year);
        (opened || (stands && lone)).then(|| (end, Found::year(year).absolute()))
    }
}
