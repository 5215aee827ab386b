//! The views of the spaces that are asked often, kept fresh.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::curation::Curation;
use domain::id::SpaceId;
use domain::port::{Change, DerivedChange, Records};
use host::Backends;
use tokio::sync::Mutex;
use tracing::{Instrument, info_span};

use crate::error::Error;
use crate::memory::Memory;
use crate::view::View;

/// Changes and curations asked for at once.
const PAGE: usize = 1_000;

/// A space as it is stored now: its turns, and what is derived of it.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) view: Arc<View>,
    pub(crate) memory: Arc<Memory>,
}

/// Views by space, the least recently used dropped when together they take more than a bound.
pub(crate) struct Spaces {
    slots: std::sync::Mutex<Slots>,
    bytes_max: usize,
}

#[derive(Default)]
struct Slots {
    slots: HashMap<SpaceId, Slot>,
    clock: u64,
}

#[derive(Clone)]
struct Slot {
    state: Arc<Mutex<State>>,
    bytes: usize,
    used: u64,
}

/// One space; whoever holds it brings it up to date, others wait.
#[derive(Default)]
struct State {
    seen: Seen,
    created_at: DateTime<Utc>,
}

impl Spaces {
    /// Keeps views of at most `bytes_max` bytes together; the one asked for last is always kept.
    pub(crate) fn new(bytes_max: usize) -> Spaces {
        Spaces {
            slots: std::sync::Mutex::default(),
            bytes_max,
        }
    }

    /// Returns a space with every change that is stored now. A space that was erased and created again since `created_at`
    /// starts anew.
    pub(crate) async fn seen(
        &self,
        stores: &Backends,
        space: &SpaceId,
        created_at: DateTime<Utc>,
    ) -> Result<Seen, Error> {
        let state = self.slot(space);
        let seen = {
            let mut state = state.lock().await;
            if state.created_at != created_at {
                *state = State {
                    seen: Seen::default(),
                    created_at,
                };
            }
            fresh(stores, space, &mut state.seen)
                .instrument(info_span!("sync"))
                .await?;
            state.seen.clone()
        };
        self.weigh(space, seen.view.bytes() + seen.memory.bytes());
        Ok(seen)
    }

    /// Forgets a space that is gone.
    pub(crate) fn forget(&self, space: &SpaceId) {
        self.slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .slots
            .remove(space);
    }

    fn slot(&self, space: &SpaceId) -> Arc<Mutex<State>> {
        let mut all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        all.clock += 1;
        let used = all.clock;
        let slot = all.slots.entry(space.clone()).or_insert_with(|| Slot {
            state: Arc::default(),
            bytes: 0,
            used,
        });
        slot.used = used;
        Arc::clone(&slot.state)
    }

    fn weigh(&self, space: &SpaceId, bytes: usize) {
        let mut all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = all.slots.get_mut(space) {
            slot.bytes = bytes;
        }
        while all.slots.len() > 1 && all.slots.values().map(|it| it.bytes).sum::<usize>() > self.bytes_max {
            let Some(oldest) = all.slots.iter().min_by_key(|it| it.1.used).map(|it| it.0.clone()) else {
                return;
            };
            all.slots.remove(&oldest);
        }
    }
}

async fn fresh(stores: &Backends, space: &SpaceId, seen: &mut Seen) -> Result<(), PortError> {
    let (curations, ()) = tokio::try_join!(decided(&*stores.records, space), follow(stores, space, seen))?;
    if !seen.memory.is_decided(&curations) {
        Arc::make_mut(&mut seen.memory).decide(&curations);
    }
    let marks = seen.memory.marks();
    if *seen.view.marks() != marks {
        Arc::make_mut(&mut seen.view).mark(marks);
    }
    Ok(())
}

/// All acts of a space: one may take back any other.
async fn decided(records: &dyn Records, space: &SpaceId) -> Result<Vec<Curation>, PortError> {
    let mut all: Vec<Curation> = Vec::new();
    loop {
        let after = all.last().map(|it| it.id);
        let page = records.curations(space, after, PAGE).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

async fn follow(stores: &Backends, space: &SpaceId, seen: &mut Seen) -> Result<(), PortError> {
    loop {
        let (changes, derived) = tokio::try_join!(
            stores.graph.changes(space, seen.view.sequence(), PAGE),
            stores.graph.derived_changes(space, seen.memory.sequence(), PAGE)
        )?;
        let last = changes.len() < PAGE && derived.len() < PAGE;
        if !changes.is_empty() || !derived.is_empty() {
            // What is cut off half-way is read again from the start.
            let old = std::mem::take(seen);
            let taken = tokio::task::spawn_blocking(move || old.with(changes, derived));
            *seen = taken.await.map_err(crate::error::crashed)?;
        }
        if last {
            return Ok(());
        }
    }
}

impl Seen {
    fn with(self, changes: Vec<Change>, derived: Vec<DerivedChange>) -> Seen {
        let mut memory = Arc::unwrap_or_clone(self.memory);
        let mut view = self.view;
        memory.take_derived(derived);
        if !changes.is_empty() {
            memory.take_units(&changes);
            let mut own = Arc::unwrap_or_clone(view);
            own.apply(changes);
            view = Arc::new(own);
        }
        Seen {
            view,
            memory: Arc::new(memory),
        }
    }
}
