//! The blocks of an open file: changes are committed to the file, applied by one thread in the order of their commits,
//! and saved as images when a space was not changed for a while.

use std::collections::HashSet;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use domain::id::{SpaceId, UnitId};
use domain::port::{Point, Result};
use domain::{ErrorKind, PortError};
use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::cache::{Cache, SlotPlaces};
use super::image_folder::{ImageDigest, ImageFolder, ImageId};
use super::image_rows;
use crate::embedded::store::{Durability, Outcome, Store};
use crate::{OpenError, Options};

/// Maximum number of changes in the queue; when it is full, the writer waits.
const CHANGES_MAX: usize = 1_024;
/// An image is written when this share of its points has been added since.
const ADDED_SHARE: usize = 16;
/// While a space keeps changing, an image is written only when its memory holds this many times the least number of
/// points, and as many points as its last image.
const BUSY_FACTOR: usize = 4;
const SAVE: &str = "index.save";
/// Pause after an image could not be written, for example because the disk is full.
const RETRY_PAUSE: Duration = Duration::from_secs(600);

/// The blocks of all spaces, and how they change.
pub(super) struct Blocks {
    pub(super) store: Arc<Store>,
    pub(super) cache: Arc<Cache>,
    changes: SyncSender<Applied>,
    /// The rows of the spaces that wait until they are saved.
    saving: Mutex<HashSet<i64>>,
    image_points_least: usize,
    image_pause: Duration,
}

/// A committed change of the points of a space. `live` are the images of all spaces at its commit; the files of others
/// are destroyed.
pub(super) enum Change {
    Put {
        space: i64,
        points: Arc<Vec<Point>>,
        retired: Arc<Vec<UnitId>>,
        /// Given if a point has changed that lies in an image.
        live: Option<Vec<ImageId>>,
    },
    /// Evicts the block; the next search reads it from the file again.
    Forget { space: SpaceId, live: Vec<ImageId> },
    /// Writes an image of the block, which holds every point at the commit of this change. `written` gets its digest,
    /// or `None` if it could not be written.
    Save {
        space: i64,
        image: ImageId,
        live: Vec<ImageId>,
        written: oneshot::Sender<Option<ImageDigest>>,
    },
}

/// A change to apply, and the channel that is notified.
struct Applied(Change, oneshot::Sender<()>);

impl Blocks {
    /// Starts the thread that applies changes, and destroys the files of images that are not used any more.
    pub(super) fn start(store: Arc<Store>, options: &Options) -> std::result::Result<Blocks, OpenError> {
        let images = ImageFolder::of_database(store.path());
        let unusable = |source: io::Error| OpenError::Directory {
            path: store.path().to_owned(),
            source,
        };
        let live = store.read_here("index.open", image_rows::live_images);
        images.keep_only(&live.map_err(|error| unusable(io::Error::other(error)))?);
        let cache = Arc::new(Cache::new(options.index_bytes_max, images));
        let (changes, waiting) = sync_channel(CHANGES_MAX);
        let blocks = Arc::clone(&cache);
        let apply = move || {
            for Applied(change, applied) in waiting {
                blocks.apply_change(change);
                // A caller that no longer waits does not need the notification.
                let _ = applied.send(());
            }
        };
        let thread = std::thread::Builder::new().name("mnemic-index".to_owned()).spawn(apply);
        thread.map_err(unusable)?;
        Ok(Blocks {
            store,
            cache,
            changes,
            saving: Mutex::default(),
            image_points_least: options.index_image_points_least,
            image_pause: options.index_image_pause,
        })
    }

    /// Commits `job`, then waits until its change is searchable. Returns the result of the job.
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
        C: FnOnce(&T) -> Change + Send + 'static,
    {
        let (sender, applied) = oneshot::channel();
        let changes = self.changes.clone();
        let then = move |value: &T| drop(changes.send(Applied(change(value), sender)));
        let value = self.store.write_then(operation, durability, job, then).await?;
        let ended = |_| PortError::new(operation, ErrorKind::Internal, "the index has stopped");
        applied.await.map_err(ended)?;
        Ok(value)
    }

    /// Saves a space as soon as it is not changed any more, if it holds enough points that are in no image.
    pub(super) fn save_when_quiet(self: &Arc<Self>, space: i64) {
        if self.is_due(space).is_some() && self.lock_saving().insert(space) {
            tokio::spawn(save_when_quiet(Arc::downgrade(self), space, self.image_pause));
        }
    }

    /// Returns where the points of a space lie, if an image is due.
    fn is_due(&self, space: i64) -> Option<SlotPlaces> {
        let places = self.cache.find_slot(space)?.slot_places()?;
        let least = self.image_points_least.max(places.image / ADDED_SHARE);
        (places.memory >= least).then_some(places)
    }

    /// Returns true if an image must not wait any longer.
    fn is_overdue(&self, places: SlotPlaces) -> bool {
        places.memory >= places.image.max(self.image_points_least.saturating_mul(BUSY_FACTOR))
    }

    /// Writes an image of a space. Returns false if it could not be written.
    async fn save(&self, space: i64) -> Result<bool> {
        let (written, digest) = oneshot::channel();
        let job = move |db: &Connection| {
            let image = image_rows::begin_image(db, space)?;
            Ok((image, image_rows::live_images(db)?))
        };
        let change = move |it: &(ImageId, Vec<ImageId>)| Change::Save {
            space,
            image: it.0,
            live: it.1.clone(),
            written,
        };
        let (image, _) = self.commit_change(SAVE, Durability::Process, job, change).await?;
        let digest = digest.await.ok().flatten();
        let note = move |db: &Connection| match &digest {
            Some(digest) => image_rows::complete_image(db, image, digest),
            None => image_rows::delete_image(db, image),
        };
        self.store.run_write(SAVE, Durability::Process, note).await?;
        Ok(digest.is_some())
    }

    fn lock_saving(&self) -> std::sync::MutexGuard<'_, HashSet<i64>> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a space is quiet, and saves it. The file can be closed meanwhile.
async fn save_when_quiet(blocks: Weak<Blocks>, space: i64, pause: Duration) {
    let mut former = SlotPlaces::default();
    loop {
        sleep(pause).await;
        let Some(blocks) = blocks.upgrade() else { return };
        let Some(places) = blocks.is_due(space) else {
            blocks.lock_saving().remove(&space);
            return;
        };
        if places == former || blocks.is_overdue(places) {
            match blocks.save(space).await {
                Ok(true) => {}
                Ok(false) | Err(_) => {
                    drop(blocks);
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
        former = places;
    }
}
