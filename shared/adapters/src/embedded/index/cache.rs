use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use domain::id::SpaceId;
use domain::port::Result;

use super::Change;
use super::block::Block;
use super::image::Image;
use super::image_folder::{ImageDigest, ImageFolder, ImageId};

/// The blocks in memory, by database row of their space, with a limit on their bytes.
pub(super) struct Cache {
    bytes_max: usize,
    images: ImageFolder,
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

/// How many slots of a block lie in its image, and how many in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotPlaces {
    pub(super) image: usize,
    pub(super) memory: usize,
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

    /// Returns where the slots of the block lie; `None` if it is not loaded.
    pub(super) fn slot_places(&self) -> Option<SlotPlaces> {
        self.search_if_loaded(|block| SlotPlaces {
            image: block.image_slots(),
            memory: block.memory_slots(),
        })
    }

    /// Waits until no other task loads the block.
    pub(super) async fn lock_loading(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }
}

impl Cache {
    pub(super) fn new(bytes_max: usize, images: ImageFolder) -> Cache {
        Cache {
            bytes_max,
            images,
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

    /// Returns the folder of the images.
    pub(super) fn images(&self) -> &ImageFolder {
        &self.images
    }

    /// Applies a committed change. Changes come from one thread.
    pub(super) fn apply_change(&self, change: Change) {
        match change {
            Change::Forget { space, live } => {
                self.lock_blocks().blocks.retain(|_, it| it.space != space);
                self.images.keep_only(&live);
            }
            Change::Put {
                space,
                points,
                retired,
                live,
            } => {
                self.update_block(space, |block| {
                    if live.is_some() {
                        block.copy_from_image();
                    }
                    retired.iter().for_each(|unit| block.remove_unit(*unit));
                    points.iter().for_each(|point| block.insert(point));
                    block.remove_dead_slots();
                });
                if let Some(live) = live {
                    self.images.keep_only(&live);
                }
            }
            Change::Save {
                space,
                image,
                live,
                written,
            } => {
                let digest = self.save_block(space, image);
                if digest.is_none() {
                    self.update_block(space, Block::copy_from_image);
                }
                self.images.keep_only(&live);
                // If nobody waits any more, the image has no digest in the database and is not used again.
                let _ = written.send(digest);
            }
        }
    }

    /// Changes a block, if it is loaded.
    fn update_block(&self, space: i64, update: impl FnOnce(&mut Block)) {
        let Some(slot) = self.find_slot(space) else { return };
        let mut place = slot.block.write().unwrap_or_else(PoisonError::into_inner);
        let Some(block) = place.as_mut() else { return };
        update(block);
        let bytes = block.memory_bytes();
        drop(place);
        self.store_size_and_evict(space, bytes);
    }

    /// Writes an image of a block and uses it in place. Searches go on while it is written. Returns `None` if the block
    /// is not loaded or the image could not be written.
    fn save_block(&self, space: i64, image: ImageId) -> Option<ImageDigest> {
        let slot = self.find_slot(space)?;
        let begun = std::time::Instant::now();
        let saved = slot.search_if_loaded(|block| {
            let digest = self.images.write_image(image, |out| block.write_image(out))?;
            let mapped = Image::from_file(&self.images.map_written(image)?);
            let mapped = mapped.ok_or(std::io::ErrorKind::InvalidData)?;
            Ok::<_, std::io::Error>((digest, Block::from_image(mapped)))
        })?;
        let (digest, block) = saved
            .inspect_err(|error| tracing::warn!(%error, "an image of the index could not be written"))
            .ok()?;
        tracing::debug!(points = block.len(), elapsed = ?begun.elapsed(), "image of the index written");
        self.update_block(space, |it| *it = block);
        Some(digest)
    }

    /// Returns the slot of a space.
    pub(super) fn find_slot(&self, row: i64) -> Option<Arc<Slot>> {
        self.lock_blocks().blocks.get(&row).map(|it| Arc::clone(&it.slot))
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
