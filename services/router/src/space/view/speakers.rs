use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Turn;

/// A word that is used at least this often to address a speaker becomes a name of this speaker.
const CALLS: u32 = 3;

/// The speakers of a space, and their names and aliases.
#[derive(Clone, Default)]
pub struct Speakers {
    tallies: HashMap<Arc<str>, Tally>,
    names: Vec<String>,
    called: HashMap<String, usize>,
}

/// What one speaker says.
#[derive(Clone, Default)]
struct Tally {
    /// Number of turns.
    turns: u32,
    /// Number of times that each word is used to address a person.
    calls: BTreeMap<Box<str>, u32>,
}

/// The number of each speaker.
pub(super) struct SpeakerNumbers<'a>(HashMap<&'a str, u32>);

impl SpeakerNumbers<'_> {
    /// Returns the number of the speaker of a turn.
    pub(super) fn of_turn(&self, turn: &Turn) -> Option<u32> {
        self.0.get(&*turn.unit.actor).copied()
    }
}

impl Speakers {
    /// Counts a turn, or removes it if `more` is false. Names and aliases change with [`Speakers::update_names`].
    pub(super) fn count_turn(&mut self, turn: &Turn, more: bool) {
        if turn.unit.actor.is_empty() {
            return;
        }
        let step = |it: &mut u32| *it = if more { *it + 1 } else { it.saturating_sub(1) };
        let tally = self.tallies.entry(Arc::clone(&turn.unit.actor)).or_default();
        step(&mut tally.turns);
        for word in &turn.calls {
            step(tally.calls.entry(word.clone()).or_default());
        }
        tally.calls.retain(|_, count| *count > 0);
        if tally.turns == 0 {
            self.tallies.remove(&turn.unit.actor);
        }
    }

    /// Updates the names and aliases of the speakers. Returns the present number of each former speaker; `None` if
    /// one of them has no turn any more.
    pub(super) fn update_names(&mut self) -> Option<Vec<u32>> {
        let mut tallies: Vec<(&Arc<str>, &Tally)> = self.tallies.iter().collect();
        tallies.sort_by(|a, b| b.1.turns.cmp(&a.1.turns).then(a.0.cmp(b.0)));
        let names: Vec<String> = tallies.iter().map(|it| it.0.to_string()).collect();
        self.called = index_names_and_aliases(&tallies);
        let former = std::mem::replace(&mut self.names, names);
        if former == self.names {
            return Some((0..).take(former.len()).collect());
        }
        let numbers = self.numbers();
        former.iter().map(|it| numbers.0.get(it.as_str()).copied()).collect()
    }

    /// Returns the number of each speaker.
    pub(super) fn numbers(&self) -> SpeakerNumbers<'_> {
        SpeakerNumbers(self.names.iter().map(String::as_str).zip(0..).collect())
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
fn index_names_and_aliases(tallies: &[(&Arc<str>, &Tally)]) -> HashMap<String, usize> {
    let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, (name, _)) in tallies.iter().enumerate() {
        for word in text::split_words(name).into_iter().filter(|it| it.chars().count() > 1) {
            owners.entry(word.to_lowercase()).or_default().insert(number);
        }
    }
    let mut called: HashMap<String, usize> = owners
        .into_iter()
        .filter(|it| it.1.len() == 1)
        .filter_map(|it| Some((it.0, *it.1.first()?)))
        .collect();
    let [(_, first), (_, second)] = tallies else {
        return called;
    };
    for (by, own, other) in [(0, first, second), (1, second, first)] {
        for (word, &count) in &own.calls {
            let of_other = other.calls.get(word).copied().unwrap_or_default();
            if count >= CALLS && count >= 3 * of_other && !called.contains_key(&**word) {
                called.insert(word.to_string(), 1 - by);
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
