//! Classes of words: `data/LANGUAGE/lexicon.tsv` has one row for each word, with the classes that it belongs to. Rules
//! use these classes and have no word lists of their own, so that a word is added or removed in one place.
//!
//! A lookup reads one table, whatever the number of classes. All words are in lower case with straight apostrophes. An
//! entry of several words has single spaces between them and is found only as a whole.

mod class;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::data::{self, File, data_file};

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

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| data::sound(read(FILES)));

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
const WORDS: usize = 4;

impl Classes {
    /// Returns true if the set has `class`.
    pub const fn has(self, class: Class) -> bool {
        self.0[class as usize / 64] >> (class as usize % 64) & 1 == 1
    }

    const fn add(&mut self, class: Class) {
        self.0[class as usize / 64] |= 1 << (class as usize % 64);
    }
}

/// Returns the classes of a word in lower case; the empty set for a word that is in no file.
pub fn classes(word: &str) -> Classes {
    LEXICON.classes.get(word).copied().unwrap_or_default()
}

/// Returns true if a word in lower case belongs to `class`.
pub fn is(word: &str, class: Class) -> bool {
    classes(word).has(class)
}

/// Returns true if a word in lower case is a finite auxiliary verb.
pub fn is_auxiliary(lower: &str) -> bool {
    is(lower, Class::Auxiliary)
}

/// Returns the words of a class in the order of the files; within a language they are sorted by bytes.
pub fn words(class: Class) -> &'static [&'static str] {
    &LEXICON.words[class as usize]
}

/// Reads files of words and their classes. Each word must occur once in its file, and the words must be sorted by
/// bytes.
fn read(files: &[File]) -> Result<Lexicon, String> {
    let named: HashMap<&str, Class> = class::ALL.iter().copied().collect();
    let mut lexicon = Lexicon {
        classes: HashMap::new(),
        words: vec![Vec::new(); class::ALL.len()],
    };
    for file in files {
        let mut last = "";
        for row in data::rows(*file, 2)? {
            let word = row.cells[0];
            if word <= last {
                return Err(row.fault(&format!("\"{word}\" belongs before \"{last}\", or is there twice")));
            }
            last = word;
            let known = lexicon.classes.entry(word).or_default();
            let mut own = Classes::default();
            for name in row.cells[1].split(' ') {
                let class = named.get(name).copied();
                let class = class.ok_or_else(|| row.fault(&format!("\"{name}\" is no class")))?;
                if own.has(class) {
                    return Err(row.fault(&format!("\"{name}\" is there twice")));
                }
                own.add(class);
                // A word of two languages may belong to a class in both.
                if !known.has(class) {
                    known.add(class);
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
            assert!(!words(*class).is_empty(), "{name}");
            for word in words(*class) {
                assert!(is(word, *class), "{name}: {word}");
                assert_eq!(word.to_lowercase().replace('’', "'"), *word, "{name}");
            }
        }
        assert!(class::ALL.len() <= 64 * WORDS);
        assert!(is("would", Class::Auxiliary) && !is("table", Class::Auxiliary));
        assert_eq!(classes("no word of any language"), Classes::default());
    }

    #[test]
    fn files_with_errors_are_refused() {
        let lexicon = |text| {
            read(&[File {
                path: "xx/lexicon.tsv",
                text,
            }])
        };
        let sound = lexicon("can\tauxiliary stop\nwill\tauxiliary\n").unwrap();
        assert_eq!(sound.words[Class::Auxiliary as usize], ["can", "will"]);
        for (text, fault) in [
            ("can\tno-class\n", "xx/lexicon.tsv:1: \"no-class\" is no class"),
            ("can\tstop stop\n", "xx/lexicon.tsv:1: \"stop\" is there twice"),
            (
                "can\tstop\ncan\tauxiliary\n",
                "xx/lexicon.tsv:2: \"can\" belongs before \"can\", or is there twice",
            ),
            (
                "will\tstop\ncan\tstop\n",
                "xx/lexicon.tsv:2: \"can\" belongs before \"will\", or is there twice",
            ),
        ] {
            assert_eq!(lexicon(text).err().as_deref(), Some(fault), "{text:?}");
        }
    }
}
