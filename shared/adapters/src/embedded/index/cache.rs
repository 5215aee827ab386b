use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::SpaceId;
use domain::port::Result;

use super::block::Block;
use super::block_place::BlockPlace;
use super::change::{Change, ChangedPoints, Save, Saved};
use super::image::Image;
use crate::embedded::mapped_files::{FileDigest, FileFolder, FileNumber};

/// The blocks in memory, by database row of their space, with a limit on their bytes.
pub(super) struct Cache {
    bytes_max: usize,
    /// Dropped before the folder, which destroys the files without readers.
    cached: Mutex<CachedBlocks>,
    images: FileFolder,
}

#[derive(Default)]
struct CachedBlocks {
    blocks: HashMap<i64, Entry>,
    uses: u64,
}

struct Entry {
    space: SpaceId,
    place: Arc<BlockPlace>,
    bytes: usize,
    used: u64,
}

impl Cache {
    pub(super) fn new(bytes_max: usize, images: FileFolder) -> Cache {
        Cache {
            bytes_max,
            images,
            cached: Mutex::default(),
        }
    }

    /// Loads the block of a place, unless it is loaded already.
    ///
    /// A change is applied only to a loaded block. A block that is loaded later reads the change from the file, because
    /// `load` starts while the place is locked. Applying a change twice is harmless.
    pub(super) fn load_block(&self, place: &Arc<BlockPlace>, load: impl FnOnce() -> Result<Block>) -> Result<()> {
        if let Some(bytes) = place.load(load)? {
            self.store_size_and_evict(place, bytes);
        }
        Ok(())
    }

    /// Returns the folder of the images.
    pub(super) fn images(&self) -> &FileFolder {
        &self.images
    }

    /// Applies a committed change. Changes come from one thread, in the order of their commits.
    ///
    /// # Errors
    ///
    /// The error of the system if an outdated file of an image remains.
    pub(super) fn apply_change(&self, change: Change) -> io::Result<()> {
        match change {
            Change::Put(it) => self.put_points(&it),
            Change::Save(it) => {
                let saved = self.save_block(&it);
                // If the task that waits for the result has ended, the image gets no digest in the database and is not used
                // again.
                let _ = it.saved.send(saved);
                Ok(())
            }
            Change::Forget { space, live } => {
                let forgotten: Vec<_> = self
                    .lock_blocks()
                    .blocks
                    .extract_if(|_, it| it.space == space)
                    .collect();
                // Freeing a large block takes time, in which searches would wait for the lock.
                drop(forgotten);
                self.images.keep_only(&live)
            }
            Change::DestroyImages { live } => self.images.keep_only(&live),
        }
    }

    fn put_points(&self, change: &ChangedPoints) -> io::Result<()> {
        if let Some(place) = self.find_place(change.space) {
            let bytes = place.update(|block| {
                if change.live.is_some() {
                    block.copy_from_image();
                }
                change.retired.iter().for_each(|unit| block.remove_unit(*unit));
                change.points.iter().for_each(|point| block.insert(point));
                block.remove_dead_slots();
            });
            if let Some(bytes) = bytes {
                self.store_size_and_evict(&place, bytes);
            }
        }
        match &change.live {
            Some(live) => self.images.keep_only(live),
            // What an earlier erasure could not destroy delays further ones, but no other write.
            None if change.retired.is_empty() => Ok(()),
            None => self.images.destroy_outdated(),
        }
    }

    /// Writes an image of a block and uses it in place. Searches go on while it is written.
    ///
    /// The block must be the one that was loaded before the change was committed. One that was loaded since may hold
    /// later points, which the row of the image does not cover.
    fn save_block(&self, save: &Save) -> Saved {
        let place = self.find_place(save.place.row);
        let Some(place) = place.filter(|it| Arc::ptr_eq(it, &save.place)) else {
            return Saved::NotLoaded;
        };
        let begun = std::time::Instant::now();
        let Some(written) = place.search_if_loaded(|block| self.write_image(block, save.image)) else {
            return Saved::NotLoaded;
        };
        match written {
            Ok(WrittenImage { digest, mut block }) => {
                // The former block is freed after its lock is released.
                let bytes = place.update(|it| std::mem::swap(it, &mut block));
                self.store_size_and_evict(&place, bytes.unwrap_or_default());
                let elapsed = begun.elapsed();
                tracing::debug!(
                    points = place.point_counts().image,
                    ?elapsed,
                    "image of the index written"
                );
                Saved::Written { digest, elapsed }
            }
            Err(error) => {
                tracing::warn!(%error, "an image of the index could not be written");
                Saved::Failed
            }
        }
    }

    fn write_image(&self, block: &Block, image: FileNumber) -> io::Result<WrittenImage> {
        let images = &self.images;
        let digest = images.write_file(image, block.image_bytes_max(), |out| block.write_image(out))?;
        let mapped = Image::from_file(&images.map_written(image)?).ok_or(io::ErrorKind::InvalidData)?;
        let block = Block::from_image(mapped);
        Ok(WrittenImage { digest, block })
    }

    /// Returns the place of a space, if it has one.
    pub(super) fn find_place(&self, row: i64) -> Option<Arc<BlockPlace>> {
        self.lock_blocks().blocks.get(&row).map(|it| Arc::clone(&it.place))
    }

    /// Returns the place of a space, and marks it as most recently searched.
    pub(super) fn get_or_add_place(&self, row: i64, space: &SpaceId) -> Arc<BlockPlace> {
        let mut cached = self.lock_blocks();
        cached.uses += 1;
        let used = cached.uses;
        let new = || Entry {
            space: space.clone(),
            place: Arc::new(BlockPlace::of_row(row)),
            bytes: 0,
            used,
        };
        let entry = cached.blocks.entry(row).or_insert_with(new);
        entry.used = used;
        Arc::clone(&entry.place)
    }

    /// Stores the size of a block, and evicts the least recently searched other blocks until all fit.
    fn store_size_and_evict(&self, place: &Arc<BlockPlace>, bytes: usize) {
        let evicted = self.take_evicted(place, bytes);
        // Freeing a large block takes time, in which searches would wait for the lock.
        drop(evicted);
    }

    fn take_evicted(&self, place: &Arc<BlockPlace>, bytes: usize) -> Vec<Entry> {
        let mut cached = self.lock_blocks();
        // The place may have been replaced by another one of its space.
        if let Some(entry) = cached
            .blocks
            .get_mut(&place.row)
            .filter(|it| Arc::ptr_eq(&it.place, place))
        {
            entry.bytes = bytes;
        }
        let mut evicted = Vec::new();
        let mut total: usize = cached.blocks.values().map(|it| it.bytes).sum();
        while total > self.bytes_max {
            let others = cached.blocks.iter().filter(|it| *it.0 != place.row && it.1.bytes > 0);
            let Some(oldest) = others.min_by_key(|it| it.1.used).map(|it| *it.0) else {
                break;
            };
            if let Some(entry) = cached.blocks.remove(&oldest) {
                total -= entry.bytes;
                evicted.push(entry);
            }
        }
        evicted
    }

    fn lock_blocks(&self) -> MutexGuard<'_, CachedBlocks> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An image that was written, and a block that uses it.
struct WrittenImage {
    digest: FileDigest,
    block: Block,
}
