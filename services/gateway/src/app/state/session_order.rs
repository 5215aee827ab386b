//! Messages of a session are served one after the other, so that the hints for one message are noted before the next is
//! served.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use domain::id::SpaceId;
use tokio::sync::OwnedMutexGuard;

/// A lock for each session with a message in progress. Sessions never share a lock, because the waits of a caller would
/// then depend on sessions of other spaces.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<SessionPlace, Weak<tokio::sync::Mutex<()>>>>);

/// A session by name.
#[derive(PartialEq, Eq, Hash)]
struct SessionPlace {
    space: SpaceId,
    session: String,
}

impl Sessions {
    /// Waits until this gateway serves no other message of the session; the caller holds the guard while it serves its
    /// message.
    pub(crate) async fn lock_session(&self, space: &SpaceId, session: &str) -> OwnedMutexGuard<()> {
        let place = SessionPlace {
            space: space.clone(),
            session: session.to_owned(),
        };
        self.lock_of_session(place).lock_owned().await
    }

    /// Returns the lock of a session, which is kept as long as somebody holds it or waits for it.
    fn lock_of_session(&self, place: SessionPlace) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&place).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, it| it.strong_count() > 0);
        let lock = Arc::default();
        locks.insert(place, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// More sessions than a table of fixed size could keep apart.
    const SESSIONS: usize = 1_000;

    fn space(name: &str) -> SpaceId {
        name.parse().unwrap()
    }

    #[test]
    fn only_messages_of_one_session_wait_for_each_other() {
        let sessions = Sessions::default();
        let ann = space("ann");
        let lock = |number: usize| sessions.lock_session(&ann, &number.to_string()).now_or_never();
        let held: Vec<_> = (0..SESSIONS).map(lock).collect();
        assert!(held.iter().all(Option::is_some), "a session waits for another one");
        assert!(lock(0).is_none(), "the session has a message in progress");
        let elsewhere = sessions.lock_session(&space("ben"), "0").now_or_never();
        assert!(elsewhere.is_some(), "the session of another space");
        drop(held);
        assert!(lock(0).is_some());
    }

    #[test]
    fn locks_that_nobody_holds_are_removed() {
        let sessions = Sessions::default();
        let ann = space("ann");
        let held = sessions.lock_session(&ann, "held").now_or_never();
        for number in 0..SESSIONS {
            assert!(
                sessions
                    .lock_session(&ann, &number.to_string())
                    .now_or_never()
                    .is_some()
            );
        }
        assert!(sessions.0.lock().unwrap().len() <= 2);
        assert!(sessions.lock_session(&ann, "held").now_or_never().is_none());
        drop(held);
    }
}
