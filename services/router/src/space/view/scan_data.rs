use std::sync::Arc;

use super::Turn;
use super::merge_order::{Origin, merge_column};
use super::sections::sort_and_dedup;

/// The data of every turn that every question reads, stored contiguously. Access to each turn separately would take
/// most of the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanData {
    /// The stems of one turn after the other, sorted and without duplicates.
    words: Vec<u32>,
    /// The end of each turn in `words`.
    ends: Vec<u32>,
    /// Bits of the stems of the names in each turn.
    names: Vec<u64>,
    /// True for each turn that shows a picture.
    pictured: Vec<bool>,
}

impl ScanData {
    pub(super) fn from_turns<'a>(turns: impl ExactSizeIterator<Item = &'a Turn>) -> ScanData {
        let count = turns.len();
        let mut all = ScanData {
            words: Vec::new(),
            ends: Vec::with_capacity(count),
            names: Vec::with_capacity(count),
            pictured: Vec::with_capacity(count),
        };
        for turn in turns {
            all.words.extend(sort_and_dedup(turn.words().to_vec()));
            all.ends.push(all.words.len() as u32);
            all.names.push(stem_bits(turn.names()));
            all.pictured.push(!turn.unit.caption().is_empty());
        }
        all.words.shrink_to_fit();
        all
    }

    /// Inserts a turn at a place.
    pub(super) fn insert_turn(&mut self, place: usize, turn: &Turn) {
        let start = self.start_of(place) as u32;
        self.ends.insert(place, start);
        self.names.insert(place, 0);
        self.pictured.insert(place, false);
        self.replace_turn(place, turn);
    }

    /// Adds the data of new turns, and arranges the data of all turns in `order`.
    pub(super) fn merge_turns(&mut self, new: &[&Arc<Turn>], order: &[Origin]) {
        let added = ScanData::from_turns(new.iter().map(|it| it.as_ref()));
        let mut words = Vec::with_capacity(self.words.len() + added.words.len());
        let mut ends = Vec::with_capacity(order.len());
        for origin in order {
            let (data, place) = match origin {
                Origin::Former(at) => (&*self, *at as usize),
                Origin::New(number) => (&added, *number as usize),
            };
            words.extend_from_slice(data.words_of(place));
            ends.push(words.len() as u32);
        }
        *self = ScanData {
            words,
            ends,
            names: merge_column(&self.names, &added.names, order),
            pictured: merge_column(&self.pictured, &added.pictured, order),
        };
    }

    /// Replaces the data of the turn at a place.
    pub(super) fn replace_turn(&mut self, place: usize, turn: &Turn) {
        let own = sort_and_dedup(turn.words().to_vec());
        let former = self.start_of(place)..self.ends[place] as usize;
        // Room for a few more turns at once; doubling the list would leave half of it empty in a large space.
        if self.words.capacity() < self.words.len() + own.len() {
            self.words.reserve_exact(own.len() + self.words.len() / 16);
        }
        let (longer, shorter) = (own.len() as u32, former.len() as u32);
        self.ends[place..]
            .iter_mut()
            .for_each(|it| *it = *it + longer - shorter);
        drop(self.words.splice(former, own));
        self.names[place] = stem_bits(turn.names());
        self.pictured[place] = !turn.unit.caption().is_empty();
    }

    fn words_of(&self, place: usize) -> &[u32] {
        &self.words[self.start_of(place)..self.ends[place] as usize]
    }

    fn start_of(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |it| self.ends[it] as usize)
    }

    /// Returns the number of the given stems that a turn contains.
    pub fn count_stems(&self, place: usize, stems: &SoughtStems) -> usize {
        self.words_of(place).iter().map(|it| stems.count_of(*it)).sum()
    }

    /// Returns false if a turn certainly contains no name whose stem has one of these bits.
    pub fn may_name(&self, place: usize, bits: u64) -> bool {
        self.names[place] & bits != 0
    }

    /// Returns true if a turn shows a picture.
    pub fn has_picture(&self, place: usize) -> bool {
        self.pictured[place]
    }
}

/// Stems that are sought in many turns. Most stems of a turn are rejected by one look at a bit.
pub struct SoughtStems {
    stems: Vec<u32>,
    bits: [u64; SoughtStems::BITS / 64],
}

impl SoughtStems {
    /// Number of bits. The stems are digests, so their low bits are evenly distributed.
    const BITS: usize = 1_024;

    /// Takes the stems; one that is given several times counts several times.
    pub fn new(stems: Vec<u32>) -> SoughtStems {
        let mut bits = [0; SoughtStems::BITS / 64];
        for stem in &stems {
            let (at, bit) = SoughtStems::bit_of(*stem);
            bits[at] |= bit;
        }
        SoughtStems { stems, bits }
    }

    fn bit_of(stem: u32) -> (usize, u64) {
        let number = stem as usize % SoughtStems::BITS;
        (number / 64, 1 << (number % 64))
    }

    /// Returns how many of the sought stems are this one.
    fn count_of(&self, stem: u32) -> usize {
        let (at, bit) = SoughtStems::bit_of(stem);
        match self.bits[at] & bit {
            0 => 0,
            _ => self.stems.iter().filter(|it| **it == stem).count(),
        }
    }
}

/// Returns a bit set of stems. The stems are digests, so any of their own bits can be used.
pub fn stem_bits(stems: &[u32]) -> u64 {
    stems.iter().fold(0, |bits, stem| bits | 1 << (stem % u64::BITS))
}
