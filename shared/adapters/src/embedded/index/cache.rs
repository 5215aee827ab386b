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
    cached: Mutex<CachedBlocks>,
}

#[derive(Default)]
struct CachedBlocks {
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
    pub(super) fn search_if_loaded<T>(&self, search: impl FnOnce(&Block) -> T) -> Option<T> {
        if !self.loaded.load(Ordering::Acquire) {
            return None;
        }
        let block = self.block.read().unwrap_or_else(PoisonError::into_inner);
        block.as_ref().map(search)
    }

    /// Waits until no other task loads the block.
    pub(super) async fn lock_loading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Cache {
        Cache {
            bytes_max,
            cached: Mutex::default(),
        }
    }

    /// Loads the block of a slot, unless it is loaded already.
    ///
    /// A change is applied only to a loaded block. A block that is loaded later reads the change from the file, because
    /// `load` starts while the slot is locked. Applying a change twice is harmless.
    pub(super) fn load_block(&self, slot: &Slot, load: impl FnOnce() -> Result<Block>) -> Result<()> {
        let mut place = slot.block.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return Ok(());
        }
        let block = load()?;
        let bytes = block.memory_bytes();
        *place = Some(block);
        drop(place);
        slot.loaded.store(true, Ordering::Release);
        self.store_size_and_evict(slot.row, bytes);
        Ok(())
    }

    /// Applies a committed change.
    pub(super) fn apply_change(&self, change: &Change) {
        match change {
            Change::Forget { space } => self.lock_blocks().blocks.retain(|_, it| it.space != *space),
            Change::Put { space, points, retired } => {
                let Some(slot) = self.lock_blocks().blocks.get(space).map(|it| Arc::clone(&it.slot)) else {
                    return;
                };
                let mut place = slot.block.write().unwrap_or_else(PoisonError::into_inner);
                let Some(block) = place.as_mut() else { return };
                retired.iter().for_each(|unit| block.remove_unit(*unit));
                points.iter().for_each(|point| block.insert(point));
                block.remove_dead_slots();
                let bytes = block.memory_bytes();
                drop(place);
                self.store_size_and_evict(*space, bytes);
            }
        }
    }

    /// Returns the slot of a space, and marks it as most recently searched.
    pub(super) fn get_or_add_slot(&self, row: i64, space: &SpaceId) -> Arc<Slot> {
        let mut cached = self.lock_blocks();
        cached.uses += 1;
        let used = cached.uses;
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
        let entry = cached.blocks.entry(row).or_insert_with(new);
        entry.used = used;
        Arc::clone(&entry.slot)
    }

    /// Stores the size of a block, and evicts the least recently searched other blocks until all fit.
    fn store_size_and_evict(&self, row: i64, bytes: usize) {
        let mut cached = self.lock_blocks();
        if let Some(entry) = cached.blocks.get_mut(&row) {
            entry.bytes = bytes;
        }
        let mut total: usize = cached.blocks.values().map(|it| it.bytes).sum();
        while total > self.bytes_max {
            let others = cached
                .blocks
                .iter()
                .filter(|(other, it)| **other != row && it.bytes > 0);
            let Some((oldest, bytes)) = others.min_by_key(|(_, it)| it.used).map(|(row, it)| (*row, it.bytes)) else {
                return;
            };
            cached.blocks.remove(&oldest);
            total -= bytes;
        }
    }

    fn lock_blocks(&self) -> MutexGuard<'_, CachedBlocks> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
