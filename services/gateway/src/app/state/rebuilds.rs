//! The rebuilds that this process started, with their progress.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::id::SpaceId;

use crate::api::problem::Problem;
use crate::api::{Rebuild, RebuildState};

/// Maximum number of rebuilds in memory; the oldest finished ones are removed.
const REMEMBERED_MAX: usize = 1_000;

/// The rebuilds of this process, by space.
#[derive(Default)]
pub(crate) struct Rebuilds(Mutex<BTreeMap<SpaceId, Rebuild>>);

impl Rebuilds {
    /// Returns the last rebuild of a space.
    pub(crate) fn get(&self, space: &SpaceId) -> Option<Rebuild> {
        self.lock_rebuilds().get(space).cloned()
    }

    /// Notes the start of a rebuild. Fails if one is running.
    pub(crate) fn begin_rebuild(&self, space: &SpaceId, of: u64) -> Result<Rebuild, Problem> {
        let mut all = self.lock_rebuilds();
        if all.get(space).is_some_and(|it| it.state == RebuildState::Running) {
            return Err(Problem::conflict(
                "the space is already being rebuilt; GET reports the progress",
            ));
        }
        if all.len() >= REMEMBERED_MAX {
            all.retain(|_, it| it.state == RebuildState::Running);
        }
        let rebuild = Rebuild {
            space: space.clone(),
            state: RebuildState::Running,
            records: 0,
            of,
        };
        all.insert(space.clone(), rebuild.clone());
        Ok(rebuild)
    }

    /// Stores the number of records that a rebuild has made searchable again.
    pub(crate) fn set_progress(&self, space: &SpaceId, records: u64) {
        if let Some(it) = self.lock_rebuilds().get_mut(space) {
            it.records = records;
        }
    }

    /// Notes that a rebuild ended.
    pub(crate) fn set_state(&self, space: &SpaceId, state: RebuildState) {
        if let Some(it) = self.lock_rebuilds().get_mut(space) {
            it.state = state;
        }
    }

    fn lock_rebuilds(&self) -> MutexGuard<'_, BTreeMap<SpaceId, Rebuild>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
