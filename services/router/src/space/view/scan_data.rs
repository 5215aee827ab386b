use super::Turn;
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

    fn start_of(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |it| self.ends[it] as usize)
    }

    /// Returns the number of the given stems that a turn contains.
    pub fn count_stems(&self, place: usize, stems: &[u32]) -> usize {
        let own = &self.words[self.start_of(place)..self.ends[place] as usize];
        stems.iter().filter(|it| own.contains(it)).count()
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

/// Returns a bit set of stems. The stems are digests, so any of their own bits can be used.
pub fn stem_bits(stems: &[u32]) -> u64 {
    stems.iter().fold(0, |bits, stem| bits | 1 << (stem % u64::BITS))
}
