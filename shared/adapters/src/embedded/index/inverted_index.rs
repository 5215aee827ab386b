//! An inverted index for full-text search (keyword search): posting lists of weighted terms.

use std::collections::HashMap;

use super::best_slots::ScoredSlot;

/// Numbers of slots of a block.
#[derive(Clone, Copy)]
pub(super) struct SlotCounts {
    pub(super) all: usize,
    /// Those that were not replaced or removed.
    pub(super) live: usize,
}

/// Posting lists by term. A posting is a slot and a weight; lists are sorted by slot.
#[derive(Default)]
pub(super) struct Inverted {
    postings: HashMap<u32, Vec<(u32, f32)>>,
}

impl Inverted {
    pub(super) fn memory_bytes(&self) -> usize {
        let lists: usize = self.postings.values().map(|it| it.capacity() * 8).sum();
        lists + self.postings.capacity() * 40
    }

    /// Adds the terms of a new slot, which must be greater than all earlier slots.
    pub(super) fn push(&mut self, slot: u32, terms: &[(u32, f32)]) {
        for (term, weight) in terms {
            self.postings.entry(*term).or_default().push((slot, *weight));
        }
    }

    /// Returns the accepted slots that share a term with the query. The score of each is its sum of weights times idf,
    /// computed over the live slots. Sums are in the order of the query's terms, so they do not depend on the slots.
    pub(super) fn score_slots(
        &self,
        query: &[(u32, f32)],
        counts: SlotCounts,
        alive: impl Fn(usize) -> bool,
        accepts: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = ScoredSlot> {
        let (mut sums, mut is_hit) = (vec![0.0_f32; counts.all], vec![false; counts.all]);
        let mut touched = Vec::new();
        for (term, weight) in query {
            let Some(postings) = self.postings.get(term) else {
                continue;
            };
            let holders = match counts.all == counts.live {
                true => postings.len(),
                false => postings.iter().filter(|(slot, _)| alive(*slot as usize)).count(),
            };
            let factor = weight * inverse_document_frequency(counts.live, holders);
            for (slot, weight) in postings.iter().filter(|(slot, _)| accepts(*slot as usize)) {
                let at = *slot as usize;
                if !is_hit[at] {
                    is_hit[at] = true;
                    touched.push(*slot);
                }
                sums[at] += factor * weight;
            }
        }
        touched.into_iter().map(move |slot| (slot, sums[slot as usize]))
    }

    /// Moves postings to new slots and removes those without a new slot.
    pub(super) fn move_slots(&mut self, moved: &[Option<u32>]) {
        self.postings.retain(|_, postings| {
            postings.retain_mut(|(slot, _)| match moved[*slot as usize] {
                Some(new) => {
                    *slot = new;
                    true
                }
                None => false,
            });
            postings.shrink_to_fit();
            !postings.is_empty()
        });
    }

    pub(super) fn release_spare_memory(&mut self) {
        self.postings.values_mut().for_each(Vec::shrink_to_fit);
    }
}

/// Returns the inverse document frequency of a term that `holders` of `points` points contain.
fn inverse_document_frequency(points: usize, holders: usize) -> f32 {
    let (points, holders) = (points as f32, holders as f32);
    (1.0 + (points - holders + 0.5) / (holders + 0.5)).ln()
}
