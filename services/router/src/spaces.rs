//! The views of the spaces that are asked often, kept fresh.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::SpaceId;
use domain::port::Graph;
use tokio::sync::Mutex;
use tracing::{Instrument, info_span};

use crate::error::Error;
use crate::view::View;

/// Changes asked for at once.
const PAGE: usize = 1_000;

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
    view: Arc<View>,
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

    /// Returns the view of a space with every change that is stored now. A space that was erased and created again since
    /// `created_at` starts anew.
    pub(crate) async fn view(
        &self,
        graph: &dyn Graph,
        space: &SpaceId,
        created_at: DateTime<Utc>,
    ) -> Result<Arc<View>, Error> {
        let state = self.slot(space);
        let view = {
            let mut state = state.lock().await;
            if state.created_at != created_at {
                *state = State {
                    view: Arc::default(),
                    created_at,
                };
            }
            fresh(graph, space, &mut state.view)
                .instrument(info_span!("sync"))
                .await?;
            Arc::clone(&state.view)
        };
        self.weigh(space, view.bytes());
        Ok(view)
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

async fn fresh(graph: &dyn Graph, space: &SpaceId, view: &mut Arc<View>) -> Result<(), PortError> {
    loop {
        let changes = graph.changes(space, view.sequence(), PAGE).await?;
        let last = changes.len() < PAGE;
        if !changes.is_empty() {
            let old = std::mem::take(view);
            let taken = tokio::task::spawn_blocking(move || {
                let mut view = Arc::unwrap_or_clone(old);
                view.apply(changes);
                view
            });
            *view = Arc::new(taken.await.map_err(crate::error::crashed)?);
        }
        if last {
            return Ok(());
        }
    }
}
