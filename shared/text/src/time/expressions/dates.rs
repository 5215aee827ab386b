//! Calendar dates: a day, a month, a season, a year or a decade.

use chrono::Datelike;

use crate::is_stop;
use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::calendar::{FoundTime, Grain, add_months, checked_date, new_year, span_of_season};
use crate::time::parser::{Parser, ReadResult, full_year};
use crate::time::token::Tense;
use crate::time_words::lexicon::{Class, Season, Trust, Unit, decade_word};

impl Parser<'_> {
    /// Reads a calendar date; `year` is used for a date without a year.
    pub(crate) fn read_absolute_date(&self, i: usize, year: Option<i32>) -> ReadResult {
        if let Some((next, day)) = self.named_weekday(i) {
            return self
                .read_date_fitting_weekday(next, day)
                .or_else(|| self.read_absolute_date(next, year));
        }
        [
            self.read_numeric_date(i),
            self.month_first(i, year),
            self.day_first(i, year),
            self.season_of_year(i),
            self.read_decade(i),
            self.read_quarter(i),
            self.lone_year(i),
            self.day_of_month(i),
        ]
        .into_iter()
        .flatten()
        .max_by_key(|(end, _)| *end)
    }

    /// Skips the weekday in "Friday, 9 June" and "Fri the 9th of June"; returns the next token and the weekday.
    fn named_weekday(&self, i: usize) -> Option<(usize, u32)> {
        let Class::Weekday(day, _) = self.class_at(i) else {
            return None;
        };
        let next = self.skip_word(self.skip_word(i + 1, &[".", ","]), &[",", "the"]);
        self.day_of_a_month(next, None).map(|_| (next, day))
    }

    fn day_of_a_month(&self, i: usize, year: Option<i32>) -> ReadResult {
        let led = self.month_first(i, year).filter(|(_, found)| found.grain == Grain::Day);
        led.or_else(|| self.day_first(i, year))
            .or_else(|| self.read_numeric_date(i))
    }

    /// Reads a date without a year after a weekday. The weekday decides the year: the nearest year in which the two
    /// agree.
    fn read_date_fitting_weekday(&self, i: usize, weekday: u32) -> ReadResult {
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
        let day = match self.class_at(i) {
            Class::Digits(..) => match self.read_digits(i)? {
                (day, 1 | 2) => day,
                _ => return None,
            },
            Class::Ordinal(day) if self.word_at(i) != "second" || self.is_any_of(i.wrapping_sub(1), &["the"]) => day,
            Class::Number(20 | 30) => {
                let Class::Ordinal(ones @ 1..=9) = self.class_at(self.skip_word(i + 1, &["-"])) else {
                    return None;
                };
                let Class::Number(tens) = self.class_at(i) else {
                    return None;
                };
                return (tens + ones <= 31).then_some((self.skip_word(i + 1, &["-"]) + 1, tens + ones));
            }
            _ => return None,
        };
        let clock = self.is_any_of(i + 1, &["am", "pm"]) || (self.word_at(i + 1) == ":" && self.is_glued(i + 2));
        ((1..=31).contains(&day) && !clock).then_some((i + 1, day))
    }

    /// Reads the year after a month: "2021", ", 2021", "of 2021", "last year".
    pub(crate) fn read_year_after(&self, i: usize) -> Option<(usize, i32)> {
        let joined = self.word_at(i) == "," || self.is_of_class(i, WordClass::JoinsYear);
        let j = i + usize::from(joined);
        let year_step = match self.word_at(j) {
            "last" => Some(-1),
            "this" => Some(0),
            "next" => Some(1),
            _ => None,
        };
        if let Some(step) = year_step {
            return (self.class_at(j + 1) == Class::Unit(Unit::Year)).then_some((j + 2, self.today.year() + step));
        }
        self.read_year(j)
    }

    /// Reads "June 9th, 2023", "June 2021", "in June".
    fn month_first(&self, i: usize, year: Option<i32>) -> ReadResult {
        let (j, month, trust) = self.read_month(i)?;
        let of_day = self
            .day_number(self.skip_word(j, &["the"]))
            .filter(|(k, _)| self.day_fits(i, *k, trust));
        if let Some((k, day)) = of_day {
            if let Some((end, year)) = self.read_year_after(k) {
                return Some((end, FoundTime::from_day(checked_date(year, month, day)?).to_absolute()));
            }
            let found = match year {
                Some(year) => checked_date(year, month, day)?,
                None => self.day_of_year(i, month, day)?,
            };
            return Some((k, FoundTime::from_day(found)));
        }
        if let Some((end, year)) = self.read_year_after(j) {
            let worded = trust == Trust::Common && !self.is_capitalised(i) && self.is_any_of(j, &["this", "in"]);
            return if worded {
                None
            } else {
                Some((end, FoundTime::month_of(checked_date(year, month, 1)?).to_absolute()))
            };
        }
        let opened = self.has_month_opener(i) || self.continues_list(i, Grain::Month);
        let fits = match trust {
            Trust::Plain => true,
            Trust::Name => opened || year.is_some(),
            Trust::Common => (opened || year.is_some()) && !is_in_class(self.word_at(i + 1), WordClass::NoMonth),
        };
        if !fits {
            return None;
        }
        let found = year.map_or_else(
            || Some(self.month_of_year(i, month)),
            |year| checked_date(year, month, 1),
        )?;
        Some((j, FoundTime::month_of(found)))
    }

    /// Returns true if the words before a month show that it is a month.
    fn has_month_opener(&self, i: usize) -> bool {
        let of = self.word_at(i.wrapping_sub(1)) == "of"
            && i.checked_sub(2).is_some_and(|k| {
                matches!(self.class_at(k), Class::Unit(_) | Class::Weekday(..))
                    || is_in_class(self.word_at(k), WordClass::PartOf)
            });
        let from_march =
            self.word_at(i) == "march" && self.word_at(i.wrapping_sub(1)) == "from" && self.is_capitalised(i);
        of || from_march
            || is_in_class(self.word_before(i), WordClass::OpensDate)
            || (self.is_any_of(i.wrapping_sub(1), &["-"]) && self.is_any_of(i.wrapping_sub(2), &["mid"]))
    }

    /// Returns true if the number after a month is a day: "may 7", not "may 7 of them". A month that is also a common
    /// word needs further evidence.
    fn day_fits(&self, i: usize, next: usize, trust: Trust) -> bool {
        if trust != Trust::Common || is_in_class(self.word_before(i), WordClass::OpensDay) {
            return true;
        }
        let ordinal = matches!(self.class_at(next - 1), Class::Ordinal(_));
        let alone = !matches!(self.class_at(next), Class::Other | Class::Unit(_) | Class::Number(_))
            || self.word_at(next).is_empty()
            || self.word_at(next).starts_with(['\'', '’']);
        ordinal
            || alone && !self.is_of_class(next, WordClass::CountsAfterMonth)
            || (self.is_capitalised(i) && i > 0 && self.is_of_class(next, WordClass::AfterMonthDay))
    }

    /// Reads "9 June, 2023", "the 9th of June", "9. Juni 2023", "9 de junio de 2023".
    fn day_first(&self, i: usize, year: Option<i32>) -> ReadResult {
        let start = self.skip_class(i, WordClass::DateArticle);
        let (j, day) = self.day_number(start)?;
        let dot = self.word_at(j) == "." && self.is_glued(j);
        let j = if dot { j + 1 } else { j };
        let of = self.skip_word(j, &["of", "de"]);
        let (k, month, trust) = self.read_month(of)?;
        let figures = self.word_at(j - 1).starts_with(|c: char| c.is_ascii_digit());
        let sure = self.is_capitalised(of) || of > j || (figures && matches!(self.class_at(j - 1), Class::Ordinal(_)));
        if let Some((end, year)) = self.read_year_after(k) {
            return Some((end, FoundTime::from_day(checked_date(year, month, day)?).to_absolute()));
        }
        if trust == Trust::Common && !sure {
            return None;
        }
        let found = match year {
            Some(year) => checked_date(year, month, day)?,
            None => self.day_of_year(i, month, day)?,
        };
        Some((k, FoundTime::from_day(found)))
    }

    /// Reads "summer 2022", "the summer of '22", "in the summer".
    fn season_of_year(&self, i: usize) -> ReadResult {
        let (j, name, trust) = self.read_season(self.skip_word(i, &["the"]))?;
        if let Some((end, year)) = self.read_year_after(j) {
            // "The winter of 2020-2021" begins in the first of the two years.
            let second =
                self.is_any_of(end, &["-", "–", "/"]) && matches!(self.class_at(end + 1), Class::Digits(_, 2 | 4));
            return Some((
                if second { end + 2 } else { end },
                span_of_season(name, year)?.to_absolute(),
            ));
        }
        let the = j == i + 2;
        let opened = is_in_class(self.word_before(i), WordClass::OpensSeason);
        if !opened || !(the || trust == Trust::Plain || self.is_any_of(i.wrapping_sub(1), &["in", "by"])) {
            return None;
        }
        Some((j, self.season_near(i, name)?))
    }

    /// Returns the season without a year that is meant, by the tense around `i`.
    fn season_near(&self, i: usize, name: Season) -> Option<FoundTime> {
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| span_of_season(name, year));
        let mut all = all.iter().flatten().copied();
        match self.tense_at(i) {
            Tense::Past => all
                .filter(|found| found.start <= self.now)
                .max_by_key(|found| found.start),
            Tense::Future => all.find(|found| found.end > self.now),
            Tense::Open | Tense::Unsure => all.min_by_key(|found| (found.start - self.now).abs()),
        }
    }

    /// Reads "the 1990s", "the '90s", "the nineties".
    pub(crate) fn read_decade(&self, i: usize) -> ReadResult {
        let i = self.skip_word(i, &["the"]);
        let i = self.skip_word(i, &["'", "’", "‘"]);
        if let Some(tens) = decade_word(self.word_at(i)).filter(|_| self.word_at(i.wrapping_sub(1)) == "the") {
            return Some((i + 1, self.decade_near(i, tens.into())));
        }
        let Class::Digits(value, length) = self.class_at(i) else {
            return None;
        };
        let plural = self.is_glued(i + 1) && self.is_any_of(i + 1, &["s", "'s", "’s"]) && value % 10 == 0;
        let year = i32::try_from(value).ok()?;
        match length {
            4 if plural && (1000..2200).contains(&value) => {
                Some((i + 2, FoundTime::from_years(year, 10).to_absolute()))
            }
            2 if plural
                && i > 0
                && (is_in_class(self.word_before(i), WordClass::BeforeDecade)
                    || self.is_any_of(i - 1, &["'", "’", "‘", "-"]))
                && !self.is_age_in_tens(i) =>
            {
                Some((i + 2, self.decade_near(i, year)))
            }
            _ => None,
        }
    }

    /// Returns true if the number at `i` is an age: "in my late 30s", "her mid-40s". That of "his early 90s records" is
    /// a decade.
    fn is_age_in_tens(&self, i: usize) -> bool {
        let last = self.skip_back(i, &["'", "’", "‘", "-"]);
        let first = self.skip_back(last, words_of_class(WordClass::BeforeDecade));
        let thing = self.word_at(i + 2);
        let plural = thing.len() > 3 && thing.ends_with('s') && self.class_at(i + 2) == Class::Other;
        let of_things = plural
            && !is_stop(thing)
            && !is_in_class(thing, WordClass::HabitAdverb)
            && self.word_before(first.saturating_sub(1)) != "in";
        first < last && is_in_class(self.word_before(first), WordClass::Possessive) && !of_things
    }

    /// Returns the decade of two digits. It lies in the last century if it has not begun yet, unless the words around
    /// `i` are about the future.
    fn decade_near(&self, i: usize, tens: i32) -> FoundTime {
        let year = full_year(tens);
        let is_past = new_year(year) > self.today && self.tense_at(i) != Tense::Future;
        FoundTime::from_years(if is_past { year - 100 } else { year }, 10).to_absolute()
    }

    /// Reads "Q3 2022".
    fn read_quarter(&self, i: usize) -> ReadResult {
        let Class::Digits(quarter @ 1..=4, 1) = self.class_at(i + 1) else {
            return None;
        };
        let (end, year) = self.read_year_after(i + 2).filter(|_| self.word_at(i) == "q")?;
        let start = add_months(new_year(year), 3 * i64::from(quarter - 1));
        Some((
            end,
            FoundTime::from_days(start, add_months(start, 3), Grain::Season).to_absolute(),
        ))
    }

    /// Reads a year alone if its neighbours show that it is one: "in 2022", "(2022)".
    fn lone_year(&self, i: usize) -> ReadResult {
        let (end, year) = self.read_year(i)?;
        let opened = is_in_class(self.word_before(i), WordClass::OpensDate)
            || is_in_class(self.word_before(i), WordClass::OpensYear)
            || self.is_any_of(i.wrapping_sub(1), &["(", "-", "–"]);
        let stands = self.is_any_of(end, &["", ".", ",", "!", "?", ")", ";", ":"])
            && !self.is_any_of(i.wrapping_sub(1), &["'", "’"]);
        let lone = i == 0 || matches!(self.class_at(i - 1), Class::Mark(_)) || year % 50 != 0;
        let opened = opened || self.continues_list(i, Grain::Year);
        (opened || (stands && lone)).then(|| (end, FoundTime::from_year(year).to_absolute()))
    }
}
