//! Readings, and the work queue of sessions that may have to be read.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use crate::id::{ReadingId, RecordId, SessionId, SpaceId};
use crate::reading::{Reading, ReadingTally, ReadingVersion, ScheduledSession};

/// Readings: the replies of language models about records. Also the queue of sessions that may have to be read.
///
/// A reading never outlives a record whose text its model saw: [`Records::erase`](super::Records::erase) deletes both
/// atomically. An unknown space has no readings; a put to it fails with `NotFound`.
#[async_trait]
pub trait Readings: Send + Sync + 'static {
    /// Stores readings, replacing readings with the same id. Returns the ids of those that were stored. A reading whose
    /// model saw a record that is not stored is skipped. Durable on return.
    async fn put(&self, space: &SpaceId, readings: &[Reading]) -> Result<Vec<ReadingId>>;

    /// Returns readings by id, in the order of the ids; unknown ids are skipped.
    async fn get(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<Vec<Reading>>;

    /// Returns the readings whose model saw one of `records`, by id.
    async fn of_records(&self, space: &SpaceId, records: &[RecordId]) -> Result<Vec<Reading>>;

    /// Returns the readings of a session, by id.
    async fn of_session(&self, space: &SpaceId, session: SessionId) -> Result<Vec<Reading>>;

    /// Returns id and version of all readings of a session, by id.
    async fn versions(&self, space: &SpaceId, session: SessionId) -> Result<Vec<ReadingVersion>>;

    /// Returns up to `limit` readings with ids greater than `after`, by id.
    async fn list(&self, space: &SpaceId, after: Option<ReadingId>, limit: usize) -> Result<Vec<Reading>>;

    /// Deletes readings permanently; unknown ids are skipped.
    async fn remove(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<()>;

    /// Counts the readings that were made at or within a day after `since`; all readings if it is absent. Later ones
    /// were made while a clock was ahead. The cost includes that of the deleted readings of one day, the latest on which
    /// a deleted reading was made: the budget of a day counts calls that were made, whether or not their readings are
    /// still stored.
    async fn tally(&self, space: &SpaceId, since: Option<DateTime<Utc>>) -> Result<ReadingTally>;

    /// Schedules sessions to be looked at once `due` has come; an earlier schedule is replaced. Durable on return.
    async fn schedule_sessions(
        &self,
        space: &SpaceId,
        sessions: &[SessionId],
        at: DateTime<Utc>,
        due: DateTime<Utc>,
    ) -> Result<()>;

    /// Leases a session that is due at `now` to the caller until `lease`; no other caller gets it in the meantime.
    /// Spaces after `after` come first, by name, then the others. Within a space, the session that was due first comes
    /// first. Returns `None` if no session is due. A stored time that lies further ahead than it can, because a clock was
    /// ahead, counts as past.
    async fn lease_session(
        &self,
        now: DateTime<Utc>,
        lease: DateTime<Utc>,
        after: Option<&SpaceId>,
    ) -> Result<Option<ScheduledSession>>;

    /// Returns a leased session to the queue: it is due at `next`, or leaves the queue if `next` is absent. If the
    /// session was scheduled again during the lease, that schedule stays. If the lease has ended and another caller
    /// leased the session, nothing changes.
    async fn settle(&self, session: &ScheduledSession, next: Option<DateTime<Utc>>) -> Result<()>;

    /// Returns the number of sessions of a space in the queue.
    async fn count_scheduled_sessions(&self, space: &SpaceId) -> Result<u64>;
}
