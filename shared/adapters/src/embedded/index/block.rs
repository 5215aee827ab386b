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
        for Slot { key, observed_at, .. } in self.points.iter().filter(|it| it.alive) {
            let (unit, part) = *key;
            let observed_at = *observed_at;
            PointKey {
                unit,
                part,
                observed_at,
            }
            .write(out)?;
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
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::super::image_folder::{ImageFolder, ImageId};
    use super::*;

    const DIMENSION: usize = 24;

    /// A sequence of numbers that looks random and is always the same.
    struct Numbers(u32);

    impl Numbers {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (self.0 >> 12) % bound
        }

        fn vector(&mut self) -> Vec<f32> {
            (0..DIMENSION)
                .map(|_| self.below(2_000) as f32 / 1_000.0 - 1.0)
                .collect()
        }

        fn terms(&mut self) -> Vec<(u32, f32)> {
            let terms: BTreeMap<u32, f32> = (0..self.below(6))
                .map(|_| (self.below(30), self.below(100) as f32 / 50.0))
                .collect();
            terms.into_iter().collect()
        }

        fn point(&mut self) -> Point {
            Point {
                unit: UnitId::from_uuid(uuid::Uuid::from_u128(u128::from(self.below(200)))),
                part: self.below(3) as u16,
                dense: self.vector(),
                words: self.terms(),
                pieces: self.terms(),
                observed_at: i64::from(self.below(1_000)) - 500,
            }
        }

        fn search(&mut self) -> Search {
            Search {
                dense: Some(self.vector()),
                words: Some(self.terms()),
                pieces: Some(self.terms()),
                limit: self.below(40) as usize + 1,
                from: (self.below(2) == 0).then_some(-200),
                ..Search::default()
            }
        }
    }

    /// Writes an image of a block and returns a block that uses it.
    fn saved(block: &Block, folder: &ImageFolder, id: i64) -> Block {
        let digest = folder.write_image(ImageId(id), |out| block.write_image(out)).unwrap();
        let file = folder.map_verified(ImageId(id), &digest).unwrap();
        Block::from_image(Image::from_file(&file).unwrap())
    }

    #[test]
    fn a_block_over_an_image_finds_the_same_as_one_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ImageFolder::of_database(&dir.path().join("database"));
        let (mut numbers, mut block, mut live) = (Numbers(3), Block::new(DIMENSION), BTreeMap::new());
        for round in 0..400 {
            match numbers.below(8) {
                0 => {
                    let unit = numbers.point().unit;
                    block.remove_unit(unit);
                    live.retain(|key: &(UnitId, u16), _| key.0 != unit);
                }
                1 => {
                    block = saved(&block, &folder, round);
                    assert_eq!((block.memory_slots(), block.image_slots()), (0, live.len()));
                }
                2 => block.copy_from_image(),
                _ => {
                    for _ in 0..numbers.below(8) {
                        let point = numbers.point();
                        block.insert(&point);
                        live.insert((point.unit, point.part), point);
                    }
                }
            }
            let mut plain = Block::new(DIMENSION);
            live.values().for_each(|it| plain.insert(it));
            let search = numbers.search();
            assert_eq!(
                block.search_points(&search),
                plain.search_points(&search),
                "round {round}"
            );
        }
    }

    #[test]
    fn images_of_another_format_or_size_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ImageFolder::of_database(&dir.path().join("database"));
        let (mut numbers, mut block, mut image) = (Numbers(5), Block::new(DIMENSION), Vec::new());
        (0..20).for_each(|_| block.insert(&numbers.point()));
        block.write_image(&mut image).unwrap();
        let refused = |id: i64, bytes: &[u8]| {
            let digest = folder.write_image(ImageId(id), |out| out.write_all(bytes)).unwrap();
            Image::from_file(&folder.map_verified(ImageId(id), &digest).unwrap()).is_none()
        };
        assert!(!refused(1, &image));
        for at in 0..64 {
            // The numbers in the head lead to other sizes; only the two bounds at its end do not.
            let mut other = image.clone();
            other[at] ^= 0x80;
            assert_eq!(refused(2 + at as i64, &other), at < 56, "byte {at}");
        }
        assert!(refused(100, &image[..image.len() - 1]) && refused(101, &image[..10]) && refused(102, b""));
    }

    #[test]
    fn a_file_in_use_is_destroyed_after_its_last_use() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ImageFolder::of_database(&dir.path().join("database"));
        let (mut numbers, mut block) = (Numbers(9), Block::new(DIMENSION));
        (0..50).for_each(|_| block.insert(&numbers.point()));
        let mapped = Arc::new(saved(&block, &folder, 1));
        let path = dir.path().join("index/1.points");
        let search = numbers.search();
        let found = mapped.search_points(&search);
        folder.keep_only(&[]);
        assert_eq!(mapped.search_points(&search), found);
        assert!(path.exists());
        drop(mapped);
        assert!(!path.exists());
    }
}
