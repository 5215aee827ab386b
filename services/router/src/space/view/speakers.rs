use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Turn;

/// A word that is used at least this often to address a speaker becomes a name of this speaker.
const CALLS: u32 = 3;

/// The speakers of a space, and their names and aliases.
#[derive(Clone, Default)]
pub struct Speakers {
    names: Vec<String>,
    called: HashMap<String, usize>,
}

impl Speakers {
    /// Reads the speakers, and how they address each other.
    pub(super) fn from_turns(turns: &[Arc<Turn>]) -> Speakers {
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for turn in turns.iter().filter(|it| !it.unit.actor.is_empty()) {
            *counts.entry(&turn.unit.actor).or_default() += 1;
        }
        let mut names: Vec<(&str, u32)> = counts.into_iter().collect();
        names.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let names: Vec<String> = names.into_iter().map(|it| it.0.to_owned()).collect();
        let called = index_names_and_aliases(&names, turns);
        Speakers { names, called }
    }

    /// Returns the index of the speaker of each turn.
    pub(super) fn of_turns(&self, turns: &[Arc<Turn>]) -> Vec<Option<u32>> {
        let numbers: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(0..).collect();
        turns.iter().map(|it| numbers.get(&*it.unit.actor).copied()).collect()
    }

    /// Returns the speakers, most turns first, ties by name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the first speaker whose full name occurs in a text, for names in scripts without spaces, where each
    /// character is a word.
    pub fn find_in_text(&self, text: &str) -> Option<usize> {
        let unspaced = |it: &str| text::split_words(it).len() == it.chars().count() && it.chars().count() > 1;
        self.names
            .iter()
            .position(|it| text.contains(it.as_str()) && unspaced(it))
    }

    /// Returns the speaker whose name a lower-case word spells in another way, if there is exactly one. A user may
    /// write a name as it sounds.
    pub fn find_by_spelling(&self, word: &str) -> Option<usize> {
        let words = |name: &str| {
            text::split_words(&name.to_lowercase())
                .into_iter()
                .any(|it| spell_alike(it, word))
        };
        let mut alike = self.names.iter().enumerate().filter(|it| words(it.1));
        alike.next().filter(|_| alike.next().is_none()).map(|it| it.0)
    }

    /// Returns the index of the speaker that a lower-case word names, by a word of the name or an alias.
    pub fn find_by_word(&self, word: &str) -> Option<usize> {
        self.called.get(word).copied()
    }
}

/// Minimum length of a name that is compared by its sound.
const SPELT: usize = 5;
/// Minimum number of consonants in such a name.
const CONSONANTS: usize = 3;

/// Returns true if two lower-case names are spellings of one name: they have the same first letter and the same
/// consonants in order ("Mohammed", "Muhamad"). "Martin" and "Martina" are different names.
fn spell_alike(a: &str, b: &str) -> bool {
    let long = |it: &str| it.chars().count() >= SPELT;
    let consonants = latin_consonants(a);
    long(a)
        && long(b)
        && a.chars().next() == b.chars().next()
        && !a.starts_with(b)
        && !b.starts_with(a)
        && consonants.len() >= CONSONANTS
        && consonants == self::latin_consonants(b)
}

/// Returns the consonants of a Latin name, doubled ones once; nothing for other scripts.
fn latin_consonants(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.dedup();
    letters.retain(|it| it.is_ascii_alphabetic() && !"aeiouy".contains(*it));
    letters
}

/// Returns the speaker of each word of a name and of each alias. With two speakers, the words by which they address
/// each other are aliases.
fn index_names_and_aliases(names: &[String], turns: &[Arc<Turn>]) -> HashMap<String, usize> {
    let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        for word in text::split_words(name).into_iter().filter(|it| it.chars().count() > 1) {
            owners.entry(word.to_lowercase()).or_default().insert(number);
        }
    }
    let mut called: HashMap<String, usize> = owners
        .into_iter()
        .filter(|it| it.1.len() == 1)
        .filter_map(|it| Some((it.0, *it.1.first()?)))
        .collect();
    let [first, second] = names else { return called };
    let mut calls: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    for turn in turns {
        let Some(by) = [first, second].iter().position(|it| ***it == *turn.unit.actor) else {
            continue;
        };
        turn.calls
            .iter()
            .for_each(|it| calls.entry(&**it).or_default()[by] += 1);
    }
    for (word, count) in calls {
        for by in 0..2 {
            if count[by] >= CALLS && count[by] >= 3 * count[1 - by] && !called.contains_key(word) {
                called.insert(word.to_owned(), 1 - by);
            }
        }
    }
    called
}

#[cfg(test)]
mod tests {
    use super::spell_alike;

    #[test]
    fn names_that_sound_alike_are_spellings_of_one_name() {
        for (a, b) in [
            ("muhhamed", "muhammad"),
            ("mohammed", "muhammad"),
            ("faheem", "fahim"),
            ("katherine", "kathrine"),
        ] {
            assert!(spell_alike(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("martin", "martina"),
            ("emily", "emil"),
            ("karla", "carla"),
            ("jane", "joan"),
            ("anna", "anni"),
            ("mason", "jason"),
            ("マリナ", "マレナ"),
        ] {
            assert!(!spell_alike(a, b), "{a} {b}");
        }
    }
}
