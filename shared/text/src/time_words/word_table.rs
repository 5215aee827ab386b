//! The class of a word in any language.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::time_words::foreign_words;
use crate::time_words::lexicon::{Class, ENGLISH, Trust};

pub(crate) fn class_of_word(word: &str) -> Class {
    WORDS.get(word).copied().unwrap_or(Class::Other)
}

/// Returns true if a word in lower case is the name of a month in a supported language, and not also a common word.
pub(crate) fn is_month(word: &str) -> bool {
    matches!(class_of_word(word), Class::Month(_, Trust::Plain | Trust::Name))
}

static WORDS: LazyLock<HashMap<&'static str, Class>> = LazyLock::new(|| {
    let mut words = foreign_words::WORLD.classes.clone();
    words.extend(&ENGLISH.classes);
    words
});
