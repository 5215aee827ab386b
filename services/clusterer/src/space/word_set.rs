//! A set of words in one piece of memory.
//!
//! A `BTreeSet` with two words allocates a node for eleven: 280 bytes, and 32 bytes for each word.

use serde::{Deserialize, Serialize};

/// Ends each word.
const END: char = '\0';

/// Words in alphabetical order. A word does not contain [`END`]; a text with it counts as several words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WordSet {
    /// Each word, followed by [`END`].
    words: Box<str>,
}

impl WordSet {
    /// Returns the words in alphabetical order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.split_terminator(END)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.iter().any(|it| it == word)
    }

    /// Returns the words that both sets contain, in alphabetical order.
    pub(crate) fn intersection<'a>(&'a self, other: &'a WordSet) -> impl Iterator<Item = &'a str> {
        self.iter().filter(|it| other.contains(it))
    }

    pub(crate) fn is_disjoint(&self, other: &WordSet) -> bool {
        self.intersection(other).next().is_none()
    }

    pub(crate) fn is_subset(&self, other: &WordSet) -> bool {
        self.iter().all(|it| other.contains(it))
    }
}

impl FromIterator<String> for WordSet {
    fn from_iter<I: IntoIterator<Item = String>>(words: I) -> WordSet {
        let mut sorted: Vec<String> = words
            .into_iter()
            .flat_map(|it| it.split(END).map(str::to_owned).collect::<Vec<String>>())
            .filter(|it| !it.is_empty())
            .collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut words = String::new();
        for word in sorted {
            words.push_str(&word);
            words.push(END);
        }
        WordSet { words: words.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_of(words: &[&str]) -> WordSet {
        words.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn words_are_sorted_and_kept_once() {
        let set = set_of(&["b", "ab", "", "b", "a", "ab"]);
        assert!(set.iter().eq(["a", "ab", "b"]));
        assert_eq!(set, set_of(&["ab", "b", "a"]));
        assert!(set.contains("ab") && !set.contains("aba"));
        assert!(set_of(&["one\0two"]).iter().eq(["one", "two"]));
    }

    #[test]
    fn sets_are_compared_like_tree_sets() {
        let (one, other, none) = (set_of(&["a", "b", "c"]), set_of(&["b", "d"]), WordSet::default());
        assert!(one.intersection(&other).eq(["b"]));
        assert!(!one.is_disjoint(&other) && one.is_disjoint(&set_of(&["d", "e"])));
        assert!(set_of(&["a", "c"]).is_subset(&one) && !other.is_subset(&one));
        assert!(none.is_empty() && none.is_subset(&other) && none.is_disjoint(&none));
        assert_eq!(none.iter().count(), 0);
    }
}
