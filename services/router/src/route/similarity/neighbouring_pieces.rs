//! Query expansion: finds the word pieces that are most similar to those of a question.

use std::collections::BTreeMap;

use domain::port::Sparse;
use text::EmbeddingTable;

#[cfg(test)]
thread_local! {
    /// The number of pieces whose neighbours were computed on this thread, for tests.
    pub(crate) static ASKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the given pieces and the nearest neighbours of each. The weight is the greatest similarity to any of the
/// given pieces; a given piece itself has weight 1.
pub(crate) fn with_neighbours(pieces: impl Iterator<Item = u32>) -> Sparse {
    let table = EmbeddingTable::builtin();
    let mut terms: BTreeMap<u32, f32> = BTreeMap::new();
    for own in pieces {
        #[cfg(test)]
        ASKED.set(ASKED.get() + 1);
        let mut raise = |piece: u32, likeness: f32| {
            let weight = terms.entry(piece).or_default();
            *weight = likeness.max(*weight);
        };
        table
            .nearest_rows(own)
            .for_each(|it| raise(it, table.similarity_of_rows(own, it)));
        raise(own, 1.0);
    }
    terms.into_iter().collect()
}
