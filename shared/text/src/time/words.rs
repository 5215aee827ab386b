//! English names of months, weekdays and seasons in lower case, for lists of words that are no topics.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The months, in order.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// The days of the week, in order.
pub const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
/// The seasons, in order; "fall" is left out because it is too common as a verb.
pub const SEASONS: [&str; 4] = ["spring", "summer", "autumn", "winter"];

static STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| MONTHS.iter().chain(&WEEKDAYS).map(|it| crate::stem_word(it)).collect());

/// Returns true if a word in lower case is the name of a month, a weekday or a season.
pub fn is_named(word: &str) -> bool {
    is_date(word) || SEASONS.contains(&word)
}

/// Returns true if a word in lower case is the name of a month or a weekday.
pub fn is_date(word: &str) -> bool {
    MONTHS.contains(&word) || WEEKDAYS.contains(&word)
}

/// Returns true if a stem is that of a month or a weekday.
pub fn is_date_stem(stem: &str) -> bool {
    STEMS.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_by_word_and_by_stem() {
        assert!(is_named("winter") && is_named("may") && is_named("sunday"));
        assert!(!is_named("fall") && !is_date("winter"));
        assert!(is_date_stem(&crate::stem_word("January")) && !is_date_stem(&crate::stem_word("winter")));
    }
}
