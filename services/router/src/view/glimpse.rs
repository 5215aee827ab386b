use super::Turn;

/// The data of every turn that every question reads, stored contiguously. Access to each turn separately would take
/// most of the time.
#[derive(Clone, Debug, Default)]
pub struct Glimpses {
    /// The stems of one turn after the other, without duplicates in one part.
    words: Vec<u32>,
    /// The end of each turn in `words`.
    ends: Vec<usize>,
    /// Bits of the stems of the names in each turn.
    names: Vec<u64>,
    /// True for each turn that shows a picture.
    pictured: Vec<bool>,
}

impl Glimpses {
    pub(super) fn of<'a>(turns: impl Iterator<Item = &'a Turn>) -> Glimpses {
        let mut all = Glimpses::default();
        for turn in turns {
            all.words.extend(turn.parts.iter().flat_map(|it| &it.words));
            all.ends.push(all.words.len());
            all.names.push(bits(&turn.names));
            all.pictured.push(!turn.unit.caption.is_empty());
        }
        all
    }

    /// Returns how many of some stems a turn contains.
    pub fn held(&self, place: usize, stems: &[u32]) -> usize {
        let start = place.checked_sub(1).map_or(0, |it| self.ends[it]);
        let own = &self.words[start..self.ends[place]];
        stems.iter().filter(|it| own.contains(it)).count()
    }

    /// Returns false if a turn certainly contains no name whose stem has one of these bits.
    pub fn may_name(&self, place: usize, bits: u64) -> bool {
        self.names[place] & bits != 0
    }

    /// Returns true if a turn shows a picture.
    pub fn pictured(&self, place: usize) -> bool {
        self.pictured[place]
    }
}

/// Returns a bit set of stems. The stems are digests, so any of their own bits can be used.
pub fn bits(stems: &[u32]) -> u64 {
    stems.iter().fold(0, |bits, stem| bits | 1 << (stem % u64::BITS))
}
