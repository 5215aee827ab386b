//! A cache of the views of the spaces that are asked often.
//!
//! A separate task reads each space, one task at a time. If a request is cancelled, the next one continues from there.
//! The view is arranged after all pages were read.

mod block_store;
mod read_ahead;
mod space_reader;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::SpaceId;
use domain::port::{Revision, SpaceInfo};
use domain::unit::Grain;
use host::Backends;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tracing::{Instrument, info_span};

use crate::error::{Error, to_port_error};
use crate::space::memory::Memory;
use crate::space::view::View;

use space_reader::Reading;

/// The present state of a space: its turns, its gists, and its derived objects.
#[derive(Clone)]
pub(crate) struct SpaceSnapshot {
    pub(crate) view: Arc<View>,
    /// The gists, which a language model wrote about the turns.
    pub(crate) gists: Arc<View>,
    pub(crate) memory: Arc<Memory>,
    /// Number of acts of the space when they were read last; `None` if they never were.
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
    state: Arc<Mutex<State>>,
    bytes: usize,
    used: u64,
}

/// The state of one space. The holder of its lock updates it; others wait.
#[derive(Default)]
struct State {
    /// Empty while the space is being read.
    snapshot: SpaceSnapshot,
    created_at: DateTime<Utc>,
    /// The revision that was read completely; `None` while the space is being read.
    revision: Option<Revision>,
    /// The task that reads the space, if a request was cancelled before its end; at most one.
    reading: JoinSet<(SpaceSnapshot, Result<(), PortError>)>,
}

impl Spaces {
    /// Keeps views of at most `bytes_max` bytes together. The view that was requested last is always kept.
    pub(crate) fn new(bytes_max: usize) -> Spaces {
        Spaces(Arc::new(CachedSpaces {
            slots: std::sync::Mutex::default(),
            bytes_max,
        }))
    }

    /// Returns a space with every change that `info` includes. It does not read the stores if all these changes were
    /// already read. A space that was erased and created again is read from the start.
    pub(crate) async fn read_space(&self, stores: &Backends, info: &SpaceInfo) -> Result<SpaceSnapshot, Error> {
        self.0.mark_as_used(&info.space);
        self.refresh_space(stores, info).await
    }

    /// Like [`Spaces::read_space`], without counting as a use of the space.
    async fn refresh_space(&self, stores: &Backends, info: &SpaceInfo) -> Result<SpaceSnapshot, Error> {
        let state = self.0.find_or_add_state(&info.space);
        let mut state = state.lock().await;
        if state.created_at != info.created_at {
            *state = State {
                created_at: info.created_at,
                ..State::default()
            };
        }
        if state.revision.is_some_and(|it| it.is_up_to_date_with(&info.revision)) {
            return Ok(state.snapshot.clone());
        }
        state.revision = None;
        // An error of an earlier task belongs to another request.
        let _ = state.wait_for_reading().await;
        let reading = Reading {
            stores: stores.clone(),
            space: info.space.clone(),
            curations: info.revision.curations,
            snapshot: std::mem::take(&mut state.snapshot),
            spaces: Arc::clone(&self.0),
        };
        state
            .reading
            .spawn(reading.read_and_arrange().instrument(info_span!("sync")));
        state.wait_for_reading().await?;
        state.revision = Some(info.revision);
        Ok(state.snapshot.clone())
    }

    /// Returns the cached state of a space after it was last read completely; `None` if it is not cached. It is used
    /// while the stores are unavailable.
    pub(crate) async fn cached_space(&self, space: &SpaceId) -> Option<SpaceSnapshot> {
        let state = self.0.find_state(space)?;
        let mut state = state.lock().await;
        let _ = state.wait_for_reading().await;
        state.snapshot.is_complete.then(|| state.snapshot.clone())
    }

    /// Drops a space that does not exist any more.
    pub(crate) fn forget_space(&self, space: &SpaceId) {
        self.0.lock_slots().slots.remove(space);
    }
}

impl Slots {
    fn size_in_bytes(&self) -> usize {
        self.slots.values().map(|it| it.bytes).sum()
    }
}

impl State {
    /// Waits for the task that reads the space, if there is one, and takes its result. It is safe to cancel at any
    /// await point.
    async fn wait_for_reading(&mut self) -> Result<(), PortError> {
        let Some(read) = self.reading.join_next().await else {
            return Ok(());
        };
        let (snapshot, outcome) = read.map_err(to_port_error)?;
        self.snapshot = snapshot;
        outcome
    }
}

impl CachedSpaces {
    fn lock_slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find_state(&self, space: &SpaceId) -> Option<Arc<Mutex<State>>> {
        self.lock_slots().slots.get(space).map(|it| Arc::clone(&it.state))
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

    fn find_or_add_state(&self, space: &SpaceId) -> Arc<Mutex<State>> {
        let mut all = self.lock_slots();
        let used = all.clock;
        let slot = all.slots.entry(space.clone()).or_insert_with(|| Slot {
            state: Arc::default(),
            bytes: 0,
            used,
        });
        Arc::clone(&slot.state)
    }

    /// Stores the size of a space and drops others if necessary. If a space is dropped while it is read, reading
    /// continues only if a request waits for it.
    fn set_size_and_evict(&self, space: &SpaceId, bytes: usize) {
        let mut all = self.lock_slots();
        if let Some(slot) = all.slots.get_mut(space) {
            slot.bytes = bytes;
        }
        while all.slots.len() > 1 && all.size_in_bytes() > self.bytes_max {
            let Some(oldest) = all.slots.iter().min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                return;
            };
            all.slots.remove(&oldest);
        }
    }
}
