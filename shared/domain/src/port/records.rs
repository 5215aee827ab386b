use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Hold, KeyClaim, Result, Room, Selection};
use crate::curation::Curation;
use crate::id::{CurationId, RecordId, SessionId, SpaceId};
use crate::position::Position;
use crate::recall::Note;
use crate::record::Record;

/// A space, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceInfo {
    /// Name of the space.
    pub space: SpaceId,
    /// Time at which the space was created.
    pub created_at: DateTime<Utc>,
    /// Number of records stored.
    pub records: u64,
    /// Number of active units.
    pub units: u64,
    /// Greatest position of an accepted batch of the space that is searchable; 0 if there is none.
    pub written: Position,
    /// How far the space has changed. A reader that has read the space at this revision is up to date.
    pub revision: Revision,
}

/// The revision of a space. During the lifetime of a space no count decreases, and every change increases one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Sequence number of the last change of the units of the space.
    pub units: u64,
    /// Sequence number of the last change of its derived objects.
    pub derived: u64,
    /// Number of curations stored.
    pub curations: u64,
}

impl Revision {
    /// Returns true if a reader at this revision has seen everything up to revision `other`.
    #[must_use]
    pub fn is_up_to_date_with(&self, other: &Revision) -> bool {
        self.units >= other.units && self.derived >= other.derived && self.curations >= other.curations
    }
}

/// A deletion of a space that some store may not have finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedErasure {
    /// Name of the deleted space. Another space may have been created under this name since.
    pub space: SpaceId,
    /// Time at which the deleted space was created; this distinguishes it from a later space of the same name.
    pub created_at: DateTime<Utc>,
}

/// The result of claiming an id for a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The id was free.
    Fresh,
    /// The id was claimed for the same content before.
    Same,
    /// The id is claimed for other content; nothing changed.
    Conflict,
}

/// A remembered response. A repeated request receives the same response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotent {
    /// Digest of the request.
    pub request: [u8; 32],
    /// The response, JSON.
    pub response: Vec<u8>,
}

/// Spaces, claims and the records themselves: the source that everything else is derived from.
#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// Creates the space. Returns false if it exists already.
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool>;

    /// Returns the space, or `None`.
    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>>;

    /// Returns up to `limit` spaces with names greater than `after`, by name.
    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        self.spaces_under("", after, limit).await
    }

    /// Returns up to `limit` spaces whose names start with `prefix` and are greater than `after`, by name. The store
    /// does not scan other spaces, so the duration does not depend on their number.
    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>>;

    /// Erases the space: claims, remembered responses, records, curations, notes, units, relations and all derived
    /// objects. Returns false if the space is unknown.
    ///
    /// The same transaction notes the erasure as unfinished, because other stores hold data of the space too;
    /// [`finish_erasure`](Records::finish_erasure) removes the note.
    async fn delete_space(&self, space: &SpaceId) -> Result<bool>;

    /// Returns up to `limit` erasures that may be unfinished in some store, by name; only the one of `space` if it is
    /// given.
    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>>;

    /// Completes a deletion that this store carried out only in part, and removes the note that it is unfinished. The
    /// note of a later deletion of the same name stays. Idempotent.
    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()>;

    /// Claims each id for a content digest, durably and atomically. Returns the results in the order of `claims`.
    ///
    /// # Errors
    ///
    /// `NotFound` if the space is unknown.
    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>>;

    /// Returns the claimed ones of `ids`, in their order.
    async fn claimed(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>>;

    /// Acquires an idempotency key of the space for a request, atomically for all processes that share the store. The
    /// first request binds the key to its digest for at least a week. A later request with the same digest can take the
    /// key over when the earlier hold has ended, or ends so late that a clock must have been ahead. The hold survives the end of the process, and a crash of the machine
    /// if a later write survives it. `NotFound` if the space is unknown.
    async fn hold_idempotency_key(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<KeyClaim>;

    /// Ends a hold without a remembered response. If `bound` is true, only requests with the same digest can acquire
    /// the key again, because this request may have had an effect; otherwise any request can. Does nothing if the hold
    /// has ended and another request holds the key.
    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()>;

    /// Returns the response that is remembered under an idempotency key of the space, or `None` if the key is only
    /// held.
    async fn stored_response(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>>;

    /// Remembers a response under a key for at least a week, and ends the hold of its request. An existing response is
    /// not replaced, and a hold of a request with another digest stays. `NotFound` if the space is unknown.
    async fn store_response(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()>;

    /// Returns the secret that is stored under `name` (1 to 64 of `a-z` and `-`). If there is none, stores and returns
    /// `fresh`. The first caller decides permanently, for all processes that share the store. Durable on return.
    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]>;

    /// Stores records; a record that is already stored stays unchanged. Durable on return.
    ///
    /// # Errors
    ///
    /// `NotFound` if the space is unknown, so that a late message cannot recreate a deleted space; `Invalid` if a
    /// record belongs to another space.
    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()>;

    /// Permanently erases records, their claims, and the remembered responses that name them; unknown ids are skipped.
    /// Durable on return. The units of the records are not touched: the caller has to retire them.
    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()>;

    /// Returns records by id, in the order of the ids; unknown ids are skipped.
    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>>;

    /// Returns up to `limit` records in insertion order, starting after the cursor; and the cursor to continue with, if
    /// any. Paging misses nothing, however many writers there are.
    async fn list(&self, space: &SpaceId, after: u64, limit: usize) -> Result<(Vec<Record>, Option<u64>)> {
        self.select(space, &Selection::default(), after, Room::of_items(limit))
            .await
    }

    /// Returns the records that `selection` accepts, as many as fit into `room`, in the same order as
    /// [`list`](Records::list). Each call scans a bounded number of records, so a page may be short or empty and still
    /// return a cursor.
    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)>;

    /// Returns up to `before` records of the session at or before `around` and up to `after` records after it, in
    /// session order. Returns an empty list if the session does not contain `around`.
    async fn session(
        &self,
        space: &SpaceId,
        session: SessionId,
        around: RecordId,
        before: usize,
        after: usize,
    ) -> Result<Vec<Record>>;

    /// Notes that the accepted batch at `position` is searchable. Durable on return. `NotFound` if the space is unknown.
    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()>;

    /// Returns true if the accepted batch at `position` is marked as searchable.
    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool>;

    /// Stores the curations of the accepted batch at `position`; a curation that is already stored stays unchanged.
    /// Durable on return. `NotFound` if the space is unknown.
    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()>;

    /// Returns up to `limit` curations with ids greater than `after`, by id.
    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>>;

    /// Permanently redacts curations ([`Curation::without_words`]); not even a digest of their words is kept. A redacted id
    /// stays claimed, so that no other act can use it. Unknown ids are skipped. Durable on return.
    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()>;

    /// Returns the position of the first batch that contained a curation. Returns `None` if the curation is unknown, or
    /// if it was stored by a release that did not keep positions.
    async fn position_of_curation(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>>;

    /// Stores notes about hints or pages in a scope (1 to 256 bytes, chosen by the caller). For each subject and kind,
    /// only the latest note is kept.
    ///
    /// Only the latest 1,000 notes of a scope are kept. The scopes of the space whose names are equal up to the first
    /// `/` share a limit of `most` notes: if it is exceeded, the oldest are deleted until nine tenths of `most` are
    /// left. A scope without `/` has no such limit. `NotFound` if the space is unknown.
    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()>;

    /// Returns the notes of a scope, sorted.
    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>>;

    /// Permanently erases the notes of a scope.
    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()>;
}
