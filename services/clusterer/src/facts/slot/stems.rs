//! Converts values to sets of stems for comparison.

use std::collections::BTreeSet;

use super::TimelessStatement;
use crate::word_lists::{FREQUENCY_STEMS, WORDS_AFTER_MAIN_NOUN};

/// Returns the stems of an object, or its words if all of them are function words.
pub(super) fn stems_or_words(object: &str) -> BTreeSet<String> {
    let all = text::stem_words(object);
    if all.is_empty() {
        return object.split_whitespace().map(str::to_lowercase).collect();
    }
    all.into_iter().collect()
}

/// Returns the stems of an object without the times that it names.
pub(super) fn stems_without_times(statement: &TimelessStatement<'_>) -> BTreeSet<String> {
    let mut rest = String::new();
    let mut from = 0;
    for mention in text::time::find_times(statement.object, statement.at) {
        rest.push_str(statement.object.get(from..mention.range.start).unwrap_or_default());
        rest.push(' ');
        from = mention.range.end;
    }
    rest.push_str(statement.object.get(from..).unwrap_or_default());
    let mut stems: BTreeSet<String> = text::stem_words(&rest).into_iter().collect();
    stems.retain(|it| !is_often(it));
    stems
}

/// Returns the stems of the words that begin with a capital or a digit, such as names of places.
pub(super) fn stems_of_capitalised_words(object: &str) -> BTreeSet<String> {
    object
        .split_whitespace()
        .map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|it| {
            it.chars()
                .next()
                .is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
        })
        .map(text::stem_word)
        .collect()
}

/// Returns the stem of the main noun of an object: "cat" for "an old cat called Ruth".
pub(super) fn stem_of_main_noun(object: &str) -> String {
    let mut last = "";
    for word in object.split_whitespace() {
        let bare = word.trim_matches(|it: char| !it.is_alphanumeric());
        if !last.is_empty() && WORDS_AFTER_MAIN_NOUN.contains(bare) {
            break;
        }
        last = bare;
        if word.ends_with([',', ';', '(']) {
            break;
        }
    }
    text::stem_word(last)
}

/// Returns the stems of a predicate without its negation.
pub(super) fn stems_without_negation(predicate: &str) -> String {
    let words: Vec<&str> = predicate
        .split(' ')
        .filter(|it| !matches!(*it, "not" | "does"))
        .collect();
    words.iter().map(|it| text::stem_word(it)).collect::<Vec<_>>().join(" ")
}

/// Returns true if a stem says when or how often something happens.
fn is_often(stem: &str) -> bool {
    FREQUENCY_STEMS.contains(stem)
        || text::time::words::SEASONS.contains(&stem)
        || text::time::words::is_date_stem(stem)
}
