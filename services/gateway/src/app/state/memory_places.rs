//! Cache of the spaces of memories whose ids a caller was shown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::{SpaceId, UnitId};

/// Minimum number of ids in the cache; the maximum is twice this number.
const PLACES: usize = 50_000;

/// Cache of the spaces of recently shown memories.
#[derive(Default)]
pub(crate) struct MemoryPlaces(Mutex<Halves>);

/// Ids shown since the last swap of the halves, and ids shown before it.
#[derive(Default)]
struct Halves {
    new: HashMap<UnitId, Arc<SpaceId>>,
    old: HashMap<UnitId, Arc<SpaceId>>,
}

impl MemoryPlaces {
    /// Caches the space of memories.
    pub(crate) fn cache_space(&self, space: &SpaceId, ids: impl IntoIterator<Item = UnitId>) {
        let space = Arc::new(space.clone());
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if halves.new.len() >= PLACES {
                halves.old = std::mem::take(&mut halves.new);
            }
            halves.new.insert(id, Arc::clone(&space));
        }
    }

    /// Returns the cached space of a memory.
    pub(crate) fn cached_space(&self, id: UnitId) -> Option<SpaceId> {
        let halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = halves.new.get(&id).or_else(|| halves.old.get(&id));
        found.map(|it| SpaceId::clone(it))
    }
}
