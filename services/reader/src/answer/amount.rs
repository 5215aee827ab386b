//! Amounts: what follows a figure, or stands before it, and makes it money or a measure.

use crate::lists;

/// Says whether `text` speaks of a sum of money: a figure beside a sign or name of a currency.
pub(crate) fn money(text: &str) -> bool {
    if text.contains(SIGNS) {
        return true;
    }
    let words: Vec<String> = text::words(text).into_iter().map(str::to_lowercase).collect();
    words
        .windows(2)
        .any(|it| (counts(&it[0]) && currency(&it[1])) || (code(&it[0]) && counts(&it[1])))
}

/// Says whether `text` names a weight: a figure beside a measure of it.
pub(crate) fn mass(text: &str) -> bool {
    let words: Vec<String> = text::words(text).into_iter().map(str::to_lowercase).collect();
    let measures = ["kg", "kilo", "kilogram", "pound", "lb", "stone", "gram", "ton", "tonne"];
    let measure = |it: &String| measures.contains(&it.strip_suffix('s').unwrap_or(it));
    words.windows(2).any(|it| counts(&it[0]) && measure(&it[1]))
}

fn counts(lower: &str) -> bool {
    super::lexis::number(lower).is_some()
}

/// Returns the bytes from which a figure at `start` may begin with the sign of a currency before it.
pub(crate) fn sign_before(text: &str, start: usize) -> Option<usize> {
    let before = text[..start].trim_end_matches(' ');
    let sign = before.chars().next_back().filter(|it| SIGNS.contains(it))?;
    Some(before.len() - sign.len_utf8())
}

/// Returns where a figure that ends at `end` stops with the sign of a currency, a share or a degree after it.
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

/// Says whether a lower-case word is a currency.
pub(crate) fn currency(lower: &str) -> bool {
    lists::CURRENCIES.contains(lower.strip_suffix('s').unwrap_or(lower)) || code(lower)
}

/// Says whether a lower-case word is the code of a currency.
pub(crate) fn code(lower: &str) -> bool {
    lists::CURRENCY_CODES.contains(lower)
}

/// Says whether a lower-case word is a measure.
pub(crate) fn unit(lower: &str) -> bool {
    lists::UNITS.contains(lower.strip_suffix('s').unwrap_or(lower)) || lists::UNITS.contains(lower)
}
