//! Candidates with figures: numbers, amounts, lengths of time.

use super::token::Token;
use super::{Finder, Shape};
use crate::evidence::amount;
use crate::evidence::word_classes::{Class, is_time_unit};

impl Finder<'_> {
    /// Adds each number, and each number with the unit or currency next to it.
    pub(super) fn add_numbers(&mut self, text: &str) {
        let mut at = 0;
        while at < self.tokens.len() {
            if self.tokens[at].class != Class::Number {
                at += 1;
                continue;
            }
            let end = self.run_end(at);
            self.push_span(at, end, Shape::Number);
            self.add_amount(text, at, end);
            at = end;
        }
    }

    /// Returns the end of a number that starts at a token: "two hundred and ten" and "2 million" are one number each,
    /// "20, 43" are two.
    fn run_end(&self, at: usize) -> usize {
        let counts = |here: usize| self.tokens.get(here).is_some_and(|it| it.class == Class::Number);
        let mut end = at + 1;
        loop {
            if counts(end) && self.is_joined(end) {
                end += 1;
            } else if self.tokens.get(end).is_some_and(|it| it.lower == "and") && self.is_joined(end) && counts(end + 1)
            {
                end += 2;
            } else {
                return end;
            }
        }
    }

    fn add_amount(&mut self, text: &str, at: usize, end: usize) {
        let mut span = self.span_of_tokens(at, end, Shape::Amount);
        let mut found = false;
        if let Some(start) = amount::sign_before(text, span.start) {
            (span.start, span.money, found) = (start, true, true);
        } else if let Some(before) = at.checked_sub(1).map(|it| &self.tokens[it])
            && amount::is_currency_code(&before.lower)
        {
            (span.start, span.money, found) = (before.start, true, true);
        }
        let next = self.tokens.get(end).filter(|it| !(it.breaks || it.comma));
        if let Some((stop, money)) = amount::sign_after(text, span.end) {
            (span.end, found) = (stop, true);
            span.money |= money;
        } else if let Some(next) = next.filter(|it| amount::is_currency(&it.lower)) {
            (span.end, span.money, found) = (next.end, true, true);
        } else if let Some(stop) = self.find_unit_end(end).filter(|_| next.is_some()) {
            (span.end, found) = (stop, true);
        } else if self.is_price(at, end)
            || self.priced_too(text, at, end)
            || (next.is_none() && is_short_thousands(&self.tokens[end - 1].lower))
        {
            (span.money, found) = (true, true);
        }
        if found {
            self.out.push(span);
        }
    }

    /// Returns the byte offset of the end of a unit that starts at a token: "kilos", "square metres".
    fn find_unit_end(&self, at: usize) -> Option<usize> {
        let unit = |it: &&Token| amount::is_unit(&it.lower) || is_time_unit(&it.lower);
        let power = |it: &&Token| matches!(it.lower.as_str(), "square" | "cubic");
        let powered = || {
            self.tokens.get(at).filter(power)?;
            self.tokens.get(at + 1).filter(unit).map(|it| it.end)
        };
        let plain = self.tokens.get(at).filter(unit).map(|it| it.end);
        plain.or_else(powered)
    }

    /// Returns true if a figure follows a thing and a sum of money precedes both: "the hamster was 18 pounds and the
    /// cage 75".
    fn priced_too(&self, text: &str, at: usize, end: usize) -> bool {
        let thing = |it: &Token| it.class == Class::Content;
        let last = self.tokens.get(end).is_none_or(|it| it.breaks || it.comma);
        let behind = at > 0 && thing(&self.tokens[at - 1]) && self.is_joined(at);
        behind && last && amount::contains_money(&text[..self.tokens[at].start])
    }

    /// Returns true if a figure counts nothing and is next to a verb of paying or a word for a sum: "bought it for
    /// 200", "cost me 30".
    fn is_price(&self, at: usize, end: usize) -> bool {
        let counts = |it: &Token| !(it.breaks || it.comma || matches!(it.class, Class::Linking | Class::Filler));
        if at == 0 || self.tokens.get(end).is_some_and(counts) || self.tokens[at].time {
            return false;
        }
        let clause = self.tokens[..at].iter().rposition(|it| it.breaks).unwrap_or_default();
        let verb = |list: &[&str]| {
            self.tokens[clause..at]
                .iter()
                .any(|it| list.contains(&text::stem_word(&it.lower).as_str()))
        };
        let sum = || {
            let back = self.tokens[clause..at - 1].iter().rev();
            let mut nouns = back.filter(|it| it.class == Class::Content).take(2);
            nouns.any(|it| text::lexicon::is_in_class(&it.lower, text::lexicon::Class::Sum))
        };
        let back = || {
            let after = |here: usize| self.tokens.get(here).map_or("", |it| it.lower.as_str());
            after(end) == "for" && matches!(after(end + 1), "it" | "them" | "that" | "this" | "the" | "my" | "our")
        };
        match self.tokens[at - 1].lower.as_str() {
            // "A deposit of 90", "the rent stays at 1,200".
            "of" | "is" | "was" | "at" | "to" if sum() => true,
            // "Got 220 for it".
            "got" | "get" | "took" | "made" | "asked" | "offered" if back() => true,
            "for" => verb(&["buy", "sell", "get"]),
            "me" | "us" | "him" | "her" | "them" | "pay" | "pays" | "paid" | "cost" | "costs" | "charged" => {
                verb(&["pay", "cost", "charg"])
            }
            _ => false,
        }
    }

    /// Adds each length of time, and each start with "since" if `starts` is set.
    pub(super) fn add_durations(&mut self, starts: bool) {
        for at in 0..self.tokens.len() {
            let unit = (at + 1..(at + 4).min(self.tokens.len())).find(|&it| is_time_unit(&self.tokens[it].lower));
            let counts = self.tokens[at].class == Class::Number
                || matches!(
                    self.tokens[at].lower.as_str(),
                    "a" | "an" | "few" | "several" | "half" | "many"
                );
            if let (true, Some(unit)) = (counts, unit) {
                self.push_span(at, unit + 1, Shape::Duration);
            }
        }
        for at in 0..self.tokens.len() {
            if starts && self.tokens[at].lower == "since" {
                self.add_duration_since(at);
            }
        }
    }

    /// Adds the duration that "since" opens at a token: "since 2016", "since March", "since I was 15".
    fn add_duration_since(&mut self, at: usize) {
        let year = |it: &Token| it.lower.len() == 4 && it.lower.starts_with(['1', '2']) && it.class == Class::Number;
        let lower = |it: usize| self.tokens.get(it).map_or("", |it| it.lower.as_str());
        let number = |it: usize| self.tokens.get(it).is_some_and(|it| it.class == Class::Number);
        if self.tokens.get(at + 1).is_some_and(|it| year(it) || it.time) {
            self.push_span(at, at + 2, Shape::Duration);
        } else if matches!(lower(at + 2), "was" | "were") && number(at + 3) {
            self.push_span(at, at + 4, Shape::Duration);
        }
    }
}

/// Returns true for thousands in short form, such as "22k".
fn is_short_thousands(lower: &str) -> bool {
    lower
        .strip_suffix('k')
        .is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}
