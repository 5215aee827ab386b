//! Texts as hashes of weighted terms, for search in an inverted index.

use std::collections::BTreeMap;

use domain::port::Sparse;

use crate::{EmbeddingTable, stem_words};

/// Controls how fast further occurrences of a term lose weight.
const K1: f32 = 1.2;
/// Controls how much the length of a text reduces the weights.
const B: f32 = 0.2;
/// Length of an average text, in terms.
const LENGTH: f32 = 16.0;

/// Returns the stems of a text with damped frequencies: `tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / 16))`, where
/// k1 is 1.2 and b is 0.2.
pub fn stem_vector(text: &str) -> Sparse {
    weigh_terms(stem_words(text).iter().map(|it| hash_stem(it)))
}

/// Returns the word pieces of a text with damped frequencies as in [`stem_vector`]; a term is the number of a row of the
/// table.
pub fn piece_vector(text: &str) -> Sparse {
    weigh_terms(EmbeddingTable::builtin().piece_rows(text))
}

/// Returns the term of a stem: its 32-bit FNV-1a hash.
pub fn hash_stem(stem: &str) -> u32 {
    stem.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn weigh_terms(terms: impl IntoIterator<Item = u32>) -> Sparse {
    let mut counts = BTreeMap::<u32, f32>::new();
    let mut length = 0.0;
    for term in terms {
        *counts.entry(term).or_default() += 1.0;
        length += 1.0;
    }
    let norm = K1 * (1.0 - B + B * length / LENGTH);
    counts
        .into_iter()
        .map(|(term, tf)| (term, tf * (K1 + 1.0) / (tf + norm)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repetition_of_a_term_counts_less() {
        let once = stem_vector("cat");
        let twice = stem_vector("cats and a cat");
        assert_eq!(once[0].0, twice[0].0);
        assert!(once[0].1 < twice[0].1 && twice[0].1 < 2.0 * once[0].1);
        assert!(stem_vector("the of").is_empty());
        assert!(piece_vector("dog park").windows(2).all(|it| it[0].0 < it[1].0));
    }
}
