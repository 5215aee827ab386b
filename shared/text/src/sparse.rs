//! Texts as weighted term hashes, for inverted search.

use std::collections::BTreeMap;

use domain::port::Sparse;

use crate::{Table, stems};

/// How fast repeated terms stop counting.
const K1: f32 = 1.2;
/// How far length counts against a text.
const B: f32 = 0.2;
/// The length that is neither long nor short, in terms.
const LENGTH: f32 = 16.0;

/// Returns the stems of a text with their damped frequencies: `tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / 16))`, k1 1.2,
/// b 0.2.
pub fn words(text: &str) -> Sparse {
    weighted(stems(text).iter().map(|it| hash(it)))
}

/// Returns the word pieces of a text with their damped frequencies, as [`words`] does; a term is a row of the table.
pub fn pieces(text: &str) -> Sparse {
    weighted(Table::builtin().pieces(text))
}

/// Returns the term of a stem: FNV-1a, 32 bits.
pub fn hash(stem: &str) -> u32 {
    stem.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn weighted(terms: impl IntoIterator<Item = u32>) -> Sparse {
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
    fn repeated_terms_count_less_each_time() {
        let once = words("cat");
        let twice = words("cats and a cat");
        assert_eq!(once[0].0, twice[0].0);
        assert!(once[0].1 < twice[0].1 && twice[0].1 < 2.0 * once[0].1);
        assert!(words("the of").is_empty());
        assert!(pieces("dog park").windows(2).all(|it| it[0].0 < it[1].0));
    }
}
