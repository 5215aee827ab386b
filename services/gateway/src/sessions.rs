//! Sessions take turns: what one message of a session was told is noted before the next one asks.

use std::hash::{DefaultHasher, Hash, Hasher};

use domain::id::SpaceId;
use tokio::sync::{Mutex, MutexGuard};

/// Sessions that are served at once; two of them share a place now and then, and wait for each other.
const PLACES: usize = 256;

/// One place for each of so many sessions, whatever number there is.
pub(crate) struct Sessions(Vec<Mutex<()>>);

impl Sessions {
    pub(crate) fn new() -> Sessions {
        Sessions((0..PLACES).map(|_| Mutex::default()).collect())
    }

    /// Waits until no other message of the session is served by this gateway; what it returns is held until it is served.
    pub(crate) async fn turn(&self, space: &SpaceId, session: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        (space, session).hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default();
        self.0[place].lock().await
    }
}
