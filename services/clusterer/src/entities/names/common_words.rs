//! Words that are both names and common words, and words that indicate a person.

use crate::word_lists::{COMMON_NAMES, WORDS_AFTER_PERSON, WORDS_BEFORE_PERSON};

/// Returns true if a lower-case word is hardly ever a name.
pub(crate) fn is_common(word: &str) -> bool {
    text::is_stop(word) || COMMON_NAMES.contains(word)
}

/// Returns true if a word before a name indicates a person.
pub(crate) fn opens_person(word: &str) -> bool {
    WORDS_BEFORE_PERSON.contains(word) || text::lexicon::kin::find_relation(word).is_some_and(|it| it.person)
}

/// Returns true if a word after a name indicates a person.
pub(crate) fn closes_person(word: &str) -> bool {
    WORDS_AFTER_PERSON.contains(word)
}
