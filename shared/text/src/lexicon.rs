//! Classes of words: `data/LANGUAGE/lexicon.tsv` has one row for each word, with the classes that it belongs to. Rules
//! use these classes instead of separate word lists, so that a word is added or removed in one place.
//!
//! A lookup reads one table, whatever the number of classes. All words are in lower case with straight apostrophes. An
//! entry of several words has single spaces between them and is found only as a whole.

mod class;
pub mod contractions;
pub mod data_files;
pub mod kin;
pub(crate) mod verbs;
pub mod word_lists;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{File, data_file};

pub use class::Class;

const FILES: &[File] = &[
    data_file!("en/lexicon.tsv"),
    data_file!("de/lexicon.tsv"),
    data_file!("es/lexicon.tsv"),
    data_file!("fr/lexicon.tsv"),
    data_file!("it/lexicon.tsv"),
    data_file!("nl/lexicon.tsv"),
    data_file!("pt/lexicon.tsv"),
];

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| data_files::expect_valid_table(read_word_classes(FILES)));

#[derive(Debug)]
struct Lexicon {
    classes: HashMap<&'static str, Classes>,
    /// The words of each class, by the number of the class.
    words: Vec<Vec<&'static str>>,
}

/// The set of classes that a word belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes([u64; WORDS]);

/// Number of 64-bit words in a set of classes.
const WORDS: usize = 5;

impl Classes {
    /// Returns true if the set has `class`.
    pub const fn has_class(self, class: Class) -> bool {
        self.0[class as usize / 64] >> (class as usize % 64) & 1 == 1
    }

    const fn add_class(&mut self, class: Class) {
        self.0[class as usize / 64] |= 1 << (class as usize % 64);
    }
}

/// Returns the classes of a word in lower case; the empty set for a word that is in no file.
pub fn classes_of_word(word: &str) -> Classes {
    LEXICON.classes.get(word).copied().unwrap_or_default()
}

/// Returns true if a word in lower case belongs to `class`.
pub fn is_in_class(word: &str, class: Class) -> bool {
    classes_of_word(word).has_class(class)
}

/// Returns true if a word in lower case is a finite auxiliary verb.
pub fn is_auxiliary(lower: &str) -> bool {
    is_in_class(lower, Class::Auxiliary)
}

/// Returns the words of a class in the order of the files; within a language they are sorted by bytes.
pub fn words_of_class(class: Class) -> &'static [&'static str] {
    &LEXICON.words[class as usize]
}

/// Reads files of words and their classes. Each word must occur once in its file, and the words must be sorted by
/// bytes.
fn read_word_classes(files: &[File]) -> Result<Lexicon, String> {
    let classes_by_name: HashMap<&str, Class> = class::ALL.iter().copied().collect();
    let mut lexicon = Lexicon {
        classes: HashMap::new(),
        words: vec![Vec::new(); class::ALL.len()],
    };
    for file in files {
        let mut last = "";
        for row in data_files::read_rows(*file, 2)? {
            let word = row.cells[0];
            if word <= last {
                return Err(row.locate_error(&format!("\"{word}\" belongs before \"{last}\", or occurs twice")));
            }
            last = word;
            let known = lexicon.classes.entry(word).or_default();
            let mut own = Classes::default();
            for name in row.cells[1].split(' ') {
                let class = classes_by_name.get(name).copied();
                let class = class.ok_or_else(|| row.locate_error(&format!("\"{name}\" is not a class")))?;
                if own.has_class(class) {
                    return Err(row.locate_error(&format!("\"{name}\" is there twice")));
                }
                own.add_class(class);
                // A word of two languages may belong to a class in both.
                if !known.has_class(class) {
                    known.add_class(class);
                    lexicon.words[class as usize].push(word);
                }
            }
        }
    }
    Ok(lexicon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_words_and_every_word_is_in_lower_case() {
        for (name, class) in class::ALL {
            assert!(!words_of_class(*class).is_empty(), "{name}");
            for word in words_of_class(*class) {
                assert!(is_in_class(word, *class), "{name}: {word}");
                assert_eq!(word.to_lowercase().replace('’', "'"), *word, "{name}");
            }
        }
        assert!(class::ALL.len() <= 64 * WORDS);
        assert!(is_in_class("would", Class::Auxiliary) && !is_in_class("table", Class::Auxiliary));
        assert_eq!(classes_of_word("no word of any language"), Classes::default());
    }

    #[test]
    fn files_with_errors_are_refused() {
        let lexicon = |text| {
            read_word_classes(&[File {
                path: "xx/lexicon.tsv",
                text,
            }])
        };
        let sound = lexicon("can\tauxiliary stop\nwill\tauxiliary\n").unwrap();
        assert_eq!(sound.words[Class::Auxiliary as usize], ["can", "will"]);
        for (text, fault) in [
            ("can\tno-class\n", "xx/lexicon.tsv:1: \"no-class\" is not a class"),
            ("can\tstop stop\n", "xx/lexicon.tsv:1: \"stop\" is there twice"),
            (
                "can\tstop\ncan\tauxiliary\n",
                "xx/lexicon.tsv:2: \"can\" belongs before \"can\", or occurs twice",
            ),
            (
                "will\tstop\ncan\tstop\n",
                "xx/lexicon.tsv:2: \"can\" belongs before \"will\", or occurs twice",
            ),
        ] {
            assert_eq!(lexicon(text).err().as_deref(), Some(fault), "{text:?}");
        }
    }
}
