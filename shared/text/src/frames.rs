//! Matters of everyday life that words bring to mind: who asks for hobbies is answered by pottery, who asks for pets by a
//! kitten. A table of this repository's own, `data/en/frames.tsv`: a row a matter, its name first. English.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::data::{self, File, data_file};
use crate::{stem, words};

static TABLE: LazyLock<HashMap<String, Vec<Phrase>>> = LazyLock::new(|| data::sound(read(FILE)));

const FILE: File = data_file!("en/frames.tsv");

/// Reads the matters, each once, and the phrases of each by their first stem.
fn read(file: File) -> Result<HashMap<String, Vec<Phrase>>, String> {
    let mut table: HashMap<String, Vec<Phrase>> = HashMap::new();
    let mut names = HashMap::new();
    for (frame, row) in data::rows(file, 2)?.into_iter().enumerate() {
        data::insert(&mut names, row.cells[0], (), &row)?;
        if frame >= u128::BITS as usize {
            return Err(row.fault("a set of matters has no more bits"));
        }
        for phrase in row.cells[1].split(' ') {
            let mut stems = stems(&phrase.replace('_', " ")).into_iter();
            if let Some(first) = stems.next() {
                let rest = stems.collect();
                table.entry(first).or_default().push(Phrase { rest, frame });
            }
        }
    }
    Ok(table)
}

/// What follows the first word of a phrase, by stem, and the matter it brings to mind.
struct Phrase {
    rest: Vec<String>,
    frame: usize,
}

/// A set of matters, by their rows in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames(u128);

impl Frames {
    /// Returns the matters that the words of a text bring to mind.
    pub fn of(text: &str) -> Frames {
        let stems = stems(text);
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

    /// Returns the set as a number, a bit a row of the table.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// Returns the set of such a number.
    pub fn of_bits(bits: u128) -> Frames {
        Frames(bits)
    }

    /// Says whether a matter is among them.
    pub fn has(self, frame: u32) -> bool {
        self.0 >> frame & 1 == 1
    }

    /// Returns the matters in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u128::BITS).filter(move |it| self.has(*it))
    }
}

fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let rows = data::rows(FILE, 2).unwrap();
        let name = |it: u32| rows[it as usize].cells[0];
        Frames::of(text).iter().map(name).collect()
    }

    #[test]
    fn words_and_phrases_bring_matters_to_mind() {
        assert_eq!(names("Which pets does she have?"), ["animals"]);
        assert!(names("We got a kitten").contains(&"animals"));
        assert!(names("We played a board game").contains(&"games"));
        assert_eq!(names("She hung out there"), ["friends"]);
        assert_eq!(names("Nothing of it"), [""; 0]);
        assert_eq!(names("子猫を飼った"), [""; 0]);
    }

    #[test]
    fn a_matter_is_there_once() {
        let file = |text| File { path: "x.tsv", text };
        assert_eq!(read(file("pets\tdog cat\ngames\tchess\n")).unwrap().len(), 3);
        let fault = read(file("pets\tdog\npets\tcat\n")).err();
        assert_eq!(fault.as_deref(), Some("x.tsv:2: \"pets\" is there already"));
    }
}
