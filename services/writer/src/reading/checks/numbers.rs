//! Extracts the numbers in a text in a canonical form, so that they can be compared.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::units::pattern::compile_pattern;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"[0-9]+(?:[.,:/’'-][0-9]+)*"));
static THOUSANDS: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^[0-9]{1,3}(?:([.,’'])[0-9]{3})(?:[.,’'][0-9]{3})*$"));
static DECIMAL_DIGIT: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"^\p{Nd}$"));

/// Returns the numbers written in digits, in canonical form: without leading zeros and thousands separators, and with
/// a decimal point instead of a comma. Dates, ranges and versions stay whole.
pub(crate) fn in_figures(text: &str) -> Vec<String> {
    let text = with_ascii_digits(text);
    NUMBER
        .find_iter(&text)
        .map(|it| normalise_number(it.as_str()))
        .collect()
}

/// Returns all numbers with which a number of another text may be compared: those written in digits, whole and in
/// parts, and those written in words.
pub(crate) fn find_all_numbers(text: &str) -> BTreeSet<String> {
    let text = &*with_ascii_digits(text);
    let mut out = BTreeSet::new();
    for found in NUMBER.find_iter(text) {
        let number = normalise_number(found.as_str());
        if text[found.end()..].starts_with(['k', 'K']) {
            out.insert(format!("{number}000"));
        }
        out.extend(number_parts(&number));
        out.insert(number);
    }
    out.extend(in_words(text).iter().map(u32::to_string));
    out
}

/// Returns true if a number is known as a whole or, for a date, range or version, in each of its parts.
pub(crate) fn is_known(number: &str, is_part_known: &dyn Fn(&str) -> bool) -> bool {
    let parts = number_parts(number);
    let is_decimal = parts.len() == 2 && number.contains('.');
    is_part_known(number) || (parts.len() > 1 && !is_decimal && parts.iter().all(|it| is_part_known(it)))
}

/// Returns a text with the digits 0 to 9 in place of the decimal digits of other scripts.
fn with_ascii_digits(text: &str) -> Cow<'_, str> {
    match text.chars().any(|it| to_ascii_digit(it) != it) {
        true => text.chars().map(to_ascii_digit).collect::<String>().into(),
        false => text.into(),
    }
}

/// Returns the digit 0 to 9 of the same value as a decimal digit, or any other character unchanged.
fn to_ascii_digit(letter: char) -> char {
    if letter.is_ascii() || !letter.is_numeric() {
        return letter;
    }
    // Unicode has the decimal digits in runs that begin with a zero, and each run has whole tens of digits.
    let up_to_letter = (0..=u32::from(letter)).rev().map_while(char::from_u32);
    let run = up_to_letter.take_while(|it| DECIMAL_DIGIT.is_match(it.encode_utf8(&mut [0; 4])));
    let value = run.zip(0_u32..).last().map(|it| it.1 % 10);
    value.and_then(|it| char::from_digit(it, 10)).unwrap_or(letter)
}

fn normalise_number(number: &str) -> String {
    if THOUSANDS.is_match(number) {
        return number.replace(['.', ',', '\'', '’'], "");
    }
    let mut parts = number.split(',');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(integer), Some(fraction), None) if is_figures(integer) && is_figures(fraction) => {
            format!("{}.{fraction}", without_zeros(integer))
        }
        _ if is_figures(number) => without_zeros(number).to_owned(),
        _ => number.to_owned(),
    }
}

fn is_figures(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit())
}

fn without_zeros(number: &str) -> &str {
    let bare = number.trim_start_matches('0');
    if bare.is_empty() { "0" } else { bare }
}

fn number_parts(number: &str) -> Vec<String> {
    let parts = number.split(|it: char| !it.is_ascii_digit());
    parts.map(|it| without_zeros(it).to_owned()).collect()
}

/// Returns the numbers written in words: each word, and combinations like "twenty-five" and "two hundred".
fn in_words(text: &str) -> Vec<u32> {
    let lower = text.to_lowercase();
    let mut out = Vec::new();
    let mut before = None;
    for word in text::split_words(&lower) {
        let Some(value) = value_of_word(word) else {
            before = None;
            continue;
        };
        let joined = match before {
            Some(tens) if (20..100).contains(&tens) && (1..10).contains(&value) => Some(tens + value),
            Some(count) if (1..100).contains(&count) && value >= 100 => Some(count * value),
            Some(_) | None => None,
        };
        out.push(value);
        out.extend(joined);
        before = Some(joined.unwrap_or(value));
    }
    out
}

fn value_of_word(lower: &str) -> Option<u32> {
    const VALUES: [u32; 30] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 30, 40, 50, 60, 70, 80, 90, 100,
        1_000,
    ];
    let value = text::number_word(lower)?;
    VALUES.into_iter().find(|it| f64::from(*it) == f64::from(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reading::example::{derive_talk, rejection_reasons};

    fn is_number_known_in(number: &str, text: &str) -> bool {
        let all = find_all_numbers(text);
        in_figures(number)
            .iter()
            .all(|it| is_known(it, &|part| all.contains(part)))
    }

    #[test]
    fn a_number_is_known_however_it_is_written() {
        for (number, text) in [
            ("1,200", "it cost 1200 euros"),
            ("1200", "it cost 1.200 Euro"),
            ("3.5", "3,5 km"),
            ("7", "at 07"),
            ("25", "twenty-five guests"),
            ("200", "two hundred"),
            ("20,000", "20k followers"),
            ("2023-06-09", "on 9.6.2023"),
            ("10-12", "10 to 12"),
            ("1.2.3", "version 1.2.3"),
            ("4", "GPT4"),
            ("10:30", "at 10:30"),
            ("25", "٢٥ ضيفا"),
            ("25", "۲۵ مهمان"),
            ("25", "२५ मेहमान"),
            ("３.５", "3,5 km"),
            ("２０", "twenty guests"),
        ] {
            assert!(is_number_known_in(number, text), "{number}: {text}");
        }
    }

    #[test]
    fn a_different_number_is_not_known() {
        for (number, text) in [
            ("3", "two cats"),
            ("3.5", "from 3 to 5 km"),
            ("12", "1 or 2"),
            ("2023-06-09", "on 9.6.2022"),
            ("1.3", "version 1.2.3"),
            ("٩٩", "٢٥ ضيفا"),
            ("۲۶", "२५ मेहमान"),
        ] {
            assert!(!is_number_known_in(number, text), "{number}: {text}");
        }
    }

    #[test]
    fn the_numbers_of_gists_are_compared_in_all_scripts() {
        let reasons_of = |guests: &str| {
            let gist = json!({"text": format!("Ann invited {guests} guests."), "lines": [1]});
            let derived = derive_talk(&["Ann: I invited ٢٥ guests."], &json!({"gists": [gist]}));
            let reasons = rejection_reasons(&derived).into_iter().map(str::to_owned);
            reasons.collect::<Vec<String>>()
        };
        assert_eq!(reasons_of("25"), Vec::<String>::new());
        assert_eq!(reasons_of("٢٥"), Vec::<String>::new());
        assert_eq!(reasons_of("٩٩"), ["it has a number that is not in the passage"]);
    }

    #[test]
    fn only_decimal_digits_become_ascii_digits() {
        for (letter, digit) in [
            ('٠', '0'),
            ('９', '9'),
            ('𝟘', '0'),
            ('7', '7'),
            ('½', '½'),
            ('Ⅻ', 'Ⅻ'),
            ('é', 'é'),
        ] {
            assert_eq!(to_ascii_digit(letter), digit, "{letter}");
        }
    }
}
