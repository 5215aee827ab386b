use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Held, Hold, Position, Result, Room, Selection};
use crate::curation::Curation;
use crate::id::{CurationId, RecordId, SessionId, SpaceId};
use crate::recall::Note;
use crate::record::Record;

/// A space, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceInfo {
    /// Its name.
    pub space: SpaceId,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Number of records stored.
    pub records: u64,
    /// Number of active units.
    pub units: u64,
    /// Greatest position of an accepted batch of the space that is searchable; 0 if none.
    pub written: Position,
    /// What has changed so far: whoever read the space at this revision has nothing to read again.
    pub revision: Revision,
}

/// How far a space has changed. Of one creation of a space no count falls, and every change raises one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Sequence of the last change of its units.
    pub units: u64,
    /// Sequence of the last change of what is derived from them.
    pub derived: u64,
    /// Number of curations stored.
    pub curations: u64,
}

impl Revision {
    /// Says whether whoever read the space at this revision has read all that `other` tells of.
    #[must_use]
    pub fn covers(&self, other: &Revision) -> bool {
        self.units >= other.units && self.derived >= other.derived && self.curations >= other.curations
    }
}

/// A deletion of a space that some store may not have carried out yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedErasure {
    /// Name of the deleted space. Another space may have been created under it since.
    pub space: SpaceId,
    /// When the deleted space had been created, which distinguishes it from a later one of its name.
    pub created_at: DateTime<Utc>,
}

/// Outcome of claiming an id for a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The id was free.
    Fresh,
    /// The id was claimed for the same content before.
    Same,
    /// The id is claimed for other content; nothing changed.
    Conflict,
}

/// A remembered response, so that a repeated request gets the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotent {
    /// Digest of the request.
    pub request: [u8; 32],
    /// The response, JSON.
    pub response: Vec<u8>,
}

/// Spaces, claims and the records themselves: the truth everything else derives from.
#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// Creates the space; returns false if it existed.
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool>;

    /// Returns the space, or none.
    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>>;

    /// Returns up to `limit` spaces with names greater than `after`, by name.
    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        self.spaces_under("", after, limit).await
    }

    /// Returns up to `limit` spaces whose names start with `prefix` and are greater than `after`, by name. The store looks at
    /// no other space: how long the call takes does not depend on how many others there are.
    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>>;

    /// Erases the space: claims, remembered responses, records, curations, notes, units, relations and all that is derived. False if unknown.
    ///
    /// The same step notes that its erasure is unfinished, since other stores hold something of the space too;
    /// [`finish_erasure`](Records::finish_erasure) removes the note.
    async fn delete_space(&self, space: &SpaceId) -> Result<bool>;

    /// Returns up to `limit` erasures that are not known to be finished in every store, by name; only that of `space` if one is
    /// given.
    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>>;

    /// Completes a deletion that this store carried out in part, and removes the note that it is unfinished. The note of a later
    /// deletion of the same name stays. To do it again changes nothing.
    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()>;

    /// Claims each id for a content digest, durably, all in one step; outcomes in the order given.
    ///
    /// # Errors
    /// `NotFound` if the space is unknown.
    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>>;

    /// Returns those of `ids` that are claimed, in the order asked.
    async fn claimed(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>>;

    /// Takes an idempotency key of the space for a request, in one step for all processes over the store. The first request
    /// binds the key to its digest, for a week or longer; a request with the same digest takes the key over once the hold
    /// before has ended. The hold outlives the process, and a crash of the machine that a later write outlives.
    /// `NotFound` if the space is unknown.
    async fn hold(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<Held>;

    /// Ends a hold under which no response was remembered. With `bound`, only requests with the same digest may take the key
    /// again, since something may have come of this one; without it, any request may. Does nothing if the hold has ended and
    /// somebody else has the key.
    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()>;

    /// Returns the response that is remembered under an idempotency key of the space; none if the key is only held.
    async fn remembered(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>>;

    /// Remembers a response under a key, for a week or longer, and ends its hold. The first response stays, and so does a hold
    /// of a request with another digest. `NotFound` if the space is unknown.
    async fn remember(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()>;

    /// Returns the secret that is kept under `name` (1 to 64 of `a-z` and `-`): `fresh`, if none was. Whoever asks first
    /// decides, for all processes over the store and for good. Durable on return.
    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]>;

    /// Stores records; one that is stored already stays as it is. Durable on return.
    ///
    /// # Errors
    /// `NotFound` if the space is unknown, so that a message that outlived its space brings nothing back; `Invalid` if a
    /// record belongs to another space.
    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()>;

    /// Erases records with their claims and the remembered responses that name them, for good; unknown ids are left out. Durable
    /// on return. Units that came from them are
    /// not touched: whoever erases retires those too.
    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()>;

    /// Returns records by id, in the order asked; unknown ids are left out.
    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>>;

    /// Returns up to `limit` records in insertion order, starting after the cursor; the cursor to go on with, if any. Going
    /// on passes nothing by, however many write meanwhile.
    async fn list(&self, space: &SpaceId, after: u64, limit: usize) -> Result<(Vec<Record>, Option<u64>)> {
        self.select(space, &Selection::default(), after, Room::of(limit)).await
    }

    /// Returns as many of the records that `selection` takes as there is room for, as [`list`](Records::list) does. It looks
    /// at so many records at most: there may be fewer, or none, and still a cursor to go on with.
    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)>;

    /// Returns up to `before` records of the session at or before `around` and up to `after` behind it, in session order;
    /// none if the session has no such record.
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

    /// Says whether the accepted batch at `position` has been marked.
    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool>;

    /// Stores curations that the accepted batch at `position` brought; one that is stored already stays as it is. Durable on
    /// return. `NotFound` if the space is unknown.
    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()>;

    /// Returns up to `limit` curations with ids greater than `after`, by id.
    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>>;

    /// Redacts curations ([`Curation::redacted`]), for good: no digest of their words is left either. An id that is redacted
    /// stays claimed, so that no other act takes it. Unknown ids are left out. Durable on return.
    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()>;

    /// Returns the position of the batch that brought a curation first; none if it is unknown, or was stored before positions
    /// were kept.
    async fn brought_by(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>>;

    /// Notes what became of hints or pages in a scope (1 to 256 bytes, of the caller's choice); the latest note of a subject
    /// and kind counts. Of a scope the latest 1,000 are kept. Of all scopes of the space that begin with the same words up to
    /// their first `/`, at most `most` are kept: if there are more, the oldest go until nine tenths of `most` are left. A scope
    /// without `/` is not counted there. `NotFound` if the space is unknown.
    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()>;

    /// Returns the notes of a scope, sorted.
    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>>;

    /// Erases the notes of a scope, for good.
    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()>;
}
