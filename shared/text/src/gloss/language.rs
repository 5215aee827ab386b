//! Detects the language of a text by the words of the tables.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::PHRASES;
use crate::is_stop;
use crate::lexicon::{Class, is_in_class};

/// The words of the phrases of all languages.
static WORDS: LazyLock<HashMap<&str, WordLanguages>> = LazyLock::new(|| {
    let mut languages_of_words: HashMap<&str, WordLanguages> = HashMap::new();
    for (column, phrases) in PHRASES.iter().enumerate().take(LANGUAGES_MAX) {
        for word in phrases.keys().flat_map(|it| it.split(' ')) {
            languages_of_words.entry(word).or_default().columns[column] = 1;
        }
    }
    for (word, it) in &mut languages_of_words {
        it.tells = word.len() > 1 && !is_stop(word) && !is_in_class(word, Class::EnglishToo);
    }
    languages_of_words
});

/// Largest number of languages in the table.
pub(super) const LANGUAGES_MAX: usize = 16;

/// The languages in whose phrases a word occurs.
#[derive(Clone, Copy, Debug, Default)]
struct WordLanguages {
    /// One element for each language: 1 if it has the word, otherwise 0.
    columns: [u16; LANGUAGES_MAX],
    /// True if the word identifies a language: it is no English word, no name and no single letter.
    tells: bool,
}

/// Number of words at the start of a text that are examined.
const EXAMINED_WORDS: usize = 200;

/// Returns the index of the language of a text, whose words are given; `None` for English and for unknown languages.
pub(super) fn detect_language(text: &str, words: &[Range<usize>]) -> Option<usize> {
    let first_words = || {
        words
            .iter()
            .take(EXAMINED_WORDS)
            .map(|it| to_lowercase_cow(&text[it.clone()]))
    };
    let (mut hits, mut telling_hits) = ([0; LANGUAGES_MAX], [0; LANGUAGES_MAX]);
    for word_languages in first_words().filter_map(|it| WORDS.get(it.as_ref())) {
        let add = |sums: &mut [u16; LANGUAGES_MAX]| {
            sums.iter_mut()
                .zip(word_languages.columns)
                .for_each(|(sum, it)| *sum += it)
        };
        add(&mut hits);
        if word_languages.tells {
            add(&mut telling_hits);
        }
    }
    let (column, most) = (0..LANGUAGES_MAX)
        .map(|it| (it, telling_hits[it]))
        .max_by_key(|it| (it.1, hits[it.0], std::cmp::Reverse(it.0)))?;
    if most == 0 {
        return None;
    }
    let of_it = |it: &str| WORDS.get(it).is_some_and(|it| it.columns[column] > 0);
    let english = first_words().filter(|it| is_stop(it) && !of_it(it)).count();
    // Japanese uses Chinese characters as well.
    let kana = || text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
    (usize::from(most) > english && !kana()).then_some(column)
}

pub(super) fn to_lowercase_cow(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|it| it.is_ascii_lowercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}
