use std::collections::BTreeMap;
use std::io::{self, Write};

use domain::id::UnitId;
use domain::port::{Hit, Point, Search, SearchResult, Sparse};

use super::best_slots::{ScoredSlot, best_slots};
use super::dense_vectors::Dense;
use super::image::{Head, Image, PointKey};
use super::inverted_index::{Inverted, SlotCounts};

/// A block is compacted if it has more dead slots than `DEAD_MAX` and more than one in `DEAD_SHARE`.
const DEAD_MAX: usize = 1_024;
const DEAD_SHARE: usize = 4;

/// Least number of points whose vectors are scanned on a second thread.
const PARALLEL_LEAST: usize = 65_536;

/// The points of one space. Each point has a slot; when it is replaced or removed, the slot is dead until compaction.
/// The vectors and postings of the first slots may lie in an image, a file that is mapped into memory.
pub(super) struct Block {
    slots: BTreeMap<(UnitId, u16), u32>,
    points: Vec<Slot>,
    dense: Dense,
    words: Inverted,
    pieces: Inverted,
    /// Number of slots whose data lies in an image.
    image_slots: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    key: (UnitId, u16),
    observed_at: i64,
    alive: bool,
}

impl Slot {
    fn point_key(&self) -> PointKey {
        PointKey {
            unit: self.key.0,
            part: self.key.1,
            observed_at: self.observed_at,
        }
    }
}

impl Block {
    pub(super) fn new(dimension: usize) -> Block {
        Block {
            slots: BTreeMap::new(),
            points: Vec::new(),
            dense: Dense::new(dimension),
            words: Inverted::default(),
            pieces: Inverted::default(),
            image_slots: 0,
        }
    }

    /// Makes a block whose points lie in an image.
    pub(super) fn from_image(image: Image) -> Block {
        let slot = |it: PointKey| Slot {
            key: (it.unit, it.part),
            observed_at: it.observed_at,
            alive: true,
        };
        let points: Vec<Slot> = image.point_keys().map(slot).collect();
        Block {
            slots: points.iter().map(|it| it.key).zip(0..).collect(),
            image_slots: points.len(),
            points,
            dense: Dense::from_image(&image),
            words: Inverted::from_image(image.words),
            pieces: Inverted::from_image(image.pieces),
        }
    }

    /// Writes an image of the live points.
    pub(super) fn write_image(&self, out: &mut dyn Write) -> io::Result<()> {
        let moved = self.numbers_without_dead_slots();
        let live = moved.iter().zip(0..).filter(|it| it.0.is_some());
        let live: Vec<u32> = live.map(|it| it.1).collect();
        let (words, pieces) = (self.words.image_lists(&moved)?, self.pieces.image_lists(&moved)?);
        let (blur, length) = self.dense.bounds();
        let head = Head {
            dimension: self.dense.dimension(),
            points: live.len(),
            blur,
            length,
            words: words.counts(),
            pieces: pieces.counts(),
        };
        head.write(out)?;
        for slot in self.points.iter().filter(|it| it.alive) {
            slot.point_key().write(out)?;
        }
        self.dense.write_image(&live, out)?;
        self.words.write_image(&words, &moved, out)?;
        self.pieces.write_image(&pieces, &moved, out)
    }

    /// Copies what lies in an image into memory of its own, so that the image is no longer used.
    pub(super) fn copy_from_image(&mut self) {
        self.dense.copy_from_image();
        self.words.copy_from_image();
        self.pieces.copy_from_image();
        self.image_slots = 0;
    }

    /// Returns how many bytes an image of the block takes at most.
    pub(super) fn image_bytes_max(&self) -> u64 {
        let points = self.points.len() * (30 + 5 * self.dense.dimension());
        (64 + points + self.words.image_bytes_max() + self.pieces.image_bytes_max()) as u64
    }

    /// Returns the number of slots whose data lies in an image.
    pub(super) fn image_slots(&self) -> usize {
        self.image_slots
    }

    /// Returns the number of slots whose data lies in memory.
    pub(super) fn memory_slots(&self) -> usize {
        self.points.len() - self.image_slots
    }

    /// Returns the number of live points.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the approximate memory use in bytes, without an image.
    pub(super) fn memory_bytes(&self) -> usize {
        let keys = self.points.capacity() * size_of::<Slot>() + self.slots.len() * 40;
        size_of::<Block>() + keys + self.dense.memory_bytes() + self.words.memory_bytes() + self.pieces.memory_bytes()
    }

    /// Inserts or replaces a point.
    pub(super) fn insert(&mut self, point: &Point) {
        let key = (point.unit, point.part);
        // Memory runs out long before a block holds four billion points.
        let slot = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
        if let Some(old) = self.slots.insert(key, slot) {
            self.points[old as usize].alive = false;
        }
        self.points.push(Slot {
            key,
            observed_at: point.observed_at,
            alive: true,
        });
        self.dense.push(&point.dense);
        self.words.push(slot, &point.words);
        self.pieces.push(slot, &point.pieces);
    }

    /// Removes all points of a unit.
    pub(super) fn remove_unit(&mut self, unit: UnitId) {
        let of_unit = self.slots.range((unit, 0)..=(unit, u16::MAX));
        let found: Vec<((UnitId, u16), u32)> = of_unit.map(|(key, slot)| (*key, *slot)).collect();
        for (key, slot) in found {
            self.slots.remove(&key);
            self.points[slot as usize].alive = false;
        }
    }

    /// Removes the dead slots from the block if there are many.
    pub(super) fn remove_dead_slots(&mut self) {
        let dead = self.points.len() - self.slots.len();
        if dead <= DEAD_MAX || dead * DEAD_SHARE <= self.points.len() {
            return;
        }
        self.copy_from_image();
        let moved = self.numbers_without_dead_slots();
        self.points.retain(|it| it.alive);
        self.dense.move_slots(&moved);
        self.words.move_slots(&moved);
        self.pieces.move_slots(&moved);
        self.slots = self.points.iter().map(|it| it.key).zip(0..).collect();
    }

    /// Returns the number that each slot gets if the dead ones are left out; `None` for those.
    fn numbers_without_dead_slots(&self) -> Vec<Option<u32>> {
        let mut next = 0_u32;
        let number = |it: &Slot| {
            next += u32::from(it.alive);
            it.alive.then(|| next - 1)
        };
        self.points.iter().map(number).collect()
    }

    /// Releases memory that is not needed after a load.
    pub(super) fn release_spare_memory(&mut self) {
        self.points.shrink_to_fit();
        self.dense.release_spare_memory();
        self.words.release_spare_memory();
        self.pieces.release_spare_memory();
    }

    pub(super) fn search_points(&self, search: &Search) -> SearchResult {
        let mask = self.accepted_slots(search);
        let accepts = |slot: usize| mask.as_ref().is_none_or(|mask| mask[slot]);
        let dense = || {
            let query = search.dense.as_deref();
            let scored = query.map(|it| self.dense.score_slots(it, accepts, search.limit));
            self.best_hits(scored.unwrap_or_default().into_iter(), search.limit)
        };
        let sparse = |inverted: &Inverted, query: &Option<Sparse>| match query {
            Some(query) => {
                let alive = |slot: usize| self.points[slot].alive;
                let counts = SlotCounts {
                    all: self.points.len(),
                    live: self.len(),
                };
                self.best_hits(inverted.score_slots(query, counts, alive, accepts), search.limit)
            }
            None => Vec::new(),
        };
        let both_sparse = || (sparse(&self.words, &search.words), sparse(&self.pieces, &search.pieces));
        let (dense, (words, pieces)) = match self.points.len() < PARALLEL_LEAST {
            true => (dense(), both_sparse()),
            false => run_both(dense, both_sparse),
        };
        SearchResult { dense, words, pieces }
    }

    /// Returns for each slot whether it may be found; `None` if all may.
    fn accepted_slots(&self, search: &Search) -> Option<Vec<bool>> {
        if search.from.is_none()
            && search.until.is_none()
            && search.units.is_none()
            && self.points.len() == self.slots.len()
        {
            return None;
        }
        let accepted = |it: &Slot| {
            it.alive
                && search.from.is_none_or(|from| it.observed_at >= from)
                && search.until.is_none_or(|until| it.observed_at < until)
                && search.units.as_ref().is_none_or(|units| units.contains(&it.key.0))
        };
        Some(self.points.iter().map(accepted).collect())
    }

    /// Returns the best `limit` of scored slots, best first, ties by key.
    fn best_hits(&self, scored: impl Iterator<Item = ScoredSlot>, limit: usize) -> Vec<Hit> {
        let key = |slot: u32| self.points[slot as usize].key;
        let order = |a: &ScoredSlot, b: &ScoredSlot| b.1.total_cmp(&a.1).then_with(|| key(a.0).cmp(&key(b.0)));
        let hits = best_slots(scored, limit, order);
        let hit = |(slot, score): ScoredSlot| {
            let (unit, part) = key(slot);
            Hit { unit, part, score }
        };
        hits.into_iter().map(hit).collect()
    }
}

/// Computes two values at the same time, the first one on a thread of its own.
fn run_both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        match first.join() {
            Ok(first) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests;
