use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use domain::id::SpaceId;
use domain::port::Result;

use super::Change;
use super::block::Block;

/// The blocks in memory, by database row of their space, with a limit on their bytes.
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

/// The place of one block.
pub(super) struct Slot {
    pub(super) row: i64,
    /// `None` until loaded.
    block: RwLock<Option<Block>>,
    /// Whether the block is loaded; readable without waiting for its lock.
    loaded: AtomicBool,
    /// Held by the task that loads the block; the others wait without blocking a thread.
    loading: tokio::sync::Mutex<()>,
}

impl Slot {
    /// Runs `search` on the block. Returns `None` without waiting if the block is not loaded.
    pub(super) fn searched<T>(&self, search: impl FnOnce(&Block) -> T) -> Option<T> {
        if !self.loaded.load(Ordering::Acquire) {
            return None;
        }
        let block = self.block.read().unwrap_or_else(PoisonError::into_inner);
        block.as_ref().map(search)
    }

    /// Waits until no other task loads the block.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Cache {
        Cache {
            bytes_max,
            held: Mutex::default(),
        }
    }

    /// Loads the block of a slot, unless it is loaded already.
    ///
    /// A change is applied only to a loaded block. A block that is loaded later reads the change from the file, because
    /// `load` starts while the slot is locked. Applying a change twice is harmless.
    pub(super) fn load(&self, slot: &Slot, load: impl FnOnce() -> Result<Block>) -> Result<()> {
        let mut place = slot.block.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return Ok(());
        }
        let block = load()?;
        let bytes = block.bytes();
        *place = Some(block);
        drop(place);
        slot.loaded.store(true, Ordering::Release);
        self.resized(slot.row, bytes);
        Ok(())
    }

    /// Applies a committed change.
    pub(super) fn apply(&self, change: &Change) {
        match change {
            Change::Forget { space } => self.held().blocks.retain(|_, it| it.space != *space),
            Change::Put { space, points, retired } => {
                let Some(slot) = self.held().blocks.get(space).map(|it| Arc::clone(&it.slot)) else {
                    return;
                };
                let mut place = slot.block.write().unwrap_or_else(PoisonError::into_inner);
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

    /// Returns the slot of a space, and marks it as most recently searched.
    pub(super) fn slot(&self, row: i64, space: &SpaceId) -> Arc<Slot> {
        let mut held = self.held();
        held.uses += 1;
        let used = held.uses;
        let new = || Entry {
            space: space.clone(),
            slot: Arc::new(Slot {
                row,
                block: RwLock::default(),
                loaded: AtomicBool::new(false),
                loading: tokio::sync::Mutex::default(),
            }),
            bytes: 0,
            used,
        };
        let entry = held.blocks.entry(row).or_insert_with(new);
        entry.used = used;
        Arc::clone(&entry.slot)
    }

    /// Stores the size of a block, and evicts the least recently searched other blocks until all fit.
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
