//! How much of a question a text shares, by stems: for strategies that choose by what is written on a tag, a page, a line.

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::WordWeight;

/// What a stem weighs that the router says nothing about, as the names of those who speak everywhere.
const UNWEIGHED: f32 = 0.5;

/// The stems of a question with their rarity in the space.
pub(super) struct Overlap {
    stems: BTreeMap<String, f32>,
}

impl Overlap {
    /// Takes the content words of texts; all weigh the same.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Overlap {
        let stems = texts.into_iter().flat_map(text::stems);
        Overlap {
            stems: stems.map(|it| (it, UNWEIGHED)).collect(),
        }
    }

    /// Weighs the stems by rarity.
    pub(super) fn weighed(mut self, words: &[WordWeight]) -> Overlap {
        for word in words {
            if let Some(weight) = self.stems.get_mut(&word.stem) {
                *weight = word.idf.max(UNWEIGHED);
            }
        }
        self
    }

    /// Returns the weight of the stems that `text` holds.
    pub(super) fn shared(&self, text: &str) -> f32 {
        let held: BTreeSet<String> = text::stems(text).into_iter().collect();
        held.iter().filter_map(|it| self.stems.get(it)).sum()
    }

    /// Returns the stems that are in none of `texts`.
    pub(super) fn missing<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
        let held = Overlap::of(texts).stems;
        self.stems
            .keys()
            .filter(|it| !held.contains_key(*it))
            .cloned()
            .collect()
    }
}
