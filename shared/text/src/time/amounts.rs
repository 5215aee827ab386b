//! Counts of units of time: "two", "a couple of", "half an".

use crate::lexicon::{Class as WordClass, words_of_class};
use crate::time::parser::Parser;
use crate::time_words::lexicon::Class;

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
    pub(super) fn from_count(n: u32) -> Amount {
        Amount {
            low: n,
            high: n,
            half: false,
            vague: false,
        }
    }

    pub(super) fn from_rough_bounds(low: u32, high: u32) -> Amount {
        Amount {
            low,
            high,
            half: false,
            vague: true,
        }
    }
}

impl Parser<'_> {
    /// Reads a count before a unit: "two", "a couple of", "two or three", "a", "half an".
    pub(super) fn read_amount(&self, i: usize) -> Option<(usize, Amount)> {
        if self.is_any_of(i, &["half"]) {
            let next = self.skip_word(self.skip_word(i + 1, &["of"]), &["a", "an"]);
            return Some((
                next,
                Amount {
                    half: true,
                    ..Amount::from_count(0)
                },
            ));
        }
        if !matches!(self.class_at(i), Class::Digits(..) | Class::Number(_)) {
            // This runs for most tokens, and a scan of three words is faster than a lookup.
            let j = self.skip_word(i, words_of_class(WordClass::BeforeRoughAmount));
            let j = self.skip_word(j, &["good", "whole"]);
            let rough = match self.word_at(j) {
                "couple" => Some(Amount::from_rough_bounds(2, 3)),
                "few" => Some(Amount::from_rough_bounds(2, 5)),
                "several" => Some(Amount::from_rough_bounds(3, 7)),
                "dozen" => Some(Amount::from_rough_bounds(11, 13)),
                "hundred" => Some(Amount::from_rough_bounds(90, 110)),
                _ => None,
            };
            if let Some(amount) = rough {
                return Some((self.skip_word(self.skip_word(j + 1, &["of"]), &["more"]), amount));
            }
            return self.is_any_of(i, &["a", "an"]).then(|| (i + 1, Amount::from_count(1)));
        }
        self.read_decimal_amount(i).or_else(|| self.read_integer_amount(i))
    }

    /// Reads "and a half" or "-and-a-half" after a count or a unit; returns the first token after it.
    pub(super) fn read_added_half(&self, i: usize) -> Option<usize> {
        self.read_phrase(i, &["and", "a", "half"])
            .or_else(|| self.read_phrase(i, &["-", "and", "-", "a", "-", "half"]))
    }

    fn read_integer_amount(&self, i: usize) -> Option<(usize, Amount)> {
        let (j, low) = self.read_number(i)?;
        if let Some(j) = self.read_added_half(j) {
            return Some((
                j,
                Amount {
                    half: true,
                    ..Amount::from_count(low)
                },
            ));
        }
        if self.is_any_of(j, &["or", "to", "-", "–"])
            && let Some((k, high)) = self.read_number(j + 1)
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
            j + usize::from(self.is_of_class(j, WordClass::AfterAmount) || self.word_at(j) == "-"),
            Amount::from_count(low),
        ))
    }

    /// Reads "2.5"; any other decimal digit counts as one half too.
    fn read_decimal_amount(&self, i: usize) -> Option<(usize, Amount)> {
        let Class::Digits(integer, _) = self.class_at(i) else {
            return None;
        };
        let apart = !self.is_glued(i) || !self.is_any_of(i.wrapping_sub(1), &[".", ",", "$", "€", "£"]);
        let point = self.word_at(i + 1) == "." && self.is_glued(i + 1) && self.is_glued(i + 2);
        let one = matches!(self.class_at(i + 2), Class::Digits(_, 1));
        (apart && point && one && self.word_at(i + 3) != ".").then(|| {
            (
                i + 3,
                Amount {
                    half: true,
                    ..Amount::from_count(integer)
                },
            )
        })
    }
}
