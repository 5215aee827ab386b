//! The place of a block in memory, which may not be loaded yet.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use domain::port::Result;

use super::block::Block;

/// How many points of a block lie in its image, and how many in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PointCounts {
    pub(super) image: usize,
    pub(super) memory: usize,
}

/// The place of one block.
pub(super) struct BlockPlace {
    pub(super) row: i64,
    /// `None` until loaded.
    block: RwLock<Option<Block>>,
    /// Whether the block is loaded; readable without waiting for its lock.
    loaded: AtomicBool,
    /// How many points of the block lie where, as of its last change; readable without waiting for its lock.
    image_points: AtomicUsize,
    memory_points: AtomicUsize,
    /// Held by the task that loads the block; the others wait without blocking a thread.
    loading: tokio::sync::Mutex<()>,
}

impl BlockPlace {
    pub(super) fn of_row(row: i64) -> BlockPlace {
        BlockPlace {
            row,
            block: RwLock::default(),
            loaded: AtomicBool::new(false),
            image_points: AtomicUsize::new(0),
            memory_points: AtomicUsize::new(0),
            loading: tokio::sync::Mutex::default(),
        }
    }

    /// Runs `search` on the block. Returns `None` without waiting if the block is not loaded.
    pub(super) fn search_if_loaded<T>(&self, search: impl FnOnce(&Block) -> T) -> Option<T> {
        if !self.loaded.load(Ordering::Acquire) {
            return None;
        }
        let block = self.block.read().unwrap_or_else(PoisonError::into_inner);
        block.as_ref().map(search)
    }

    /// Returns how many points of the block lie where; none if it is not loaded.
    pub(super) fn point_counts(&self) -> PointCounts {
        PointCounts {
            image: self.image_points.load(Ordering::Relaxed),
            memory: self.memory_points.load(Ordering::Relaxed),
        }
    }

    /// Waits until no other task loads the block.
    pub(super) async fn lock_loading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }

    /// Loads the block, unless it is loaded already. Returns the bytes that a block that was loaded takes.
    ///
    /// # Errors
    ///
    /// Those of `load`, which runs while the place is locked.
    pub(super) fn load(&self, load: impl FnOnce() -> Result<Block>) -> Result<Option<usize>> {
        let mut place = self.block.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_some() {
            return Ok(None);
        }
        let block = load()?;
        let bytes = block.memory_bytes();
        self.note_counts(&block);
        *place = Some(block);
        drop(place);
        self.loaded.store(true, Ordering::Release);
        Ok(Some(bytes))
    }

    /// Changes the block, if it is loaded. Returns the bytes that it takes then.
    pub(super) fn update(&self, update: impl FnOnce(&mut Block)) -> Option<usize> {
        let mut place = self.block.write().unwrap_or_else(PoisonError::into_inner);
        let block = place.as_mut()?;
        update(block);
        self.note_counts(block);
        Some(block.memory_bytes())
    }

    fn note_counts(&self, block: &Block) {
        self.image_points.store(block.image_slots(), Ordering::Relaxed);
        self.memory_points.store(block.memory_slots(), Ordering::Relaxed);
    }
}
