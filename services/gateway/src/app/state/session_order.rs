//! Messages of a session are served one after the other, so that the hints for one message are noted before the next is
//! served.

use std::hash::{DefaultHasher, Hash, Hasher};

use domain::id::SpaceId;
use tokio::sync::{Mutex, MutexGuard};

/// Number of locks. Two sessions may share one and then wait for each other.
const PLACES: usize = 256;

/// Locks for sessions: a fixed number for any number of sessions.
pub(crate) struct Sessions(Vec<Mutex<()>>);

impl Sessions {
    pub(crate) fn new() -> Sessions {
        Sessions((0..PLACES).map(|_| Mutex::default()).collect())
    }

    /// Waits until this gateway serves no other message of the session; the caller holds the guard while it serves its
    /// message.
    pub(crate) async fn lock_session(&self, space: &SpaceId, session: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        (space, session).hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default();
        self.0[place].lock().await
    }
}
