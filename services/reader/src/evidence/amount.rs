//! Amounts: the words and signs next to a figure that make it a sum of money or a measure.

use crate::evidence::word_classes::parse_number;
use crate::word_lists::{CURRENCIES, CURRENCY_CODES, UNITS, WEIGHT_UNITS};

/// Returns true if `text` contains a sum of money: a sign of a currency, or a figure next to the name of a currency.
pub(crate) fn contains_money(text: &str) -> bool {
    if text.contains(SIGNS) {
        return true;
    }
    let words: Vec<String> = text::split_words(text).into_iter().map(str::to_lowercase).collect();
    words
        .windows(2)
        .any(|it| (is_number(&it[0]) && is_currency(&it[1])) || (is_currency_code(&it[0]) && is_number(&it[1])))
}

/// Returns true if `text` contains a weight: a figure followed by a unit of weight.
pub(crate) fn contains_mass(text: &str) -> bool {
    let words: Vec<String> = text::split_words(text).into_iter().map(str::to_lowercase).collect();
    let measure = |it: &String| WEIGHT_UNITS.contains(it.strip_suffix('s').unwrap_or(it));
    words.windows(2).any(|it| is_number(&it[0]) && measure(&it[1]))
}

fn is_number(lower: &str) -> bool {
    parse_number(lower).is_some()
}

/// Returns the byte offset of the currency sign before a figure that starts at `start`, if there is one.
pub(crate) fn sign_before(text: &str, start: usize) -> Option<usize> {
    let before = text[..start].trim_end_matches(' ');
    let sign = before.chars().next_back().filter(|it| SIGNS.contains(it))?;
    Some(before.len() - sign.len_utf8())
}

/// Returns the byte offset of the end of the currency, percent or degree sign after a figure that ends at `end`, and
/// whether the sign is a currency. Returns `None` without such a sign.
pub(crate) fn sign_after(text: &str, end: usize) -> Option<(usize, bool)> {
    let rest = &text[end..];
    let gap = rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
    let sign = rest[gap..].chars().next()?;
    let money = SIGNS.contains(&sign);
    (money || matches!(sign, '%' | '°' | '‰')).then_some((end + gap + sign.len_utf8(), money))
}

const SIGNS: &[char] = &[
    '$', '€', '£', '¥', '₹', '₦', '₩', '₪', '₺', '₴', '฿', '₱', '₽', '₫', '元', '円',
];

/// Returns true if a lower-case word names a currency.
pub(crate) fn is_currency(lower: &str) -> bool {
    CURRENCIES.contains(lower.strip_suffix('s').unwrap_or(lower)) || is_currency_code(lower)
}

/// Returns true if a lower-case word is a currency code.
pub(crate) fn is_currency_code(lower: &str) -> bool {
    CURRENCY_CODES.contains(lower)
}

/// Returns true if a lower-case word is a unit of measure.
pub(crate) fn is_unit(lower: &str) -> bool {
    UNITS.contains(lower.strip_suffix('s').unwrap_or(lower)) || UNITS.contains(lower)
}
