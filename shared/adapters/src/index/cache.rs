use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use domain::id::SpaceId;
use domain::port::Result;

use super::Change;
use super::block::Block;

/// The blocks in memory, by row of their space, under a bound of bytes.
pub(super) struct Cache {
    bytes_max: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    blocks: HashMap<i64, Entry>,
    uses: u64,
}

struct Entry {
    space: SpaceId,
    slot: Arc<Slot>,
    bytes: usize,
    used: u64,
}

/// None until loaded.
type Slot = RwLock<Option<Block>>;

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Cache {
        Cache {
            bytes_max,
            held: Mutex::default(),
        }
    }

    /// Runs `search` on the block of a space, after `load` if it is not in memory.
    ///
    /// A change is applied to a loaded block, and skipped for others: the block of a later load reads it from the file,
    /// since `load` starts while the slot is locked. Applying one twice does no harm.
    pub(super) fn with<T>(
        &self,
        row: i64,
        space: &SpaceId,
        load: impl FnOnce() -> Result<Block>,
        search: impl FnOnce(&Block) -> T,
    ) -> Result<T> {
        let slot = self.slot(row, space);
        if let Some(block) = &*slot.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(search(block));
        }
        let mut place = slot.write().unwrap_or_else(PoisonError::into_inner);
        let block = match place.take() {
            Some(block) => block,
            None => load()?,
        };
        let bytes = block.bytes();
        let place = {
            *place = Some(block);
            RwLockWriteGuard::downgrade(place)
        };
        self.resized(row, bytes);
        let empty = Block::new(0);
        Ok(search(place.as_ref().unwrap_or(&empty)))
    }

    /// Applies a committed change.
    pub(super) fn apply(&self, change: &Change) {
        match change {
            Change::Forget { space } => self.held().blocks.retain(|_, it| it.space != *space),
            Change::Put { space, points, retired } => {
                let Some(slot) = self.held().blocks.get(space).map(|it| Arc::clone(&it.slot)) else {
                    return;
                };
                let mut place = slot.write().unwrap_or_else(PoisonError::into_inner);
                let Some(block) = place.as_mut() else { return };
                retired.iter().for_each(|unit| block.remove(*unit));
                points.iter().for_each(|point| block.insert(point));
                block.compact();
                let bytes = block.bytes();
                drop(place);
                self.resized(*space, bytes);
            }
        }
    }

    fn slot(&self, row: i64, space: &SpaceId) -> Arc<Slot> {
        let mut held = self.held();
        held.uses += 1;
        let used = held.uses;
        let new = || Entry {
            space: space.clone(),
            slot: Arc::default(),
            bytes: 0,
            used,
        };
        let entry = held.blocks.entry(row).or_insert_with(new);
        entry.used = used;
        Arc::clone(&entry.slot)
    }

    /// Notes the size of a block and lets others go, least recently searched first, until all fit.
    fn resized(&self, row: i64, bytes: usize) {
        let mut held = self.held();
        if let Some(entry) = held.blocks.get_mut(&row) {
            entry.bytes = bytes;
        }
        let mut total: usize = held.blocks.values().map(|it| it.bytes).sum();
        while total > self.bytes_max {
            let others = held.blocks.iter().filter(|(other, it)| **other != row && it.bytes > 0);
            let Some((oldest, bytes)) = others.min_by_key(|(_, it)| it.used).map(|(row, it)| (*row, it.bytes)) else {
                return;
            };
            held.blocks.remove(&oldest);
            total -= bytes;
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
