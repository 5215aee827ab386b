//! Matters of everyday life that words bring to mind: who asks for hobbies is answered by pottery, who asks for pets by a
//! kitten. A table of this repository's own, `data/frames.tsv`: a row a matter, its name first. English.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{stem, words};

static ROWS: &str = include_str!("../data/frames.tsv");
static TABLE: LazyLock<HashMap<String, Vec<Phrase>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Phrase>> = HashMap::new();
    for (frame, row) in ROWS.lines().enumerate() {
        for phrase in row.split('\t').nth(1).into_iter().flat_map(str::split_whitespace) {
            let mut stems = stems(&phrase.replace('_', " ")).into_iter();
            if let Some(first) = stems.next() {
                let rest = stems.collect();
                table.entry(first).or_default().push(Phrase { rest, frame });
            }
        }
    }
    table
});

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
        let rows: Vec<&str> = ROWS.lines().collect();
        let name = |it: u32| rows[it as usize].split('\t').next().unwrap_or_default();
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
    fn rows_are_well_formed() {
        let mut seen = std::collections::BTreeSet::new();
        for row in ROWS.lines() {
            let (name, phrases) = row.split_once('\t').unwrap_or_default();
            assert!(seen.insert(name) && !name.is_empty(), "{row}");
            assert!(phrases.split_whitespace().count() > 5, "{row}");
        }
        assert!(seen.len() <= u128::BITS as usize);
    }
}
