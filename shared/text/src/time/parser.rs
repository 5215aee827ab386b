//! The state of the parser for one text, and small readers that all rules share.

use std::ops::Range;

use chrono::{Datelike, NaiveDate, NaiveDateTime};

use super::calendar::{
    FoundTime, Grain, add_days, add_months, checked_date, first_of_month, weekday_before, weekday_from,
};
use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::tense::future_events::leads_ahead;
use crate::time::tense::verb_forms::{may_be_present_be, tense_cue};
use crate::time::token::{Tense, Token};
use crate::time_words::lexicon::{Class, Season, Trust, Unit};

/// The result of a rule: the first token after the expression, and its meaning.
pub(super) type ReadResult = Option<(usize, FoundTime)>;

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
    /// True if the text has a word of Dutch or German times of the clock.
    pub(super) has_clock_word: bool,
}

/// A time of the text that was read before, its sentence and the first token after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Previous {
    pub(super) found: FoundTime,
    pub(super) sentence: usize,
    pub(super) end: usize,
    /// True if its words name a month.
    pub(super) names_month: bool,
}

impl Parser<'_> {
    pub(super) fn word_at(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |token| &token.lower)
    }

    /// Returns the word before `i`; empty if there is none.
    pub(super) fn word_before(&self, i: usize) -> &str {
        i.checked_sub(1).map_or("", |i| self.word_at(i))
    }

    pub(super) fn class_at(&self, i: usize) -> Class {
        self.tokens.get(i).map_or(Class::Other, |token| token.class)
    }

    pub(super) fn is_glued(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|token| token.glued)
    }

    pub(super) fn is_capitalised(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|token| token.capital)
    }

    /// Returns the tense around `i`; a time after "since" is in the past.
    pub(super) fn tense_at(&self, i: usize) -> Tense {
        let since = self.word_before(i) == "since"
            || (self.word_before(i) == "the" && self.is_any_of(i.wrapping_sub(2), &["since"]));
        if since {
            return Tense::Past;
        }
        self.tokens.get(i).map_or(Tense::Open, |token| token.tense)
    }

    pub(super) fn is_any_of(&self, i: usize, words: &[&str]) -> bool {
        words.contains(&self.word_at(i))
    }

    /// Returns true if token `i` is a word of the class.
    pub(super) fn is_of_class(&self, i: usize, class: WordClass) -> bool {
        is_in_class(self.word_at(i), class)
    }

    /// Returns the token after `i` if `i` is one of these words, otherwise `i`.
    pub(super) fn skip_word(&self, i: usize, words: &[&str]) -> usize {
        if self.is_any_of(i, words) { i + 1 } else { i }
    }

    /// Returns the token after `i` if `i` is a word of the class, otherwise `i`.
    pub(super) fn skip_class(&self, i: usize, class: WordClass) -> usize {
        if self.is_of_class(i, class) { i + 1 } else { i }
    }

    /// Returns the token before `i` if it is one of these words, otherwise `i`.
    pub(super) fn skip_back(&self, i: usize, words: &[&str]) -> usize {
        if words.contains(&self.word_before(i)) { i - 1 } else { i }
    }

    /// Returns true if one of the tokens is a month.
    pub(super) fn names_month(&self, mut tokens: Range<usize>) -> bool {
        tokens.any(|at| matches!(self.class_at(at), Class::Month(..)))
    }

    /// Reads the given words one after the other; returns the first token after them.
    pub(super) fn read_phrase(&self, i: usize, words: &[&str]) -> Option<usize> {
        words
            .iter()
            .enumerate()
            .all(|(at, word)| self.word_at(i + at) == *word)
            .then_some(i + words.len())
    }

    /// Reads digits that are not part of a longer number, an amount of money or a version.
    pub(super) fn read_digits(&self, i: usize) -> Option<(u32, usize)> {
        let Class::Digits(value, length) = self.class_at(i) else {
            return None;
        };
        let bad_before = self.is_glued(i)
            && !matches!(
                self.word_before(i),
                "(" | "[" | "\"" | "“" | "'" | "’" | "‘" | "-" | "–" | "—" | "~" | "," | ":" | "/"
            );
        let fraction = self.is_glued(i) && matches!(self.word_before(i), "," | ":" | "/") && self.is_glued(i - 1);
        let money = matches!(self.word_before(i), "$" | "€" | "£" | "¥" | "#" | "+" | "₹");
        let tail = self.is_glued(i + 1) && self.is_glued(i + 2) && matches!(self.class_at(i + 2), Class::Digits(..));
        let longer = tail && self.is_any_of(i + 1, &[".", ",", ":", "/"]);
        let percent = self.is_any_of(i + 1, &["%", "€", "£", "$"]) && self.is_glued(i + 1);
        (!bad_before && !fraction && !money && !longer && !percent).then_some((value, length))
    }

    /// Reads an integer below 1000 in words or digits.
    pub(super) fn read_number(&self, i: usize) -> Option<(usize, u32)> {
        if let Some((value, _)) = self.read_digits(i) {
            return Some((i + 1, value));
        }
        let Class::Number(value) = self.class_at(i) else {
            return None;
        };
        if value >= 20 {
            let next = self.skip_word(i + 1, &["-"]);
            if let Class::Number(ones @ 1..=9) = self.class_at(next) {
                return Some((next + 1, value + ones));
            }
        }
        Some((i + 1, value))
    }

    /// Reads a unit of time; a fortnight is two weeks.
    pub(super) fn read_unit(&self, i: usize) -> Option<(usize, Unit, u32)> {
        match self.class_at(i) {
            Class::Unit(Unit::Fortnight) => Some((i + 1, Unit::Week, 2)),
            Class::Unit(Unit::Quarter) => Some((i + 1, Unit::Month, 3)),
            Class::Unit(Unit::Century) => Some((i + 1, Unit::Decade, 10)),
            Class::Unit(Unit::Night) => Some((i + 1, Unit::Day, 1)),
            Class::Unit(unit) => Some((i + 1, unit, 1)),
            Class::Ordinal(2) if self.word_at(i) == "second" => Some((i + 1, Unit::Second, 1)),
            _ => None,
        }
    }

    /// Reads a year: four digits from 1800 to 2199, or an apostrophe and two digits.
    pub(super) fn read_year(&self, i: usize) -> Option<(usize, i32)> {
        if self.is_any_of(i, &["'", "’", "‘"]) && self.is_glued(i + 1) {
            let Some((value, 2)) = self.read_digits(i + 1) else {
                return None;
            };
            return Some((i + 2, full_year(i32::try_from(value).ok()?)));
        }
        let (value @ 1800..=2199, 4) = self.read_digits(i)? else {
            return None;
        };
        let decade = self.is_glued(i + 1) && self.word_at(i + 1) == "s";
        let counted =
            matches!(self.class_at(i + 1), Class::Unit(_)) || is_in_class(self.word_at(i + 1), WordClass::CountedNoun);
        if decade || counted {
            return None;
        }
        Some((i + 1, i32::try_from(value).ok()?))
    }

    /// Returns true if token `i` continues a list of months or of years: "June and July", "2020, 2021".
    pub(super) fn continues_list(&self, i: usize, grain: Grain) -> bool {
        let joined = i > 0 && self.is_any_of(i - 1, &[",", "and", "or", "&"]);
        let start = self.skip_back(i.saturating_sub(1), &[","]);
        joined
            && self
                .previous
                .is_some_and(|last| last.found.grain == grain && (last.end == start || last.end + 1 == i))
    }

    /// Returns the date of a day and month without a year, by the tense around `i`.
    pub(super) fn day_of_year(&self, i: usize, month: u32, day: u32) -> Option<NaiveDate> {
        let year = self.today.year();
        let all = [year - 1, year, year + 1].map(|year| checked_date(year, month, day));
        let all = all.iter().flatten().copied();
        let away = |date: NaiveDate| (date - self.today).num_days();
        // A date soon after the reference is meant even in a sentence about the past: "I was told 9 June". The
        // exception is an event on that date: "I moved on 9 June", "we married 9 June".
        let close = all
            .clone()
            .find(|date| (1..=45).contains(&away(*date)))
            .filter(|_| !self.happened_on(i));
        match self.tense_at(i) {
            Tense::Past => close.or_else(|| all.filter(|date| away(*date) <= 0).max()),
            Tense::Future => all.filter(|date| away(*date) >= 0).min(),
            Tense::Open | Tense::Unsure => all.min_by_key(|date| away(*date).abs()),
        }
        // The nearest 29 February may be further away.
        .or_else(|| {
            (0..8)
                .flat_map(|n| [year - n, year + n])
                .find_map(|year| checked_date(year, month, day))
        })
    }

    /// Returns true if the sentence reports an event on the day at `i`, and not that something was said, obtained or
    /// settled, whose time may lie in the future.
    fn happened_on(&self, i: usize) -> bool {
        let before = self.word_before(i);
        let on = self.word_before(self.skip_back(i, &["the"])) == "on";
        // "The June 9 exam", "until 9 June" and "talked about 9 June" may lie in the future.
        let joining = [WordClass::PlacesWeekday, WordClass::Article, WordClass::LeavesDateOpen];
        let joined = joining.iter().any(|it| is_in_class(before, *it));
        (on || !joined && self.past_verb_before(i).is_some()) && !self.is_settled_before(i)
    }

    /// Returns true if the sentence says before `i` that something was said, obtained or settled. "Got married" obtains
    /// nothing.
    pub(super) fn is_settled_before(&self, i: usize) -> bool {
        let sentence = self.tokens.get(i).map(|token| token.sentence);
        let mut same = (0..i)
            .rev()
            .take_while(|at| self.tokens.get(*at).map(|token| token.sentence) == sentence);
        let got_done = |at: usize| self.word_at(at) == "got" && self.is_past_verb(at + 1);
        same.any(|at| leads_ahead(self.word_at(at)) && !got_done(at))
    }

    /// Returns the last verb before `i` in its sentence, if it is in the past and no mark separates the two.
    pub(super) fn past_verb_before(&self, i: usize) -> Option<usize> {
        let sentence = self.tokens.get(i)?.sentence;
        for at in (0..i).rev() {
            let token = self.tokens.get(at).filter(|token| token.sentence == sentence)?;
            if matches!(token.class, Class::Mark(_)) || may_be_present_be(&token.lower) {
                return None;
            }
            if self.is_past_verb(at) {
                return Some(at);
            }
        }
        None
    }

    /// Returns true for a verb in the past; "yesterday" and "ago" are none, and neither is the participle of "is usually
    /// closed".
    pub(super) fn is_past_verb(&self, at: usize) -> bool {
        let time = matches!(self.class_at(at), Class::Relative(_)) || self.word_at(at) == "ago";
        let adverb = usize::from(is_in_class(self.word_before(at), WordClass::HabitAdverb));
        let last = self.word_before(at.saturating_sub(adverb));
        !time && tense_cue(last, self.word_at(at), self.word_at(at + 1)) == Tense::Past
    }

    /// Returns the first day of a month without a year, by the tense around `i`.
    pub(super) fn month_of_year(&self, i: usize, month: u32) -> NaiveDate {
        let (last, next) = self.months_around(month);
        let is_near = next < add_months(first_of_month(self.today), 6);
        match self.tense_at(i) {
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
        match self.world_step(i).unwrap_or_else(|| self.tense_at(i)) {
            Tense::Past => weekday_before(self.today, day),
            // Nobody says "on Monday" about today.
            Tense::Future if is_in_class(self.word_before(i), WordClass::BeforeDayAhead) => {
                weekday_from(add_days(self.today, 1), day)
            }
            Tense::Future | Tense::Open | Tense::Unsure => weekday_from(self.today, day),
        }
    }

    /// Reads a weekday. A short form needs a capital letter, or a word such as "on" before it and a fitting word or sign
    /// next to it. A common word ("Sat", "Sun") needs a capital letter and such a word or sign.
    pub(super) fn read_weekday(&self, i: usize) -> Option<(usize, u32)> {
        let Class::Weekday(day, trust) = self.class_at(i) else {
            return None;
        };
        let dot = self.word_at(i + 1) == "." && self.is_glued(i + 1);
        let next = if dot && trust != Trust::Plain { i + 2 } else { i + 1 };
        let beside = (is_in_class(self.word_before(i), WordClass::BesideWeekday) || self.word_before(i) == "-")
            || self.is_any_of(next, &[",", "-"])
            || matches!(
                self.class_at(next),
                Class::Digits(..) | Class::Part(_) | Class::Month(..)
            );
        let fits = match trust {
            Trust::Plain => true,
            Trust::Name => {
                self.is_capitalised(i) || (beside && is_in_class(self.word_before(i), WordClass::BeforeShortDay))
            }
            Trust::Common => {
                self.is_capitalised(i) && beside && !self.is_glued(i + 1) || (self.is_capitalised(i) && dot && beside)
            }
        };
        fits.then_some((if trust == Trust::Plain { i + 1 } else { next }, day))
    }

    /// Reads the name of a month, whatever its neighbours are.
    pub(super) fn read_month(&self, i: usize) -> Option<(usize, u32, Trust)> {
        let Class::Month(month, trust) = self.class_at(i) else {
            return None;
        };
        let short = is_in_class(self.word_at(i), WordClass::ShortMonth);
        let dot = short && self.word_at(i + 1) == "." && self.is_glued(i + 1);
        Some((if dot { i + 2 } else { i + 1 }, month, trust))
    }

    pub(super) fn read_season(&self, i: usize) -> Option<(usize, Season, Trust)> {
        let Class::Season(season, trust) = self.class_at(i) else {
            return None;
        };
        Some((i + 1, season, trust))
    }
}

/// Returns the year of two digits: up to 39 in this century, otherwise in the last one.
pub(super) fn full_year(value: i32) -> i32 {
    if value < 40 { 2000 + value } else { 1900 + value }
}
