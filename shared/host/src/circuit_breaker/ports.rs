//! Wrappers of all ports. The wrapped port may be connected later, and a guard watches each call.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::erasure::{Erased, Receipt};
use domain::id::{CurationId, ErasureId, ReadingId, RecordId, SessionId, SpaceId, UnitId, WebhookId};
use domain::key::{FoundKey, Key, KeyDigest, KeyName};
use domain::port::{
    BlockGap, Bus, Change, Claim, DeadLetter, DeadLetterId, DeadLetters, Delivery, DerivedChange, Frame, Generation,
    Graph, Hold, Idempotent, Index, Inquiry, KeyClaim, Keys, Point, PointsCursor, PointsPage, Position, Readings,
    Receipts, Records, Result, Room, Rotation, Search, SearchResult, Selection, SpaceInfo, UnfinishedErasure,
    UnitBlock, UnitDigest, UnitFeed, Webhooks, WrittenBlockFile,
};
use domain::reading::{Reading, ReadingTally, ReadingVersion, ScheduledSession};
use domain::recall::Note;
use domain::record::Record;
use domain::relation::Relation;
use domain::unit::Unit;
use domain::webhook::StoredWebhook;
use domain::{ErrorKind, PortError};
use futures::stream::BoxStream;
use uuid::Uuid;

use super::CircuitBreaker;

/// A port whose server is connected later and may be unreachable at times.
pub(crate) struct Guarded<T: ?Sized> {
    guard: Arc<CircuitBreaker>,
    port: OnceLock<Arc<T>>,
}

impl<T: ?Sized> Guarded<T> {
    pub(crate) fn new(guard: &Arc<CircuitBreaker>) -> Arc<Guarded<T>> {
        Arc::new(Guarded {
            guard: Arc::clone(guard),
            port: OnceLock::new(),
        })
    }

    /// Sets the connected port, once.
    pub(crate) fn set_port(&self, port: Arc<T>) {
        // Only the one task that connects calls this, so the cell is empty.
        drop(self.port.set(port));
    }

    fn admitted_port(&self, operation: &'static str) -> Result<&T> {
        self.guard.admit_call(operation)?;
        let missing = || PortError::new(operation, ErrorKind::Unavailable, "the server has not been reached yet");
        self.port.get().map(Arc::as_ref).ok_or_else(missing)
    }
}

/// The name of an operation in metrics and logs: that of the method, or the given one, which stays if a method gets
/// another name.
macro_rules! operation_name {
    ($prefix:literal, $name:ident) => {
        concat!($prefix, ".", stringify!($name))
    };
    ($prefix:literal, $name:ident, $operation:literal) => {
        concat!($prefix, ".", $operation)
    };
}

macro_rules! guarded {
    ($port:ident, $prefix:literal: $(
        fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty $(as $operation:literal)?;
    )*) => {
        #[async_trait]
        impl $port for Guarded<dyn $port> {
            $(
                async fn $name(&self, $($arg: $type),*) -> Result<$out> {
                    const OPERATION: &str = operation_name!($prefix, $name $(, $operation)?);
                    let port = self.admitted_port(OPERATION)?;
                    self.guard.watch_call(OPERATION, port.$name($($arg),*)).await
                }
            )*
        }
    };
}

guarded! { Records, "records":
    fn create_space(space: &SpaceId, at: DateTime<Utc>) -> bool;
    fn space(space: &SpaceId) -> Option<SpaceInfo>;
    fn spaces(after: Option<&SpaceId>, limit: usize) -> Vec<SpaceInfo>;
    fn delete_space(space: &SpaceId) -> bool;
    fn unfinished_erasures(space: Option<&SpaceId>, limit: usize) -> Vec<UnfinishedErasure>;
    fn finish_erasure(erasure: &UnfinishedErasure) -> ();
    fn claim(space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Vec<Claim>;
    fn claimed(space: &SpaceId, ids: &[RecordId]) -> Vec<RecordId>;
    fn spaces_under(prefix: &str, after: Option<&SpaceId>, limit: usize) -> Vec<SpaceInfo>;
    fn hold_idempotency_key(space: &SpaceId, key: &str, hold: &Hold) -> KeyClaim as "hold";
    fn release(space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> ();
    fn secret(name: &str, fresh: [u8; 32]) -> [u8; 32];
    fn stored_response(space: &SpaceId, key: &str) -> Option<Idempotent> as "remembered";
    fn store_response(space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> () as "remember";
    fn put(space: &SpaceId, records: &[Record]) -> ();
    fn erase(space: &SpaceId, ids: &[RecordId]) -> ();
    fn get(space: &SpaceId, ids: &[RecordId]) -> Vec<Record>;
    fn list(space: &SpaceId, after: u64, limit: usize) -> (Vec<Record>, Option<u64>);
    fn select(space: &SpaceId, selection: &Selection, after: u64, room: Room) -> (Vec<Record>, Option<u64>);
    fn session(space: &SpaceId, session: SessionId, around: RecordId, before: usize, after: usize) -> Vec<Record>;
    fn mark_written(space: &SpaceId, position: Position) -> ();
    fn is_written(space: &SpaceId, position: Position) -> bool;
    fn put_curations(space: &SpaceId, position: Position, curations: &[Curation]) -> ();
    fn redact_curations(space: &SpaceId, ids: &[CurationId]) -> ();
    fn curations(space: &SpaceId, after: Option<CurationId>, limit: usize) -> Vec<Curation>;
    fn position_of_curation(space: &SpaceId, id: CurationId) -> Option<Position> as "brought_by";
    fn note(space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> ();
    fn notes(space: &SpaceId, scope: &str) -> Vec<Note>;
    fn forget_notes(space: &SpaceId, scope: &str) -> ();
}

guarded! { Readings, "readings":
    fn put(space: &SpaceId, readings: &[Reading]) -> Vec<ReadingId>;
    fn get(space: &SpaceId, ids: &[ReadingId]) -> Vec<Reading>;
    fn of_records(space: &SpaceId, records: &[RecordId]) -> Vec<Reading>;
    fn of_session(space: &SpaceId, session: SessionId) -> Vec<Reading>;
    fn versions(space: &SpaceId, session: SessionId) -> Vec<ReadingVersion>;
    fn list(space: &SpaceId, after: Option<ReadingId>, limit: usize) -> Vec<Reading>;
    fn remove(space: &SpaceId, ids: &[ReadingId]) -> ();
    fn tally(space: &SpaceId, since: Option<DateTime<Utc>>) -> ReadingTally;
    fn schedule_sessions(space: &SpaceId, sessions: &[SessionId], at: DateTime<Utc>, due: DateTime<Utc>) -> ()
        as "want";
    fn lease_session(now: DateTime<Utc>, lease: DateTime<Utc>, after: Option<&SpaceId>) -> Option<ScheduledSession>
        as "take";
    fn settle(session: &ScheduledSession, next: Option<DateTime<Utc>>) -> ();
    fn count_scheduled_sessions(space: &SpaceId) -> u64 as "wanted";
}

guarded! { Receipts, "receipts":
    fn put_receipt(receipt: &Receipt) -> () as "keep";
    fn complete(space: &SpaceId, position: Position, at: DateTime<Utc>) -> ();
    fn complete_one(space: &SpaceId, id: ErasureId, at: DateTime<Utc>) -> ();
    fn get(space: &SpaceId, id: ErasureId) -> Option<Receipt>;
    fn list(space: &SpaceId, after: Option<ErasureId>, limit: usize) -> Vec<Receipt>;
    fn completed_since(space: &SpaceId, since: DateTime<Utc>, after: Option<ErasureId>, limit: usize) -> Vec<Receipt>;
    fn count_remaining_data(space: &SpaceId, erased: &Erased) -> BTreeMap<String, u64> as "remnants";
}

guarded! { Keys, "keys":
    fn create(key: &Key, digest: KeyDigest) -> ();
    fn find(digest: KeyDigest) -> Option<FoundKey>;
    fn get(name: &KeyName) -> Option<Key>;
    fn list(after: Option<&KeyName>, limit: usize) -> Vec<Key>;
    fn rotate(name: &KeyName, rotation: Rotation) -> bool;
    fn revoke(name: &KeyName, at: DateTime<Utc>) -> bool;
    fn note_use(name: &KeyName, at: DateTime<Utc>) -> ();
}

guarded! { Webhooks, "webhooks":
    fn create(webhook: &StoredWebhook) -> ();
    fn list() -> Vec<StoredWebhook>;
    fn replace(webhook: &StoredWebhook) -> bool;
    fn remove(id: WebhookId) -> bool;
}

guarded! { Graph, "graph":
    fn put_units(space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> ();
    fn units(space: &SpaceId, ids: &[UnitId]) -> Vec<Unit>;
    fn changes(space: &SpaceId, sequence: u64, limit: usize) -> Vec<Change>;
    fn unit_feed(space: &SpaceId, sequence: u64, limit: usize, version: i64) -> UnitFeed;
    fn block_gap(space: &SpaceId, sequence: u64, limit: usize, version: i64) -> Option<BlockGap>;
    fn put_block(space: &SpaceId, version: i64, block: &UnitBlock, digests: &[UnitDigest]) -> bool;
    fn write_block_file(space: &SpaceId, version: i64) -> Option<WrittenBlockFile>;
    fn select(space: &SpaceId, selection: &Selection, after: u64, room: Room) -> (Vec<Unit>, Option<u64>);
    fn put_relations(space: &SpaceId, relations: &[Relation]) -> ();
    fn relations(space: &SpaceId, units: &[UnitId], limit: usize) -> Vec<Relation>;
    fn put_derived(space: &SpaceId, items: &[Derived], removed: &[DerivedId]) -> ();
    fn derived_write_count(space: &SpaceId) -> u64 as "derived_turn";
    fn put_derived_if_unchanged(space: &SpaceId, write_count: u64, items: &[Derived], removed: &[DerivedId]) -> ()
        as "put_derived_at";
    fn list_derived(space: &SpaceId, kind: DerivedKind, after: Option<Uuid>, limit: usize) -> Vec<Derived>;
    fn derived(space: &SpaceId, ids: &[DerivedId]) -> Vec<Derived>;
    fn derived_changes(space: &SpaceId, sequence: u64, limit: usize) -> Vec<DerivedChange>;
}

guarded! { Index, "index":
    fn put(space: &SpaceId, points: &[Point], retired: &[UnitId]) -> ();
    fn search(space: &SpaceId, search: &Search) -> SearchResult;
    fn begin(space: &SpaceId) -> Generation;
    fn renew_generation(space: &SpaceId, generation: Generation) -> () as "renew";
    fn activate_generation(space: &SpaceId, generation: Generation) -> () as "switch";
    fn delete_unreachable_points(space: &SpaceId) -> () as "sweep";
    fn points(space: &SpaceId, after: Option<PointsCursor>, limit: usize) -> PointsPage;
    fn count(space: &SpaceId) -> u64;
    fn erase(space: &SpaceId) -> ();
    fn erase_deleted(erasure: &UnfinishedErasure) -> ();
}

/// Generates wrappers that only wait for the first connection. The bus client notices a lost connection itself, and the
/// error of a server that answers a request says nothing about the bus.
macro_rules! reached {
    ($port:ident, $prefix:literal: $(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        #[async_trait]
        impl $port for Guarded<dyn $port> {
            $(
                async fn $name(&self, $($arg: $type),*) -> Result<$out> {
                    self.admitted_port(concat!($prefix, ".", stringify!($name)))?.$name($($arg),*).await
                }
            )*
        }
    };
}

reached! { Bus, "bus":
    fn publish(frame: Frame) -> Position;
    fn check_room(subject: &str) -> ();
    fn subscribe(subject: &str, group: &str) -> BoxStream<'static, Result<Delivery>>;
    fn request(frame: Frame, patience: Duration) -> Vec<u8>;
    fn serve(subject: &str) -> BoxStream<'static, Inquiry>;
    fn backlog(subject: &str, group: &str) -> u64;
    fn backlog_of_space(subject: &str, space: &str) -> u64;
    fn unsettled(subject: &str, space: &str, limit: usize) -> Vec<Position>;
    fn erase(space: &str) -> ();
    fn flush() -> ();
}

reached! { DeadLetters, "dead_letters":
    fn list(after: DeadLetterId, limit: usize) -> Vec<DeadLetter>;
    fn of_space(space: &str, after: DeadLetterId, limit: usize) -> Vec<DeadLetter>;
    fn count() -> u64;
    fn amend(id: DeadLetterId, payload: &[u8]) -> ();
    fn replay(id: DeadLetterId) -> ();
    fn discard(id: DeadLetterId) -> ();
}
