//! What was read of one space.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::port::Revision;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, watch};
use tokio::time::{Instant, sleep};

use super::SpaceSnapshot;
use crate::error::to_port_error;

/// Size above which a change waits for running questions. A change to a smaller space copies the space instead.
const COPIED_BYTES: usize = 4 << 20;
/// Longest time that a change waits for running questions; new questions wait for the change. Questions about a million
/// turns take 0.2 s (95th percentile, idle machine).
const WAIT_FOR_QUESTIONS: Duration = Duration::from_secs(1);
/// Time between two checks whether questions still use a space.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// What was read of a space, from its creation to its erasure.
#[derive(Default)]
pub(super) struct SpaceContent {
    created_at: DateTime<Utc>,
    read: Arc<RwLock<ReadChanges>>,
    /// Counts the changes to `read`.
    steps: watch::Sender<u64>,
}

/// The state of a space after some of its changes.
#[derive(Default)]
struct ReadChanges {
    snapshot: SpaceSnapshot,
    /// The revision up to which all changes were read.
    revision: Revision,
}

impl SpaceContent {
    /// Makes an empty content for the space that was created at a moment.
    pub(super) fn of_space_created_at(created_at: DateTime<Utc>) -> SpaceContent {
        SpaceContent {
            created_at,
            ..SpaceContent::default()
        }
    }

    pub(super) fn created_at(&self) -> DateTime<Utc> {
        self.created_at
    }

    /// Returns a receiver that is notified after each change.
    pub(super) fn watch_steps(&self) -> watch::Receiver<u64> {
        self.steps.subscribe()
    }

    /// Returns the space if everything up to a revision was read.
    pub(super) async fn snapshot_at(&self, revision: &Revision) -> Option<SpaceSnapshot> {
        let read = self.read.read().await;
        let is_read = read.snapshot.is_complete && read.revision.is_up_to_date_with(revision);
        is_read.then(|| read.snapshot.clone())
    }

    /// Returns the space if it was read to the end at least once.
    pub(super) async fn complete_snapshot(&self) -> Option<SpaceSnapshot> {
        let read = self.read.read().await;
        read.snapshot.is_complete.then(|| read.snapshot.clone())
    }

    /// Returns the result of a function of the space as far as it was read. Unlike a snapshot, it makes no later change
    /// copy the space.
    pub(super) async fn with_snapshot<T>(&self, read: impl FnOnce(&SpaceSnapshot) -> T) -> T {
        read(&self.read.read().await.snapshot)
    }

    /// Applies a change, off the async runtime, while no question begins. If it panics, the space is read again from the
    /// start.
    pub(super) async fn apply_change(
        &self,
        change: impl FnOnce(&mut SpaceSnapshot) + Send + 'static,
    ) -> Result<(), PortError> {
        let mut read = Arc::clone(&self.read).write_owned().await;
        wait_for_questions(&read).await;
        let changed = tokio::task::spawn_blocking(move || {
            let mut changes = std::mem::take(&mut *read);
            change(&mut changes.snapshot);
            let revision = changes.snapshot.read_revision();
            changes.revision = latest_of(changes.revision, revision);
            *read = changes;
        });
        changed.await.map_err(to_port_error)?;
        self.steps.send_modify(|it| *it += 1);
        Ok(())
    }

    /// Notes that everything up to a revision was read.
    pub(super) async fn note_read_to_end(&self, revision: Revision) {
        let mut read = self.read.write().await;
        read.snapshot.is_complete = true;
        read.revision = latest_of(read.revision, revision);
        drop(read);
        self.steps.send_modify(|it| *it += 1);
    }
}

/// Waits until no question uses a large space, since a change would copy it.
async fn wait_for_questions(read: &OwnedRwLockWriteGuard<ReadChanges>) {
    let begun = Instant::now();
    while read.snapshot.is_used_by_others()
        && read.snapshot.size_in_bytes() > COPIED_BYTES
        && begun.elapsed() < WAIT_FOR_QUESTIONS
    {
        sleep(POLL_INTERVAL).await;
    }
}

fn latest_of(one: Revision, other: Revision) -> Revision {
    Revision {
        units: one.units.max(other.units),
        derived: one.derived.max(other.derived),
        curations: one.curations.max(other.curations),
    }
}

impl SpaceSnapshot {
    /// Returns the revision up to which changes were applied.
    fn read_revision(&self) -> Revision {
        Revision {
            units: self.sequence(),
            derived: self.memory.sequence(),
            curations: self.decided.unwrap_or_default(),
        }
    }

    fn is_used_by_others(&self) -> bool {
        Arc::strong_count(&self.view) > 1 || Arc::strong_count(&self.gists) > 1 || Arc::strong_count(&self.memory) > 1
    }
}
