//! Empties the write-ahead log after an erasure. The log holds pages as they were before, with what was erased, until it is folded
//! into the file and cut to nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::open::BUSY;

/// How long one attempt waits for readers that still read the log. Writes wait meanwhile.
const ATTEMPT: Duration = Duration::from_millis(50);
/// Pause between two attempts.
pub(super) const PAUSE: Duration = Duration::from_millis(50);
/// Time within which the log is emptied unless a reader, such as a copy that is being made, holds it for longer; then it is
/// emptied as soon as that reader is done, and a line of the log of the service says so.
const BOUND: Duration = Duration::from_secs(5);

/// Lets jobs request that the log is emptied.
#[derive(Clone, Debug, Default)]
pub(super) struct Request(Arc<AtomicBool>);

impl Request {
    pub(super) fn request(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Whether the log is to be emptied, and since when.
#[derive(Debug, Default)]
pub(super) struct Log {
    requested: Request,
    since: Option<Instant>,
    tried: Option<Instant>,
    warned: bool,
}

impl Log {
    pub(super) fn new(requested: Request) -> Log {
        Log {
            requested,
            ..Log::default()
        }
    }

    /// Returns true if the log is still to be emptied.
    pub(super) fn is_pending(&self) -> bool {
        self.since.is_some()
    }

    /// Empties the log if that was requested and readers let it; not more often than once in a pause.
    pub(super) fn attend(&mut self, connection: &Connection) {
        let now = Instant::now();
        if self.requested.0.swap(false, Ordering::AcqRel) {
            // What was requested before is done by the same attempt.
            self.since = self.since.or(Some(now));
            self.tried = None;
        }
        let Some(since) = self.since else { return };
        if self.tried.is_some_and(|it| now.duration_since(it) < PAUSE) {
            return;
        }
        match emptied(connection) {
            Ok(true) => {
                self.since = None;
                self.warned = false;
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the log of the store cannot be emptied after an erasure"),
        }
        self.tried = Some(Instant::now());
        if self.since.is_some() && !self.warned && since.elapsed() > BOUND {
            self.warned = true;
            tracing::warn!(
                "a reader, such as a copy that is being made, keeps the log of the store from being emptied after an erasure"
            );
        }
    }
}

/// Folds the log into the file and cuts it to nothing; false if a reader still reads it.
fn emptied(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(ATTEMPT)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY)?;
    busy.map(|it| !it)
}
