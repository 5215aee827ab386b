//! An inverted index for full-text search (keyword search): posting lists of weighted terms.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use super::best_slots::ScoredSlot;
use super::image::{ListCounts, ListSections};

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
    /// The postings of the first slots, in an image.
    mapped: Option<ListSections>,
    postings: HashMap<u32, Vec<(u32, f32)>>,
}

/// The postings of a term, by slot: those in an image, then those in memory.
struct Postings<'a> {
    mapped: &'a [[u8; 8]],
    own: &'a [(u32, f32)],
}

impl<'a> Postings<'a> {
    fn iter(&self) -> impl Iterator<Item = (u32, f32)> + use<'a> {
        self.mapped.iter().map(read_posting).chain(self.own.iter().copied())
    }
}

/// The terms that an image gets, in order, and the end of the postings of each.
pub(super) struct ImageLists {
    terms: Vec<u32>,
    ends: Vec<u32>,
}

impl Inverted {
    /// Uses the lists of an image in place.
    pub(super) fn from_image(lists: ListSections) -> Inverted {
        Inverted {
            mapped: Some(lists),
            postings: HashMap::new(),
        }
    }

    /// Returns roughly how many bytes it takes outside of an image.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists: usize = self.postings.values().map(|it| it.capacity() * 8).sum();
        lists + self.postings.capacity() * 40
    }

    /// Returns how many bytes its lists take in an image at most.
    pub(super) fn image_bytes_max(&self) -> usize {
        let mapped = self.mapped.as_ref();
        let mapped = mapped.map_or(0, |it| 2 * it.terms.bytes().len() + it.postings.bytes().len());
        mapped + self.postings.values().map(|it| 8 + 8 * it.len()).sum::<usize>()
    }

    /// Adds the terms of a new slot, which must be greater than all earlier slots.
    pub(super) fn push(&mut self, slot: u32, terms: &[(u32, f32)]) {
        for (term, weight) in terms {
            self.postings.entry(*term).or_default().push((slot, *weight));
        }
    }

    /// Returns the postings of a term.
    fn postings_of(&self, term: u32) -> Postings<'_> {
        Postings {
            mapped: self.mapped.as_ref().map_or(&[][..], |it| it.postings_of(term)),
            own: self.postings.get(&term).map_or(&[][..], Vec::as_slice),
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
            let postings = self.postings_of(*term);
            let holders = match counts.all == counts.live {
                true => postings.mapped.len() + postings.own.len(),
                false => postings.iter().filter(|it| alive(it.0 as usize)).count(),
            };
            let factor = weight * inverse_document_frequency(counts.live, holders);
            let accepted = postings.iter().filter(|it| accepts(it.0 as usize));
            accepted.for_each(|(slot, weight)| {
                let at = slot as usize;
                if !is_hit[at] {
                    is_hit[at] = true;
                    touched.push(slot);
                }
                sums[at] += factor * weight;
            });
        }
        touched.into_iter().map(move |slot| (slot, sums[slot as usize]))
    }

    /// Returns the terms that have postings at the slots that remain; `moved` gives each of them its new number.
    ///
    /// # Errors
    ///
    /// `Unsupported` if there are more than four billion postings.
    pub(super) fn image_lists(&self, moved: &[Option<u32>]) -> io::Result<ImageLists> {
        let mapped = self.mapped.iter().flat_map(|it| it.terms.items());
        let mapped = mapped.map(|it| u32::from_le_bytes(*it));
        let all: BTreeSet<u32> = mapped.chain(self.postings.keys().copied()).collect();
        let mut lists = ImageLists {
            terms: Vec::with_capacity(all.len()),
            ends: Vec::with_capacity(all.len()),
        };
        let mut end = 0_usize;
        for term in all {
            let postings = self.postings_of(term);
            let count = postings.iter().filter(|it| moved[it.0 as usize].is_some()).count();
            if count > 0 {
                end += count;
                let too_many = |_| io::Error::new(io::ErrorKind::Unsupported, "too many postings");
                lists.terms.push(term);
                lists.ends.push(u32::try_from(end).map_err(too_many)?);
            }
        }
        Ok(lists)
    }

    /// Writes the lists of an image.
    pub(super) fn write_image(&self, lists: &ImageLists, moved: &[Option<u32>], out: &mut dyn Write) -> io::Result<()> {
        for number in lists.terms.iter().chain(&lists.ends) {
            out.write_all(&number.to_le_bytes())?;
        }
        for term in &lists.terms {
            for (slot, weight) in self.postings_of(*term).iter() {
                if let Some(slot) = moved[slot as usize] {
                    out.write_all(&slot.to_le_bytes())?;
                    out.write_all(&weight.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Copies what lies in an image into memory of its own.
    pub(super) fn copy_from_image(&mut self) {
        let Some(mapped) = self.mapped.take() else { return };
        for term in mapped.terms.items() {
            let term = u32::from_le_bytes(*term);
            let former = mapped.postings_of(term).iter().map(read_posting);
            let own = self.postings.entry(term).or_default();
            *own = former.chain(own.iter().copied()).collect();
        }
    }

    /// Moves postings to new slots and removes those without a new slot. Nothing may lie in an image.
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

impl ImageLists {
    /// Returns the sizes of the lists.
    pub(super) fn counts(&self) -> ListCounts {
        ListCounts {
            terms: self.terms.len(),
            postings: self.ends.last().map_or(0, |it| *it as usize),
        }
    }
}

impl ListSections {
    fn postings_of(&self, term: u32) -> &[[u8; 8]] {
        let found = self
            .terms
            .items()
            .binary_search_by_key(&term, |it| u32::from_le_bytes(*it));
        let Ok(at) = found else { return &[] };
        let end = |at: usize| u32::from_le_bytes(self.ends.items()[at]) as usize;
        let start = at.checked_sub(1).map_or(0, end);
        &self.postings.items()[start..end(at)]
    }
}

fn read_posting(bytes: &[u8; 8]) -> (u32, f32) {
    let [slot, weight] = [0, 1].map(|at| bytes.as_chunks::<4>().0[at]);
    (u32::from_le_bytes(slot), f32::from_le_bytes(weight))
}

/// Returns the inverse document frequency of a term that `holders` of `points` points contain.
fn inverse_document_frequency(points: usize, holders: usize) -> f32 {
    let (points, holders) = (points as f32, holders as f32);
    (1.0 + (points - holders + 0.5) / (holders + 0.5)).ln()
}
