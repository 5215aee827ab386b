//! Empties the write-ahead log after an erasure. The log contains old pages with the erased data until it is
//! checkpointed into the file and truncated. Then the gaps of the pages are zeroed, step by step (`scrub`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::connections::BUSY;
use super::page_scrubber::Scrubber;

/// How long one attempt waits for readers that still use the log. Writes wait in the meantime.
const ATTEMPT: Duration = Duration::from_millis(50);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);
/// After this time, a warning is logged if a reader, such as a running backup, still keeps the log from being emptied.
/// The log is then emptied as soon as that reader is done.
const BOUND: Duration = Duration::from_secs(5);

/// Lets jobs request that the log be emptied.
#[derive(Clone, Debug, Default)]
pub(super) struct Request(Arc<AtomicBool>);

impl Request {
    pub(super) fn request_emptying(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The state of emptying the log: whether it was requested, and when.
pub(super) struct Log {
    requested: Request,
    scrubber: Scrubber,
    since: Option<Instant>,
    tried: Option<Instant>,
    /// A warning was logged since the log was last emptied.
    warned: bool,
}

impl Log {
    pub(super) fn new(requested: Request, scrubber: Scrubber) -> Log {
        Log {
            requested,
            scrubber,
            since: None,
            tried: None,
            warned: false,
        }
    }

    /// Returns true if the log still has to be emptied, or pages still have to be scrubbed.
    pub(super) fn is_pending(&self) -> bool {
        self.since.is_some()
    }

    /// Returns the time to wait for a job before the next attempt: zero unless a reader blocked the last attempt.
    pub(super) fn retry_pause(&self) -> Duration {
        self.tried.map_or(Duration::ZERO, |_| PAUSE)
    }

    /// Empties the log if requested and not blocked by readers, and scrubs some pages. While a reader blocks it, only
    /// one attempt is made per pause.
    pub(super) fn empty_if_requested(&mut self, connection: &Connection) {
        let now = Instant::now();
        if self.requested.0.swap(false, Ordering::AcqRel) {
            // One attempt serves earlier requests too.
            self.since = self.since.or(Some(now));
            self.tried = None;
            self.scrubber.request_pass();
        }
        let Some(since) = self.since else { return };
        if self.tried.is_some_and(|it| now.duration_since(it) < PAUSE) {
            return;
        }
        match empty_log(connection) {
            Ok(true) => {
                if let Err(error) = self.scrubber.run_step(connection) {
                    tracing::warn!(%error, "the pages of the store cannot be scrubbed after an erasure");
                }
                self.warned = false;
                // The time of the next attempt starts now, because only a reader that blocks the log is worth a
                // warning.
                self.since = self.scrubber.is_pending().then(Instant::now);
                self.tried = None;
                return;
            }
            Ok(false) if !self.warned && since.elapsed() > BOUND => {
                self.warned = true;
                tracing::warn!(
                    "a reader, such as a running backup, keeps the log of the store from being emptied after an erasure"
                );
            }
            Err(error) if !self.warned => {
                self.warned = true;
                tracing::warn!(%error, "the log of the store cannot be emptied after an erasure; it is tried again");
            }
            Ok(false) | Err(_) => {}
        }
        self.tried = Some(Instant::now());
    }
}

/// Checkpoints the log into the file and truncates it. Returns false if a reader still uses it.
fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(ATTEMPT)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY)?;
    busy.map(|it| !it)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber, callsite};

    use super::*;

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct Warnings(Arc<AtomicU64>);

    impl Subscriber for Warnings {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            if *event.metadata().level() == Level::WARN {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// On a full disk, each of some twenty attempts a second fails.
    #[test]
    fn a_log_that_cannot_be_emptied_is_reported_once_until_it_was_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.sqlite");
        let connection = Connection::open(&path).unwrap();
        let set_up = "PRAGMA journal_mode = WAL; CREATE TABLE t (a)";
        connection.execute_batch(set_up).unwrap();
        let requested = Request::default();
        let mut log = Log::new(requested.clone(), Scrubber::open(&path).unwrap());
        let warnings = Warnings::default();
        let _guard = tracing::subscriber::set_default(warnings.clone());
        callsite::rebuild_interest_cache();
        for expected in [1, 2] {
            // SQLite does not empty the log in a transaction.
            connection.execute_batch("BEGIN; INSERT INTO t VALUES (1)").unwrap();
            for _ in 0..3 {
                requested.request_emptying();
                log.empty_if_requested(&connection);
            }
            assert!(log.is_pending());
            assert_eq!(warnings.0.load(Ordering::Relaxed), expected);
            connection.execute_batch("COMMIT").unwrap();
            requested.request_emptying();
            while log.is_pending() {
                log.empty_if_requested(&connection);
            }
            assert_eq!(warnings.0.load(Ordering::Relaxed), expected);
        }
    }
}
