//! Numbers that a text spells in English words, such as "twenty-five" and "two hundred and five".

use std::ops::Range;

use crate::lexicon::{Class, is_in_class};
use crate::split_words;
use crate::time_words::lexicon::number_word;

/// A number in words.
#[derive(Debug, PartialEq, Eq)]
pub struct SpelledNumber<'a> {
    /// The words, as written.
    pub words: &'a str,
    /// The value of the words together.
    pub value: i64,
    /// True if the number follows "the", "these" or "those": it may then stand for persons or things that were named
    /// before.
    pub is_definite: bool,
}

/// A word of a text.
struct Word<'a> {
    written: &'a str,
    lower: String,
    /// The value of the word if it is a word for a number.
    value: Option<i64>,
}

/// Number of words after a number within which a fraction belongs to it: "and a half".
const FRACTION_WORDS: usize = 3;
/// Separators between the words of one number, among them two hyphens that look like "-" and a space without a break.
const SEPARATORS: [&str; 6] = [" ", "\n", "-", "\u{2010}", "\u{2011}", "\u{a0}"];

/// Returns the numbers that a text spells, in order. Words whose value is not clear are left out: "one" alone and "the
/// two", which often stand for a person or a thing, parts of a larger amount ("two million", "several hundred"), and
/// words that form no number together ("fifty-fifty").
pub fn find_spelled_numbers(text: &str) -> Vec<SpelledNumber<'_>> {
    let words = read_words(text);
    let runs = find_runs(text, &words).into_iter();
    runs.filter_map(|run| read_number(text, &words, run)).collect()
}

/// Returns all values that the number words of a text may have, alone and together with their neighbours. Unlike
/// [`find_spelled_numbers`], it leaves nothing out: "seven thirty-five" may be 7, 30, 35 and 5. A value may occur more
/// than once.
pub fn possible_spelled_values(text: &str) -> Vec<i64> {
    let words = read_words(text);
    let mut found = Vec::new();
    for run in find_runs(text, &words) {
        let values = values_of_words(&words[run]);
        for from in 0..values.len() {
            let ends = from + 1..=values.len();
            // Words that form no number form none with further words either.
            found.extend(ends.map_while(|end| compose_value(&values[from..end])));
        }
    }
    found
}

fn read_words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for written in split_words(text) {
        let lower = written.to_lowercase().replace('’', "'");
        let value = number_word(&lower).map(|it| it as i64);
        words.push(Word { written, lower, value });
    }
    words
}

/// Returns the runs of words that may form one number, in order.
fn find_runs(text: &str, words: &[Word<'_>]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let end = end_of_run(text, words, at);
        if end > at {
            runs.push(at..end);
        }
        at = end.max(at + 1);
    }
    runs
}

/// Returns the end of the run of number words that begins at `from`; `from` if there is none. "And" belongs to a number
/// after a hundred or a thousand.
fn end_of_run(text: &str, words: &[Word<'_>], from: usize) -> usize {
    let is_number = |at: usize| words.get(at).is_some_and(|it| it.value.is_some());
    if !is_number(from) {
        return from;
    }
    let mut end = from + 1;
    loop {
        let is_large = words[end - 1].value.is_some_and(|it| it >= 100);
        let has_and = is_large && words.get(end).is_some_and(|it| it.lower == "and") && is_close(text, words, end);
        let next = if has_and { end + 1 } else { end };
        if !is_number(next) || !is_close(text, words, next) {
            return end;
        }
        end = next + 1;
    }
}

/// Returns true if only a separator is between a word and the word before it, or the comma of "one thousand, two
/// hundred".
fn is_close(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let between = &text[end_offset_in(text, words[at - 1].written)..offset_in(text, words[at].written)];
    let has_value = |at: usize, value: i64| words.get(at).is_some_and(|it| it.value == Some(value));
    SEPARATORS.contains(&between) || between == ", " && has_value(at - 1, 1_000) && has_value(at + 1, 100)
}

/// Returns the number of a run of words. Returns `None` if its value is not clear.
fn read_number<'a>(text: &'a str, words: &[Word<'a>], run: Range<usize>) -> Option<SpelledNumber<'a>> {
    let values = values_of_words(&words[run.clone()]);
    let is_definite = run.start > 0 && is_in_class(&words[run.start - 1].lower, Class::Definite);
    let is_reference = values == [1] || is_definite && values == [2];
    // The words before a hundred or a thousand may multiply it: "several hundred".
    let may_be_multiplied = values.first().is_some_and(|it| *it >= 100);
    if is_reference || may_be_multiplied || is_part_of_amount(&words[run.end..]) {
        return None;
    }
    let start = offset_in(text, words[run.start].written);
    let end = end_offset_in(text, words[run.end - 1].written);
    Some(SpelledNumber {
        words: &text[start..end],
        value: compose_value(&values)?,
        is_definite,
    })
}

/// Returns true if the words after a number change its value.
fn is_part_of_amount(after: &[Word<'_>]) -> bool {
    let is_fraction = |it: &Word<'_>| is_in_class(&it.lower, Class::Fraction);
    let Some(next) = after.first() else {
        return false;
    };
    let adds_fraction = next.lower == "and" && after.iter().take(FRACTION_WORDS).any(is_fraction);
    adds_fraction || is_fraction(next) || is_in_class(&next.lower, Class::Multiplier)
}

fn values_of_words(words: &[Word<'_>]) -> Vec<i64> {
    words.iter().filter_map(|it| it.value).collect()
}

/// Returns the value of a number by the values of its words, at least one. A hundred or a thousand at the beginning is
/// one of them. Returns `None` if the words form no number.
fn compose_value(values: &[i64]) -> Option<i64> {
    if values.len() > 1 && values.contains(&0) {
        return None;
    }
    let (mut thousands, mut rest) = (0_i64, 0_i64);
    for &value in values {
        match value {
            1_000 if thousands == 0 => (thousands, rest) = (rest.max(1) * 1_000, 0),
            100 if thousands == 0 && rest == 0 => rest = 100,
            100 if (1..100).contains(&rest) => rest *= 100,
            1..10 if rest >= 20 && rest % 10 == 0 && rest % 100 != 10 => rest += value,
            10..100 if rest >= 100 && rest % 100 == 0 => rest += value,
            0..100 if rest == 0 => rest = value,
            _ => return None,
        }
    }
    Some(thousands + rest)
}

fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn end_offset_in(text: &str, part: &str) -> usize {
    offset_in(text, part) + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_have_one_value() {
        for (text, expected) in [
            ("Ann has three dogs.", &[("three", 3)][..]),
            ("twenty-five, or Thirty six", &[("twenty-five", 25), ("Thirty six", 36)]),
            (
                "twenty\u{2011}five or\ntwo hundred\nbees",
                &[("twenty\u{2011}five", 25), ("two hundred", 200)],
            ),
            ("two hundred and five euros", &[("two hundred and five", 205)]),
            ("four thousand one hundred", &[("four thousand one hundred", 4_100)]),
            ("four thousand, one hundred", &[("four thousand, one hundred", 4_100)]),
            ("four thousand, two of them", &[("four thousand", 4_000), ("two", 2)]),
            (
                "three thousand four hundred seventeen",
                &[("three thousand four hundred seventeen", 3_417)],
            ),
            (
                "fifteen hundred and the ten of them",
                &[("fifteen hundred", 1_500), ("ten", 10)],
            ),
            ("two, three, or one", &[("two", 2), ("three", 3)]),
            ("twenty-one", &[("twenty-one", 21)]),
            ("zero", &[("zero", 0)]),
            ("her two dogs", &[("two", 2)]),
        ] {
            let found: Vec<(&str, i64)> = find_spelled_numbers(text)
                .iter()
                .map(|it| (it.words, it.value))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn words_without_a_clear_value_are_no_numbers() {
        for text in [
            "one of them",
            "the two of them",
            "a second dog, a couple of cats",
            "several hundred",
            "a hundred and nobody",
            "a thousand thanks",
            "two million",
            "two dozen",
            "two and a half",
            "two thirds",
            "seven o'clock",
            "seven o’clock",
            "fifty-fifty",
            "seven thirty",
            "twenty-four seven",
            "zero two five",
            "often",
        ] {
            let found = find_spelled_numbers(text);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_number_after_a_definite_word_is_definite() {
        let definite: Vec<bool> = find_spelled_numbers("The three of five, those four")
            .iter()
            .map(|it| it.is_definite)
            .collect();
        assert_eq!(definite, [true, false, true]);
    }

    #[test]
    fn number_words_may_have_several_values() {
        for (text, expected) in [
            ("Ann has one of the two dogs.", &[1_i64, 2][..]),
            ("two, three, or one", &[2, 3, 1]),
            ("twenty-five", &[20, 25, 5]),
            ("a hundred and nobody", &[100]),
            ("a hundred and fifty euros", &[100, 150, 50]),
            ("several hundred thousand", &[100, 100_000, 1_000]),
            ("seven thirty-five", &[7, 30, 35, 5]),
            ("zero two", &[0, 2]),
            ("two million", &[2]),
            ("often", &[]),
        ] {
            assert_eq!(possible_spelled_values(text), expected, "{text}");
        }
    }
}
