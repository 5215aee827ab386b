//! The state of the parser for one text, and small readers that all rules share.

use chrono::{Datelike, NaiveDate, NaiveDateTime};

use super::ahead::leads_ahead;
use super::calendar::{Found, Grain, add_days, add_months, date, first_of_month, weekday_before, weekday_from};
use super::lexicon::{Class, Season, Trust, Unit};
use super::token::{Tense, Token};
use crate::lexicon::{Class as WordClass, is};

/// The result of a rule: the first token after the expression, and its meaning.
pub(super) type Read = Option<(usize, Found)>;

/// A text that is read relative to a moment.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token<'a>],
    /// The reference in its own offset.
    pub(super) now: NaiveDateTime,
    pub(super) today: NaiveDate,
    /// The offset of the reference, in minutes east of UTC.
    pub(super) offset_minutes: i64,
    /// The last time that was resolved.
    pub(super) previous: Option<Previous>,
}

/// A time of the text that was read before, its sentence and the first token after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Previous {
    pub(super) found: Found,
    pub(super) sentence: usize,
    pub(super) end: usize,
}

/// A count of units: `low..=high`, with `half` for a further half.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) half: bool,
    /// True for "a few": the bounds are estimated.
    pub(super) vague: bool,
}

impl Amount {
    pub(super) fn exact(n: u32) -> Amount {
        Amount {
            low: n,
            high: n,
            half: false,
            vague: false,
        }
    }

    pub(super) fn rough(low: u32, high: u32) -> Amount {
        Amount {
            low,
            high,
            half: false,
            vague: true,
        }
    }
}

impl Parser<'_> {
    pub(super) fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |token| &token.lower)
    }

    /// Returns the word before `i`; empty if there is none.
    pub(super) fn before(&self, i: usize) -> &str {
        i.checked_sub(1).map_or("", |i| self.word(i))
    }

    pub(super) fn class(&self, i: usize) -> Class {
        self.tokens.get(i).map_or(Class::Other, |token| token.class)
    }

    pub(super) fn glued(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|token| token.glued)
    }

    pub(super) fn capital(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|token| token.capital)
    }

    /// Returns the tense around `i`; a time after "since" is in the past.
    pub(super) fn tense(&self, i: usize) -> Tense {
        let since = self.before(i) == "since" || (self.before(i) == "the" && self.is(i.wrapping_sub(2), &["since"]));
        if since {
            return Tense::Past;
        }
        self.tokens.get(i).map_or(Tense::Open, |token| token.tense)
    }

    pub(super) fn is(&self, i: usize, words: &[&str]) -> bool {
        words.contains(&self.word(i))
    }

    /// Returns the token after `i` if `i` is one of these words, otherwise `i`.
    pub(super) fn skip(&self, i: usize, words: &[&str]) -> usize {
        if self.is(i, words) { i + 1 } else { i }
    }

    /// Returns the token after `i` if `i` is a word of the class, otherwise `i`.
    pub(super) fn skip_class(&self, i: usize, class: WordClass) -> usize {
        if is(self.word(i), class) { i + 1 } else { i }
    }

    /// Returns the token before `i` if it is one of these words, otherwise `i`.
    pub(super) fn skip_back(&self, i: usize, words: &[&str]) -> usize {
        if words.contains(&self.before(i)) { i - 1 } else { i }
    }

    /// Reads the given words one after the other; returns the first token after them.
    pub(super) fn phrase(&self, i: usize, words: &[&str]) -> Option<usize> {
        words
            .iter()
            .enumerate()
            .all(|(at, word)| self.word(i + at) == *word)
            .then_some(i + words.len())
    }

    /// Reads digits that are not part of a longer number, an amount of money or a version.
    pub(super) fn digits(&self, i: usize) -> Option<(u32, usize)> {
        let Class::Digits(value, length) = self.class(i) else {
            return None;
        };
        let bad_before = self.glued(i)
            && !matches!(
                self.before(i),
                "(" | "[" | "\"" | "“" | "'" | "’" | "‘" | "-" | "–" | "—" | "~" | "," | ":" | "/"
            );
        let fraction = self.glued(i) && matches!(self.before(i), "," | ":" | "/") && self.glued(i - 1);
        let money = matches!(self.before(i), "$" | "€" | "£" | "¥" | "#" | "+" | "₹");
        let tail = self.glued(i + 1) && self.glued(i + 2) && matches!(self.class(i + 2), Class::Digits(..));
        let longer = tail && self.is(i + 1, &[".", ",", ":", "/"]);
        let percent = self.is(i + 1, &["%", "€", "£", "$"]) && self.glued(i + 1);
        (!bad_before && !fraction && !money && !longer && !percent).then_some((value, length))
    }

    /// Reads an integer below 1000 in words or digits.
    pub(super) fn number(&self, i: usize) -> Option<(usize, u32)> {
        if let Some((value, _)) = self.digits(i) {
            return Some((i + 1, value));
        }
        let Class::Number(value) = self.class(i) else {
            return None;
        };
        if value >= 20 {
            let next = self.skip(i + 1, &["-"]);
            if let Class::Number(ones @ 1..=9) = self.class(next) {
                return Some((next + 1, value + ones));
            }
        }
        Some((i + 1, value))
    }

    /// Reads a count before a unit: "two", "a couple of", "two or three", "a", "half an".
    pub(super) fn amount(&self, i: usize) -> Option<(usize, Amount)> {
        if self.is(i, &["half"]) {
            let next = self.skip(self.skip(i + 1, &["of"]), &["a", "an"]);
            return Some((
                next,
                Amount {
                    half: true,
                    ..Amount::exact(0)
                },
            ));
        }
        if self.is(i, &["a", "an", "the", "some"]) || !matches!(self.class(i), Class::Digits(..) | Class::Number(_)) {
            let j = self.skip(i, &["a", "the", "some"]);
            let j = self.skip(j, &["good", "whole"]);
            let rough = match self.word(j) {
                "couple" => Some(Amount::rough(2, 3)),
                "few" => Some(Amount::rough(2, 5)),
                "several" => Some(Amount::rough(3, 7)),
                "dozen" => Some(Amount::rough(11, 13)),
                "hundred" => Some(Amount::rough(90, 110)),
                _ => None,
            };
            if let Some(amount) = rough {
                return Some((self.skip(self.skip(j + 1, &["of"]), &["more"]), amount));
            }
            return self.is(i, &["a", "an"]).then(|| (i + 1, Amount::exact(1)));
        }
        self.decimal(i).or_else(|| self.figures(i))
    }

    fn figures(&self, i: usize) -> Option<(usize, Amount)> {
        let (j, low) = self.number(i)?;
        if let Some(j) = self.phrase(j, &["and", "a", "half"]) {
            return Some((
                j,
                Amount {
                    half: true,
                    ..Amount::exact(low)
                },
            ));
        }
        if self.is(j, &["or", "to", "-", "–"])
            && let Some((k, high)) = self.number(j + 1)
            && high > low
        {
            return Some((
                k,
                Amount {
                    low,
                    high,
                    half: false,
                    vague: true,
                },
            ));
        }
        Some((
            j + usize::from(is(self.word(j), WordClass::AfterAmount) || self.word(j) == "-"),
            Amount::exact(low),
        ))
    }

    /// Reads "2.5"; any other decimal digit counts as one half too.
    fn decimal(&self, i: usize) -> Option<(usize, Amount)> {
        let Class::Digits(whole, _) = self.class(i) else {
            return None;
        };
        let apart = !self.glued(i) || !self.is(i.wrapping_sub(1), &[".", ",", "$", "€", "£"]);
        let point = self.word(i + 1) == "." && self.glued(i + 1) && self.glued(i + 2);
        let one = matches!(self.class(i + 2), Class::Digits(_, 1));
        (apart && point && one && self.word(i + 3) != ".").then(|| {
            (
                i + 3,
                Amount {
                    half: true,
                    ..Amount::exact(whole)
                },
            )
        })
    }

    /// Reads a unit of time; a fortnight is two weeks.
    pub(super) fn unit(&self, i: usize) -> Option<(usize, Unit, u32)> {
        match self.class(i) {
            Class::Unit(Unit::Fortnight) => Some((i + 1, Unit::Week, 2)),
            Class::Unit(Unit::Quarter) => Some((i + 1, Unit::Month, 3)),
            Class::Unit(Unit::Century) => Some((i + 1, Unit::Decade, 10)),
            Class::Unit(Unit::Night) => Some((i + 1, Unit::Day, 1)),
            Class::Unit(unit) => Some((i + 1, unit, 1)),
            Class::Ordinal(2) if self.word(i) == "second" => Some((i + 1, Unit::Second, 1)),
            _ => None,
        }
    }

    /// Reads a year: four digits from 1800 to 2199, or an apostrophe and two digits.
    pub(super) fn year(&self, i: usize) -> Option<(usize, i32)> {
        if self.is(i, &["'", "’", "‘"]) && self.glued(i + 1) {
            let Some((value, 2)) = self.digits(i + 1) else {
                return None;
            };
            return Some((i + 2, full_year(i32::try_from(value).ok()?)));
        }
        let (value @ 1800..=2199, 4) = self.digits(i)? else {
            return None;
        };
        let decade = self.glued(i + 1) && self.word(i + 1) == "s";
        let counted = matches!(self.class(i + 1), Class::Unit(_)) || is(self.word(i + 1), WordClass::CountedNoun);
        if decade || counted {
            return None;
        }
        Some((i + 1, i32::try_from(value).ok()?))
    }

    /// Returns true if token `i` continues a list of months or of years: "June and July", "2020, 2021".
    pub(super) fn listed(&self, i: usize, grain: Grain) -> bool {
        let joined = i > 0 && self.is(i - 1, &[",", "and", "or", "&"]);
        let start = self.skip_back(i.saturating_sub(1), &[","]);
        joined
            && self
                .previous
                .is_some_and(|last| last.found.grain == grain && (last.end == start || last.end + 1 == i))
    }

    /// Returns the date of a day and month without a year, by the tense around `i`.
    pub(super) fn day_of_year(&self, i: usize, month: u32, day: u32) -> Option<NaiveDate> {
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| date(year, month, day));
        let all = all.iter().flatten().copied();
        let away = |date: NaiveDate| (date - self.today).num_days();
        // A date soon after the reference is meant even in a sentence about the past: "I was told 9 June". The
        // exception is an event on that date: "I moved on 9 June".
        let close = all
            .clone()
            .find(|date| (1..=45).contains(&away(*date)))
            .filter(|_| !self.happened_on(i));
        match self.tense(i) {
            Tense::Past => close.or_else(|| all.filter(|date| away(*date) <= 0).max()),
            Tense::Future => all.filter(|date| away(*date) >= 0).min(),
            Tense::Open | Tense::Unsure => all.min_by_key(|date| away(*date).abs()),
        }
        // The nearest 29 February may be further away.
        .or_else(|| {
            (0..8)
                .flat_map(|n| [year - n, year + n])
                .find_map(|year| date(year, month, day))
        })
    }

    /// Returns true if the sentence reports an event on the day at `i`, and not that something was said, obtained or
    /// settled, whose time may lie in the future.
    fn happened_on(&self, i: usize) -> bool {
        let sentence = self.tokens.get(i).map(|token| token.sentence);
        let before = self.tokens.get(..i).unwrap_or_default().iter().rev();
        let mut same = before.take_while(|token| Some(token.sentence) == sentence);
        self.before(self.skip_back(i, &["the"])) == "on" && !same.any(|token| leads_ahead(&token.lower))
    }

    /// Returns the first day of a month without a year, by the tense around `i`.
    pub(super) fn month_of_year(&self, i: usize, month: u32) -> NaiveDate {
        let (last, next) = self.months_around(month);
        let is_near = next < add_months(first_of_month(self.today), 6);
        match self.tense(i) {
            Tense::Past => last,
            Tense::Open | Tense::Unsure if !is_near => last,
            Tense::Open | Tense::Unsure | Tense::Future => next,
        }
    }

    /// Returns the last and the next such month; both are the present month if it is that month.
    pub(super) fn months_around(&self, month: u32) -> (NaiveDate, NaiveDate) {
        let this = first_of_month(self.today);
        let ahead = (12 + i64::from(month) - i64::from(this.month())) % 12;
        let last = if ahead > 0 { ahead - 12 } else { 0 };
        (add_months(this, last), add_months(this, ahead))
    }

    /// Returns the date of a weekday alone, by the tense around `i`; without a tense, the next one.
    pub(super) fn weekday_near(&self, i: usize, day: u32) -> NaiveDate {
        match self.world_step(i).unwrap_or_else(|| self.tense(i)) {
            Tense::Past => weekday_before(self.today, day),
            // Nobody says "on Monday" about today.
            Tense::Future if self.is(i.wrapping_sub(1), &["on", "by", "until", "till"]) => {
                weekday_from(add_days(self.today, 1), day)
            }
            Tense::Future | Tense::Open | Tense::Unsure => weekday_from(self.today, day),
        }
    }

    /// Reads a weekday; a short form needs a capital letter, and "Sat" and "Sun" also need a neighbour.
    pub(super) fn weekday(&self, i: usize) -> Option<(usize, u32)> {
        let Class::Weekday(day, trust) = self.class(i) else {
            return None;
        };
        let dot = self.word(i + 1) == "." && self.glued(i + 1);
        let next = if dot && trust != Trust::Plain { i + 2 } else { i + 1 };
        let beside = (is(self.before(i), WordClass::BesideWeekday) || self.before(i) == "-")
            || self.is(next, &[",", "-"])
            || matches!(self.class(next), Class::Digits(..) | Class::Part(_) | Class::Month(..));
        let fits = match trust {
            Trust::Plain => true,
            Trust::Name => self.capital(i) || (beside && self.is(i.wrapping_sub(1), &["on", "last", "next", "this"])),
            Trust::Common => self.capital(i) && beside && !self.glued(i + 1) || (self.capital(i) && dot && beside),
        };
        fits.then_some((if trust == Trust::Plain { i + 1 } else { next }, day))
    }

    /// Reads the name of a month, whatever its neighbours are.
    pub(super) fn month(&self, i: usize) -> Option<(usize, u32, Trust)> {
        let Class::Month(month, trust) = self.class(i) else {
            return None;
        };
        let short = is(self.word(i), WordClass::ShortMonth);
        let dot = short && self.word(i + 1) == "." && self.glued(i + 1);
        Some((if dot { i + 2 } else { i + 1 }, month, trust))
    }

    pub(super) fn season(&self, i: usize) -> Option<(usize, Season, Trust)> {
        let Class::Season(season, trust) = self.class(i) else {
            return None;
        };
        Some((i + 1, season, trust))
    }
}

/// Returns the year of two digits: up to 39 in this century, otherwise in the last one.
pub(super) fn full_year(value: i32) -> i32 {
    if value < 40 { 2000 + value } else { 1900 + value }
}
