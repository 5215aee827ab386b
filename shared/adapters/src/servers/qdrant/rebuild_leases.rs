//! Leases of rebuilds: the process that builds a generation renews it, and a generation that is not renewed is ended.
//!
//! Clocks of different machines are never compared. A process measures the time since it first saw the last renewal, and
//! the builder the time since it sent that renewal, which is longer. The builder gives up after half of the lease, which
//! leaves the other half to a call that is on its way: so no process ends a generation that its builder still activates.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::id::SpaceId;

use super::marker::Marker;

/// Time without a renewal after which a generation is ended.
pub(super) const LEASE: Duration = Duration::from_secs(15 * 60);

/// What one process knows about the renewals of generations.
pub(super) struct RebuildLeases {
    lease: Duration,
    seen: Mutex<HashMap<SpaceId, SeenRenewal>>,
    sent: Mutex<HashMap<SpaceId, SentRenewal>>,
}

/// The last renewal that a marker had, of a generation that any process builds.
#[derive(Clone, Copy)]
struct SeenRenewal {
    generation: i64,
    renewals: i64,
    since: Instant,
}

/// The last successful renewal of a generation that this process builds.
#[derive(Clone, Copy)]
struct SentRenewal {
    generation: i64,
    at: Instant,
}

impl RebuildLeases {
    pub(super) fn new(lease: Duration) -> RebuildLeases {
        RebuildLeases {
            lease,
            seen: Mutex::default(),
            sent: Mutex::default(),
        }
    }

    /// Returns the generation that is being built if it was not renewed since this process first saw its last renewal,
    /// the time of a lease ago.
    pub(super) fn expired_generation(&self, space: &SpaceId, marker: &Marker) -> Option<i64> {
        let mut seen = lock(&self.seen);
        let Some(generation) = marker.generation_being_built() else {
            seen.remove(space);
            return None;
        };
        let is_same = |it: &SeenRenewal| it.generation == generation && it.renewals == marker.renewals;
        match seen.get(space).copied().filter(is_same) {
            Some(last) => (last.since.elapsed() >= self.lease).then_some(generation),
            None => {
                let first = SeenRenewal {
                    generation,
                    renewals: marker.renewals,
                    since: Instant::now(),
                };
                seen.insert(space.clone(), first);
                None
            }
        }
    }

    /// Notes a successful renewal of a generation that this process builds. `at` is the time before it was sent.
    pub(super) fn note_renewal(&self, space: &SpaceId, generation: i64, at: Instant) {
        lock(&self.sent).insert(space.clone(), SentRenewal { generation, at });
    }

    /// Returns false if the last renewal of a generation that this process builds is so old that another process may end
    /// the generation.
    pub(super) fn is_renewed(&self, space: &SpaceId, generation: i64) -> bool {
        let last = lock(&self.sent).get(space).copied();
        last.is_none_or(|it| it.generation != generation || it.at.elapsed() < self.lease / 2)
    }

    /// Forgets the generation that this process has activated.
    pub(super) fn forget_renewal(&self, space: &SpaceId) {
        lock(&self.sent).remove(space);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
