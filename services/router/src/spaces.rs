//! A cache of the views of the spaces that are asked often.
//!
//! A separate task reads each space, one task at a time. If a request is cancelled, the next one continues from there.
//! The view is arranged after all pages were read.

mod ahead;
mod reading;

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
use tracing::{Instrument, debug, info_span};

use crate::error::{Error, crashed};
use crate::memory::Memory;
use crate::view::{Computed, VERSION, View};

use reading::Reading;

/// Number of images that are stored in one step.
const IMAGES_AT_ONCE: usize = 500;

/// The present state of a space: its turns, its gists, and its derived objects.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) view: Arc<View>,
    /// The gists, which a language model wrote about the turns.
    pub(crate) gists: Arc<View>,
    pub(crate) memory: Arc<Memory>,
    /// Number of acts of the space when they were read last; `None` if they never were.
    decided: Option<u64>,
    /// True if it was read to the end at least once.
    whole: bool,
    /// Turns that were computed since images were last stored.
    imageless: Arc<std::sync::Mutex<Vec<Computed>>>,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            view: Arc::default(),
            gists: Arc::new(View::of_grain(Grain::Gist)),
            memory: Arc::default(),
            decided: None,
            whole: false,
            imageless: Arc::default(),
        }
    }
}

impl Seen {
    /// Returns true if the space has gists, which a language model wrote.
    pub(crate) fn has_gists(&self) -> bool {
        !self.gists.turns().is_empty()
    }
}

/// Views by space. The least recently used views are dropped if all together exceed a limit.
pub(crate) struct Spaces(Arc<Kept>);

struct Kept {
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
    seen: Seen,
    created_at: DateTime<Utc>,
    /// The revision that was read completely; `None` while the space is being read.
    revision: Option<Revision>,
    /// The task that reads the space, if a request was cancelled before its end; at most one.
    reading: JoinSet<(Seen, Result<(), PortError>)>,
}

impl Spaces {
    /// Keeps views of at most `bytes_max` bytes together. The view that was requested last is always kept.
    pub(crate) fn new(bytes_max: usize) -> Spaces {
        Spaces(Arc::new(Kept {
            slots: std::sync::Mutex::default(),
            bytes_max,
        }))
    }

    /// Returns a space with every change that `info` includes. It does not read the stores if all these changes were
    /// already read. A space that was erased and created again is read from the start.
    pub(crate) async fn seen(&self, stores: &Backends, info: &SpaceInfo) -> Result<Seen, Error> {
        self.0.touch(&info.space);
        self.refreshed(stores, info).await
    }

    /// Like [`Spaces::seen`], without counting as a use of the space.
    async fn refreshed(&self, stores: &Backends, info: &SpaceInfo) -> Result<Seen, Error> {
        let state = self.0.slot(&info.space);
        let mut state = state.lock().await;
        if state.created_at != info.created_at {
            *state = State {
                created_at: info.created_at,
                ..State::default()
            };
        }
        if state.revision.is_some_and(|it| it.covers(&info.revision)) {
            return Ok(state.seen.clone());
        }
        state.revision = None;
        // An error of an earlier task belongs to another request.
        let _ = state.settled().await;
        let reading = Reading {
            stores: stores.clone(),
            space: info.space.clone(),
            curations: info.revision.curations,
            seen: std::mem::take(&mut state.seen),
            kept: Arc::clone(&self.0),
        };
        state.reading.spawn(reading.finished().instrument(info_span!("sync")));
        state.settled().await?;
        state.revision = Some(info.revision);
        Ok(state.seen.clone())
    }

    /// Returns the cached state of a space after it was last read completely; `None` if it is not cached. It is used
    /// while the stores are unavailable.
    pub(crate) async fn kept(&self, space: &SpaceId) -> Option<Seen> {
        let state = self.0.known(space)?;
        let mut state = state.lock().await;
        let _ = state.settled().await;
        state.seen.whole.then(|| state.seen.clone())
    }

    /// Stores the images of computed turns of a space, if the space is cached. If the store fails, the remaining images
    /// are dropped; their turns are computed again at the next start.
    async fn store_images(&self, stores: &Backends, space: &SpaceId) {
        let Some(seen) = self.kept(space).await else { return };
        let computed = std::mem::take(&mut *seen.imageless.lock().unwrap_or_else(PoisonError::into_inner));
        for some in computed.chunks(IMAGES_AT_ONCE) {
            let (view, some) = (Arc::clone(&seen.view), some.to_vec());
            let images = tokio::task::spawn_blocking(move || view.images(&some))
                .await
                .unwrap_or_default();
            if let Err(error) = stores.graph.put_images(space, VERSION, &images).await {
                debug!(error = &error as &dyn std::error::Error, %space, "images of turns were not stored");
                return;
            }
        }
    }

    /// Drops a space that does not exist any more.
    pub(crate) fn forget(&self, space: &SpaceId) {
        self.0.slots().slots.remove(space);
    }
}

impl Slots {
    fn bytes(&self) -> usize {
        self.slots.values().map(|it| it.bytes).sum()
    }
}

impl State {
    /// Waits for the task that reads the space, if there is one, and takes its result. It is safe to cancel at any
    /// await point.
    async fn settled(&mut self) -> Result<(), PortError> {
        let Some(read) = self.reading.join_next().await else {
            return Ok(());
        };
        let (seen, outcome) = read.map_err(crashed)?;
        self.seen = seen;
        outcome
    }
}

impl Kept {
    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, space: &SpaceId) -> Option<Arc<Mutex<State>>> {
        self.slots().slots.get(space).map(|it| Arc::clone(&it.state))
    }

    fn is_kept(&self, space: &SpaceId) -> bool {
        self.slots().slots.contains_key(space)
    }

    fn is_half_free(&self) -> bool {
        self.slots().bytes() < self.bytes_max / 2
    }

    /// Marks a space as used now.
    fn touch(&self, space: &SpaceId) {
        let mut all = self.slots();
        all.clock += 1;
        let used = all.clock;
        if let Some(slot) = all.slots.get_mut(space) {
            slot.used = used;
        }
    }

    fn slot(&self, space: &SpaceId) -> Arc<Mutex<State>> {
        let mut all = self.slots();
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
    fn weigh(&self, space: &SpaceId, bytes: usize) {
        let mut all = self.slots();
        if let Some(slot) = all.slots.get_mut(space) {
            slot.bytes = bytes;
        }
        while all.slots.len() > 1 && all.bytes() > self.bytes_max {
            let Some(oldest) = all.slots.iter().min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                return;
            };
            all.slots.remove(&oldest);
        }
    }
}
