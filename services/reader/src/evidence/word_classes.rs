//! Word classes of English by list, enough to separate figures from the words around them.

use text::lexicon::contractions::is_bare_negation;
use text::lexicon::word_lists::WordList;

use crate::word_lists;

/// Class of a word, as far as figures need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Articles, possessives, demonstratives.
    Determiner,
    /// Forms of be, have and do, the modal verbs, and contractions.
    Auxiliary,
    /// Prepositions, and words that join phrases or open clauses.
    Linking,
    /// Adverbs and fillers.
    Filler,
    /// Numbers in digits or words.
    Number,
    /// All other words.
    Content,
}

/// Returns the class of a word in lower case.
pub(crate) fn classify_word(lower: &str) -> Class {
    let contracted = matches!(lower, "it's" | "that's" | "he's" | "she's" | "there's");
    if contracted || lower.contains('\'') && !lower.ends_with("'s") || is_bare_negation(lower) {
        Class::Auxiliary
    } else if parse_number(lower).is_some() {
        Class::Number
    } else if is_in_list(&word_lists::DETERMINERS, lower) {
        Class::Determiner
    } else if is_in_list(&word_lists::AUXILIARIES, lower) || text::is_auxiliary(lower) {
        Class::Auxiliary
    } else if is_in_list(&word_lists::LINKING, lower) {
        Class::Linking
    } else if is_in_list(&word_lists::FILLERS, lower) {
        Class::Filler
    } else {
        Class::Content
    }
}

/// Returns the value of a number in digits or one word.
pub(crate) fn parse_number(lower: &str) -> Option<f32> {
    if lower.starts_with(|c: char| c.is_ascii_digit()) {
        let digits: String = lower.chars().filter(|it| it.is_ascii_digit() || *it == '.').collect();
        return digits.parse().ok();
    }
    text::number_word(lower).or(match lower {
        "once" => Some(1.0),
        "twice" | "couple" => Some(2.0),
        "dozen" => Some(12.0),
        _ => None,
    })
}

/// Returns true if a lower-case word is a unit of time.
pub(crate) fn is_time_unit(lower: &str) -> bool {
    let base = lower.strip_suffix('s').unwrap_or(lower);
    matches!(
        base,
        "second" | "minute" | "hour" | "day" | "night" | "week" | "weekend" | "month" | "year" | "decade" | "century"
    )
}

/// Returns true if a lower-case word is a negation.
pub(crate) fn is_negation(lower: &str) -> bool {
    lower.ends_with("n't") || is_bare_negation(lower) || is_in_list(&word_lists::DENIALS, lower)
}

/// Returns true if a lower-case word means a relative or another person by role.
pub(crate) fn is_person_word(lower: &str) -> bool {
    is_in_list(&word_lists::PERSONS, lower.strip_suffix('s').unwrap_or(lower))
        || is_in_list(&word_lists::PERSONS, lower)
}

fn is_in_list(list: &WordList, word: &str) -> bool {
    list.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negation_is_recognised_with_and_without_its_apostrophe() {
        for (word, is_expected) in [
            ("don't", true),
            ("dont", true),
            ("cant", true),
            ("want", false),
            ("front", false),
        ] {
            assert_eq!(is_negation(word), is_expected, "{word}");
            assert_eq!(classify_word(word) == Class::Auxiliary, is_expected, "{word}");
        }
    }
}
