//! A cache of the views of the spaces that are asked often.
//!
//! A separate task reads each space, one task at a time. If a request is cancelled, the next one continues from there.
//! A space that was read before is brought up to date in steps, and can be asked between them.

mod block_store;
mod mapped_blocks;
mod read_ahead;
mod space_content;
mod space_reader;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::SpaceId;
use domain::port::SpaceInfo;
use domain::unit::Grain;
use host::Backends;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tracing::{Instrument, info_span};

use crate::error::{Error, to_port_error};
use crate::space::memory::Memory;
use crate::space::view::View;

use space_content::SpaceContent;
use space_reader::Reading;

/// The present state of a space: its turns, its gists, and its derived objects.
#[derive(Clone)]
pub(crate) struct SpaceSnapshot {
    pub(crate) view: Arc<View>,
    /// The gists, which a language model wrote about the turns.
    pub(crate) gists: Arc<View>,
    pub(crate) memory: Arc<Memory>,
    /// Number of acts of the space that are known to be applied; `None` if they were never read. There may be more.
    decided: Option<u64>,
    /// True if the space was read to the end at least once.
    is_complete: bool,
}

impl Default for SpaceSnapshot {
    fn default() -> SpaceSnapshot {
        SpaceSnapshot {
            view: Arc::default(),
            gists: Arc::new(View::of_grain(Grain::Gist)),
            memory: Arc::default(),
            decided: None,
            is_complete: false,
        }
    }
}

impl SpaceSnapshot {
    /// Returns true if the space has gists, which a language model wrote.
    pub(crate) fn has_gists(&self) -> bool {
        !self.gists.turns().is_empty()
    }
}

/// Views by space. The least recently used views are dropped if all together exceed a limit.
pub(crate) struct Spaces(Arc<CachedSpaces>);

struct CachedSpaces {
    slots: std::sync::Mutex<Slots>,
    bytes_max: usize,
}

#[derive(Default)]
struct Slots {
    slots: HashMap<SpaceId, Slot>,
    clock: u64,
}

struct Slot {
    space: Arc<CachedSpace>,
    bytes: usize,
    used: u64,
}

/// The cached content of one space, and the task that reads it.
#[derive(Default)]
struct CachedSpace {
    /// What was read of the space. A space that was erased and created again gets a new content.
    content: std::sync::Mutex<Arc<SpaceContent>>,
    /// The request that holds the lock waits for the task that reads the space; other requests wait for the lock.
    reading: Mutex<RunningReading>,
}

/// The task that reads a space into a content; at most one. It may belong to a request that was cancelled.
#[derive(Default)]
struct RunningReading {
    content: Arc<SpaceContent>,
    tasks: JoinSet<Result<(), PortError>>,
}

impl Spaces {
    /// Keeps views of at most `bytes_max` bytes together. The view that was requested last is always kept.
    pub(crate) fn new(bytes_max: usize) -> Spaces {
        Spaces(Arc::new(CachedSpaces {
            slots: std::sync::Mutex::default(),
            bytes_max,
        }))
    }

    /// Returns a space with every change that `info` includes, except acts that the store does not list yet. It does
    /// not read the stores if all these changes were already read. A space that was erased and created again is read
    /// from the start.
    pub(crate) async fn read_space(&self, stores: &Backends, info: &SpaceInfo) -> Result<SpaceSnapshot, Error> {
        self.0.mark_as_used(&info.space);
        self.refresh_space(stores, info).await
    }

    /// Like [`Spaces::read_space`], without counting as a use of the space.
    async fn refresh_space(&self, stores: &Backends, info: &SpaceInfo) -> Result<SpaceSnapshot, Error> {
        let space = self.0.find_or_add_space(&info.space);
        let content = space.content_created_at(info.created_at);
        let mut steps = content.watch_steps();
        if let Some(snapshot) = content.snapshot_at(&info.revision).await {
            return Ok(snapshot);
        }
        let mut running = space.reading.lock().await;
        if !Arc::ptr_eq(&running.content, &content) {
            *running = RunningReading {
                content: Arc::clone(&content),
                tasks: JoinSet::new(),
            };
        }
        let mut is_own = false;
        loop {
            steps.mark_unchanged();
            if let Some(snapshot) = content.snapshot_at(&info.revision).await {
                return Ok(snapshot);
            }
            if running.tasks.is_empty() {
                is_own = true;
                let reading = Reading {
                    stores: stores.clone(),
                    info: info.clone(),
                    content: Arc::clone(&content),
                    spaces: Arc::clone(&self.0),
                };
                running
                    .tasks
                    .spawn(reading.read_changes().instrument(info_span!("sync")));
            }
            tokio::select! {
                _ = steps.changed() => {}
                Some(ended) = running.tasks.join_next() => {
                    // An error of an earlier task belongs to another request.
                    ended.map_err(to_port_error).flatten().or_else(|error| if is_own { Err(error) } else { Ok(()) })?;
                    // If the store listed fewer acts than `info` includes, the space stays behind `info`.
                    if is_own && let Some(snapshot) = content.complete_snapshot().await {
                        return Ok(snapshot);
                    }
                }
            }
        }
    }

    /// Returns a space as it was read before, which may lack the latest writes; `None` if it was never read to the end,
    /// was created again since, or lacks an act that `info` includes.
    pub(crate) async fn earlier_space(&self, info: &SpaceInfo) -> Option<SpaceSnapshot> {
        let space = self.0.find_space(&info.space)?;
        let content = space.content();
        let snapshot = content.complete_snapshot().await?;
        let has_acts = snapshot.decided >= Some(info.revision.curations);
        (content.created_at() == info.created_at && has_acts).then_some(snapshot)
    }

    /// Returns the cached state of a space; `None` if it was never read to the end. It may lack any change, even the
    /// forgetting of a unit. If the [`SpaceInfo`] could be read, [`Spaces::earlier_space`] is to be used.
    pub(crate) async fn cached_space(&self, space: &SpaceId) -> Option<SpaceSnapshot> {
        let content = self.0.find_space(space)?.content();
        content.complete_snapshot().await
    }

    /// Drops a space that does not exist any more.
    pub(crate) fn forget_space(&self, space: &SpaceId) {
        // Freeing a large space takes time, in which questions would wait for the lock.
        let removed = self.0.lock_slots().slots.remove(space);
        drop(removed);
    }
}

impl Slots {
    fn size_in_bytes(&self) -> usize {
        self.slots.values().map(|it| it.bytes).sum()
    }
}

impl CachedSpace {
    fn content(&self) -> Arc<SpaceContent> {
        Arc::clone(&self.content.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the content of the space that was created at a moment, which replaces another one.
    fn content_created_at(&self, created_at: DateTime<Utc>) -> Arc<SpaceContent> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if content.created_at() == created_at {
            return Arc::clone(&content);
        }
        let created = Arc::new(SpaceContent::of_space_created_at(created_at));
        let former = std::mem::replace(&mut *content, Arc::clone(&created));
        drop(content);
        drop(former);
        created
    }
}

impl CachedSpaces {
    fn lock_slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find_space(&self, space: &SpaceId) -> Option<Arc<CachedSpace>> {
        self.lock_slots().slots.get(space).map(|it| Arc::clone(&it.space))
    }

    fn is_kept(&self, space: &SpaceId) -> bool {
        self.lock_slots().slots.contains_key(space)
    }

    fn is_half_free(&self) -> bool {
        self.lock_slots().size_in_bytes() < self.bytes_max / 2
    }

    /// Marks a space as used now.
    fn mark_as_used(&self, space: &SpaceId) {
        let mut all = self.lock_slots();
        all.clock += 1;
        let used = all.clock;
        if let Some(slot) = all.slots.get_mut(space) {
            slot.used = used;
        }
    }

    fn find_or_add_space(&self, space: &SpaceId) -> Arc<CachedSpace> {
        let mut all = self.lock_slots();
        let used = all.clock;
        let slot = all.slots.entry(space.clone()).or_insert_with(|| Slot {
            space: Arc::default(),
            bytes: 0,
            used,
        });
        Arc::clone(&slot.space)
    }

    /// Stores the size of a space and drops others if necessary. If a space is dropped while it is read, reading
    /// continues only if a request waits for it.
    fn set_size_and_evict(&self, space: &SpaceId, bytes: usize) {
        let mut all = self.lock_slots();
        if let Some(slot) = all.slots.get_mut(space) {
            slot.bytes = bytes;
        }
        let mut evicted = Vec::new();
        while all.slots.len() > 1 && all.size_in_bytes() > self.bytes_max {
            let Some(oldest) = all.slots.iter().min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                break;
            };
            evicted.extend(all.slots.remove(&oldest));
        }
        drop(all);
        drop(evicted);
    }
}
