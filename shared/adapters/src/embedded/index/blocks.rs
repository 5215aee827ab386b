//! The blocks of an open file: changes are committed to the file, applied by one thread in the order of their commits,
//! and saved as images when a space was not changed for a while.

use std::collections::HashSet;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use domain::port::Result;
use domain::{ErrorKind, PortError};
use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::block_place::{BlockPlace, PointCounts};
use super::cache::Cache;
use super::change::{Change, Save, Saved};
use super::image::image_folder;
use super::image_rows;
use crate::embedded::mapped_files::FileNumber;
use crate::embedded::store::{Durability, Outcome, Store};
use crate::{OpenError, Options};

/// Maximum number of changes in the queue; when it is full, the writer waits.
const CHANGES_MAX: usize = 1_024;
/// A new image is due when the points that are in no image number at least those of the last image divided by this.
const ADDED_SHARE: usize = 16;
/// While a space keeps changing, an image is written only when the points outside of images number at least this many
/// times `image_points_least`, and at least as many as the points of the last image.
const BUSY_FACTOR: usize = 4;
/// After an image is written, the space is not saved again for this many times the duration of the write, or for
/// [`REST_MAX`] if that is shorter.
const REST_FACTOR: u32 = 50;
/// Longest pause between two images of a space, and the pause after an image that could not be written, for example
/// because the disk is full.
const REST_MAX: Duration = Duration::from_secs(600);
const SAVE: &str = "index.save";

/// The blocks of all spaces, and how they change.
pub(super) struct Blocks {
    /// Dropped before the store: its files are used only while the folder is locked.
    pub(super) cache: Arc<Cache>,
    pub(super) store: Arc<Store>,
    changes: Option<SyncSender<Applied>>,
    thread: Option<JoinHandle<()>>,
    /// The rows of the spaces that wait to be saved.
    saving: Mutex<HashSet<i64>>,
    image_points_least: usize,
    image_pause: Duration,
}

/// A change to apply, and the channel that gets the result.
struct Applied(Change, oneshot::Sender<io::Result<()>>);

impl Blocks {
    /// Starts the thread that applies changes, and destroys the files of images that are not used any more.
    pub(super) fn start(store: Arc<Store>, options: &Options) -> std::result::Result<Blocks, OpenError> {
        let images = image_folder(store.path());
        let unusable = |source: io::Error| OpenError::Directory {
            path: images.path().to_owned(),
            source,
        };
        let live = store.read_here("index.open", image_rows::live_images);
        let live = live.map_err(|error| unusable(io::Error::other(error)))?;
        images.keep_only(&live).map_err(unusable)?;
        let (changes, waiting) = sync_channel(CHANGES_MAX);
        let cache = Arc::new(Cache::new(options.index_bytes_max, images));
        let blocks = Arc::clone(&cache);
        let apply = move || {
            for Applied(change, applied) in waiting {
                // A caller that no longer waits does not need the result.
                let _ = applied.send(blocks.apply_change(change));
            }
        };
        let thread = std::thread::Builder::new().name("mnemic-index".to_owned()).spawn(apply);
        let thread = thread.map_err(|source| OpenError::Directory {
            path: store.path().to_owned(),
            source,
        })?;
        Ok(Blocks {
            store,
            cache,
            changes: Some(changes),
            thread: Some(thread),
            saving: Mutex::default(),
            image_points_least: options.index_image_points_least,
            image_pause: options.index_image_pause,
        })
    }

    /// Commits `job`, then waits until its change is searchable. Returns the result of the job.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the change is committed, but an outdated file of an image remains.
    pub(super) async fn commit_change<T, F, C>(
        &self,
        operation: &'static str,
        durability: Durability,
        job: F,
        change: C,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        C: FnOnce(&T) -> Option<Change> + Send + 'static,
    {
        let (sender, applied) = oneshot::channel();
        let changes = self.changes.clone();
        let then = move |value: &T| match (change(value), changes) {
            (Some(change), Some(changes)) => drop(changes.send(Applied(change, sender))),
            (None, _) | (_, None) => drop(sender.send(Ok(()))),
        };
        let value = self.store.write_then(operation, durability, job, then).await?;
        let ended = |_| PortError::new(operation, ErrorKind::Internal, "the index has stopped");
        let remains = |error| {
            let detail = "an outdated file of the index could not be destroyed";
            PortError::new(operation, ErrorKind::Unavailable, detail).caused_by(error)
        };
        applied.await.map_err(ended)?.map_err(remains)?;
        Ok(value)
    }

    /// Saves a space once it no longer changes, if it holds enough points that are in no image.
    pub(super) fn save_later(self: &Arc<Self>, space: i64) {
        if self.find_due(space).is_some() && self.lock_saving().insert(space) {
            let waiting = WaitingSpace {
                blocks: Arc::downgrade(self),
                space,
            };
            tokio::spawn(save_when_quiet(waiting, self.image_pause));
        }
    }

    /// Returns the place of a space, if an image of it is due.
    fn find_due(&self, space: i64) -> Option<Arc<BlockPlace>> {
        let place = self.cache.find_place(space)?;
        let PointCounts { image, memory } = place.point_counts();
        (memory >= self.image_points_least.max(image / ADDED_SHARE)).then_some(place)
    }

    /// Returns true if an image must not wait any longer.
    fn is_overdue(&self, counts: PointCounts) -> bool {
        counts.memory >= counts.image.max(self.image_points_least.saturating_mul(BUSY_FACTOR))
    }

    /// Writes an image of a space.
    async fn save(&self, place: Arc<BlockPlace>) -> Result<Saved> {
        let (saved, outcome) = oneshot::channel();
        let row = place.row;
        let begin = move |db: &Connection| image_rows::begin_image(db, row);
        let change = move |image: &Option<FileNumber>| {
            let image = (*image)?;
            Some(Change::Save(Save { place, image, saved }))
        };
        let image = self.commit_change(SAVE, Durability::Process, begin, change).await?;
        let (Some(image), Ok(outcome)) = (image, outcome.await) else {
            return Ok(Saved::NotLoaded);
        };
        let digest = match &outcome {
            Saved::Written { digest, .. } => Some(*digest),
            Saved::NotLoaded | Saved::Failed => None,
        };
        let end = move |db: &Connection| {
            match &digest {
                Some(digest) => image_rows::complete_image(db, image, digest)?,
                None => image_rows::delete_image(db, image)?,
            }
            image_rows::live_images(db)
        };
        let change = |live: &Vec<FileNumber>| Some(Change::DestroyImages { live: live.clone() });
        self.commit_change(SAVE, Durability::Process, end, change).await?;
        Ok(outcome)
    }

    fn lock_saving(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Blocks {
    /// Waits until all committed changes are applied: the thread must not touch files after the directory is unlocked.
    fn drop(&mut self) {
        self.changes = None;
        if self.thread.take().is_some_and(|it| it.join().is_err()) {
            tracing::error!("the thread of the index has panicked");
        }
    }
}

/// A space that waits to be saved. When it is dropped, the space no longer counts as waiting.
struct WaitingSpace {
    blocks: Weak<Blocks>,
    space: i64,
}

impl Drop for WaitingSpace {
    fn drop(&mut self) {
        if let Some(blocks) = self.blocks.upgrade() {
            blocks.lock_saving().remove(&self.space);
        }
    }
}

/// Saves a space once it has not changed for `pause`, or when its image is overdue. The database can be closed while
/// the space waits.
async fn save_when_quiet(waiting: WaitingSpace, pause: Duration) {
    let mut former = PointCounts::default();
    loop {
        sleep(pause).await;
        let Some(blocks) = waiting.blocks.upgrade() else { return };
        let Some(place) = blocks.find_due(waiting.space) else {
            let space = waiting.space;
            drop(waiting);
            // A change may have come while the space was still waiting.
            blocks.save_later(space);
            return;
        };
        let counts = place.point_counts();
        if counts == former || blocks.is_overdue(counts) {
            let saved = blocks.save(place).await;
            drop(blocks);
            match saved {
                Ok(Saved::Written { elapsed, .. }) => sleep((elapsed * REST_FACTOR).min(REST_MAX)).await,
                Ok(Saved::NotLoaded) => {}
                Ok(Saved::Failed) | Err(_) => sleep(REST_MAX).await,
            }
        }
        former = counts;
    }
}
