//! Everyday topics that words suggest: pottery answers a question about hobbies, a kitten answers a question about
//! pets.
//!
//! The table `data/en/frames.tsv` was made for this repository; each row is a topic, with its name first. English.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, data_file};
use crate::{split_words, stem_word};

static TABLE: LazyLock<HashMap<String, Vec<Phrase>>> =
    LazyLock::new(|| data_files::expect_valid_table(read_topics(FILE)));

const FILE: File = data_file!("en/frames.tsv");

/// Reads the topics and returns their phrases by the first stem of the phrase; fails if a topic occurs twice.
fn read_topics(file: File) -> Result<HashMap<String, Vec<Phrase>>, String> {
    let mut table: HashMap<String, Vec<Phrase>> = HashMap::new();
    let mut names = HashMap::new();
    for (frame, row) in data_files::read_rows(file, 2)?.into_iter().enumerate() {
        data_files::insert_unique(&mut names, row.cells[0], (), &row)?;
        if frame >= u128::BITS as usize {
            return Err(row.locate_error("there are more topics than bits in a set of topics"));
        }
        for phrase in row.cells[1].split(' ') {
            let mut stems = stem_all_words(&phrase.replace('_', " ")).into_iter();
            if let Some(first) = stems.next() {
                let rest = stems.collect();
                table.entry(first).or_default().push(Phrase { rest, frame });
            }
        }
    }
    Ok(table)
}

/// The stems after the first one of a phrase, and the topic that the phrase suggests.
struct Phrase {
    rest: Vec<String>,
    frame: usize,
}

/// A set of topics, by their rows in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames(u128);

impl Frames {
    /// Returns the topics that the words of a text suggest.
    pub fn from_text(text: &str) -> Frames {
        let stems = stem_all_words(text);
        let mut found = Frames::default();
        for (at, first) in stems.iter().enumerate() {
            for phrase in TABLE.get(first).into_iter().flatten() {
                if stems[at + 1..].starts_with(&phrase.rest) {
                    found.0 |= 1 << phrase.frame;
                }
            }
        }
        found
    }

    /// Returns the set as a number with one bit for each row of the table.
    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// Returns the set that [`Self::to_bits`] returned as a number.
    pub fn of_bits(bits: u128) -> Frames {
        Frames(bits)
    }

    /// Returns true if the set has this topic.
    pub fn has_topic(self, frame: u32) -> bool {
        self.0 >> frame & 1 == 1
    }

    /// Returns the topics of the set in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u128::BITS).filter(move |it| self.has_topic(*it))
    }
}

fn stem_all_words(text: &str) -> Vec<String> {
    split_words(text).into_iter().map(stem_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic_names(text: &str) -> Vec<&'static str> {
        let rows = data_files::read_rows(FILE, 2).unwrap();
        let name = |it: u32| rows[it as usize].cells[0];
        Frames::from_text(text).iter().map(name).collect()
    }

    #[test]
    fn words_and_phrases_suggest_topics() {
        assert_eq!(topic_names("Which pets does she have?"), ["animals"]);
        assert!(topic_names("We got a kitten").contains(&"animals"));
        assert!(topic_names("We played a board game").contains(&"games"));
        assert_eq!(topic_names("She hung out there"), ["friends"]);
        assert_eq!(topic_names("Nothing of it"), [""; 0]);
        assert_eq!(topic_names("子猫を飼った"), [""; 0]);
    }

    #[test]
    fn each_topic_occurs_once_in_the_table() {
        let file = |text| File { path: "x.tsv", text };
        assert_eq!(read_topics(file("pets\tdog cat\ngames\tchess\n")).unwrap().len(), 3);
        let fault = read_topics(file("pets\tdog\npets\tcat\n")).err();
        assert_eq!(fault.as_deref(), Some("x.tsv:2: \"pets\" is there already"));
    }
}
