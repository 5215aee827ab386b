use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use crate::id::{ReadingId, RecordId, SessionId, SpaceId};
use crate::reading::{Reading, ReadingTally, ReadingVersion, WantedSession};

/// What language models said about records, and the sessions in which something may have to be read.
///
/// A reading never outlives a record whose words its model was shown: [`Records::erase`](super::Records::erase) takes both
/// away in one step. An unknown space has none; what is put there is `NotFound`.
#[async_trait]
pub trait Readings: Send + Sync + 'static {
    /// Stores readings, each in the place of the one with its id, and returns which are stored now. One that was shown a
    /// record that is not stored is left out. Durable on return.
    async fn put(&self, space: &SpaceId, readings: &[Reading]) -> Result<Vec<ReadingId>>;

    /// Returns readings by id, in the order asked; unknown ids are left out.
    async fn get(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<Vec<Reading>>;

    /// Returns the readings whose models were shown one of `records`, by id.
    async fn of_records(&self, space: &SpaceId, records: &[RecordId]) -> Result<Vec<Reading>>;

    /// Returns the readings of a session, by id.
    async fn of_session(&self, space: &SpaceId, session: SessionId) -> Result<Vec<Reading>>;

    /// Returns what readings of a session there are, by id.
    async fn versions(&self, space: &SpaceId, session: SessionId) -> Result<Vec<ReadingVersion>>;

    /// Returns up to `limit` readings with ids greater than `after`, by id.
    async fn list(&self, space: &SpaceId, after: Option<ReadingId>, limit: usize) -> Result<Vec<Reading>>;

    /// Removes readings for good; unknown ids are left out.
    async fn remove(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<()>;

    /// Counts the readings that were made at or after a moment; all, if none is given.
    async fn tally(&self, space: &SpaceId, since: Option<DateTime<Utc>>) -> Result<ReadingTally>;

    /// Wants sessions to be looked at once `due` has come, whenever they were due before. Durable on return.
    async fn want(&self, space: &SpaceId, sessions: &[SessionId], at: DateTime<Utc>, due: DateTime<Utc>) -> Result<()>;

    /// Takes a session that is due at `now` for whoever asks, until `lease`: nobody else gets it meanwhile. The spaces behind
    /// `after` come first, by name, then the others; of a space what was due first. None if none is due.
    async fn take(
        &self,
        now: DateTime<Utc>,
        lease: DateTime<Utc>,
        after: Option<&SpaceId>,
    ) -> Result<Option<WantedSession>>;

    /// Gives back a session that was taken: it is due at `next`, or not any more if there is none. If it was wanted
    /// since it was taken, that stands; if its lease ended and somebody else took it, nothing changes.
    async fn settle(&self, session: &WantedSession, next: Option<DateTime<Utc>>) -> Result<()>;

    /// Returns the number of sessions of a space that are wanted.
    async fn wanted(&self, space: &SpaceId) -> Result<u64>;
}
