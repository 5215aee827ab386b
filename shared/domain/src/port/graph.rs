//! The knowledge graph: units, relations and derived objects. It has a change feed of units and one of derived objects,
//! and puts derived objects with optimistic concurrency ([`Graph::put_derived_if_unchanged`]).

use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

use super::{Result, Room, Selection};
use crate::derived::{Derived, DerivedId, DerivedKind};
use crate::id::{SpaceId, UnitId};
use crate::relation::Relation;
use crate::unit::Unit;

/// A unit as of its latest change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Sequence number of the change; it grows with every change in the space.
    pub sequence: u64,
    /// The unit.
    pub unit: Unit,
}

/// The first 16 bytes of the SHA-256 of a stored unit.
pub type UnitDigest = [u8; 16];

/// All units whose latest change lies in one interval of the feed, in the format of the reader that made it. It is
/// stored so that a restart need not read and compute these units one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitBlock {
    /// The sequence number before the interval.
    pub after: u64,
    /// The last sequence number of the interval.
    pub last: u64,
    /// The data that the reader made. In a mapped file, it begins at a multiple of eight bytes.
    pub body: Bytes,
    /// The mapped file that `body` is a part of; `None` if `body` is in memory. A reader that keeps a part of `body`
    /// drops it when the file is outdated ([`UnitFeed::files`]).
    pub file: Option<BlockFileId>,
}

/// The number of a mapped file with blocks of one space. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockFileId(pub i64);

/// A file with blocks that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenBlockFile {
    /// Its number.
    pub id: BlockFileId,
    /// The sequence number before its first block.
    pub after: u64,
    /// The last sequence number of its last block.
    pub last: u64,
}

/// A part of the feed of units: blocks, then single changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitFeed {
    /// Blocks in order. No unit lies between two of them.
    pub blocks: Vec<UnitBlock>,
    /// The changes after the last block.
    pub changes: Vec<Change>,
    /// True if the feed may go on after the last block and change.
    pub has_more: bool,
    /// The mapped files of the space that are not outdated, ascending. A file is outdated as soon as a unit of its
    /// blocks changes. It is destroyed when the last reader has dropped what it keeps of it.
    pub files: Vec<BlockFileId>,
}

impl UnitFeed {
    /// Returns the last sequence number of the part; `None` if it is empty.
    pub fn last_sequence(&self) -> Option<u64> {
        let block = self.blocks.last().map(|it| it.last);
        self.changes.last().map(|it| it.sequence).or(block)
    }
}

/// Units that are in no block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockGap {
    /// The sequence number before the first of them.
    pub after: u64,
    /// Their changes, by sequence number.
    pub changes: Vec<Change>,
    /// The digests of the stored units, in the same order.
    pub digests: Vec<UnitDigest>,
    /// True if no block follows them.
    pub is_end: bool,
}

/// A derived object as of its latest change.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedChange {
    /// Sequence number of the change. It grows with every change of derived objects in the space; units have a sequence
    /// of their own.
    pub sequence: u64,
    /// Kind and id of the object.
    pub id: DerivedId,
    /// The current object; absent if it was deleted.
    pub item: Option<Derived>,
}

/// Units, relations and all derived objects: facts, entities, topics, pages, merges.
///
/// Every `put` fails with `NotFound` if the space is unknown, so that late work cannot recreate a deleted space.
/// Reading an unknown space finds nothing. A reader that continues a feed after the last sequence number it saw misses
/// nothing, however many writers there are.
#[async_trait]
pub trait Graph: Send + Sync + 'static {
    /// Removes the `retired` units, then inserts or replaces `units`, atomically. A unit that is already stored
    /// unchanged produces no change.
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()>;

    /// Returns units by id, in the order of the ids; unknown ids are skipped.
    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>>;

    /// Returns up to `limit` units whose latest change is after `sequence`, by sequence number. A removed unit has
    /// status `superseded` and no content: texts, names and records are empty. Starting from 0 lists the whole space.
    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>>;

    /// Returns the changes after `sequence` like [`Graph::changes`], in blocks of this version as far as such blocks
    /// are stored. `limit` bounds the single changes; the store bounds the blocks. A block that does not match its
    /// digest is left out, and its units are returned as single changes.
    async fn unit_feed(&self, space: &SpaceId, sequence: u64, limit: usize, _version: i64) -> Result<UnitFeed> {
        let changes = self.changes(space, sequence, limit).await?;
        Ok(UnitFeed {
            has_more: changes.len() == limit,
            changes,
            ..UnitFeed::default()
        })
    }

    /// Returns the first units after `sequence` that are in no block of this version, at most `limit` and none beyond
    /// the next such block; `None` if there are none, or if the graph stores no blocks.
    async fn block_gap(
        &self,
        _space: &SpaceId,
        _sequence: u64,
        _limit: usize,
        _version: i64,
    ) -> Result<Option<BlockGap>> {
        Ok(None)
    }

    /// Stores a block if `digests` are those of the units that are stored in its interval now, and returns true if so.
    /// It replaces all blocks that overlap it.
    ///
    /// A block is deleted in the same transaction as the first change, removal or erasure of one of its units. A graph
    /// that is read over a network may store no blocks, because computing a unit takes no longer than fetching it.
    async fn put_block(
        &self,
        _space: &SpaceId,
        _version: i64,
        _block: &UnitBlock,
        _digests: &[UnitDigest],
    ) -> Result<bool> {
        Ok(false)
    }

    /// Writes blocks of this version that are in no file to one file, which [`Graph::unit_feed`] maps into memory from
    /// then on; `None` if there are too few such blocks in a row, or if the graph keeps no files.
    async fn write_block_file(&self, _space: &SpaceId, _version: i64) -> Result<Option<WrittenBlockFile>> {
        Ok(None)
    }

    /// Returns the active units that `selection` accepts, as many as fit into `room`, by their latest changes after the
    /// cursor `after`; and the cursor to continue with, if any. Each call scans a bounded number of units, so a page
    /// may be short or empty and still return a cursor. Removed and superseded units are left out.
    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Unit>, Option<u64>)>;

    /// Inserts or replaces relations; a relation of weight 0 is removed. A relation from or to an unknown unit does not
    /// appear in `relations` until both units exist.
    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()>;

    /// Returns up to `limit` relations that start or end at one of `units`, sorted by key.
    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>>;

    /// Removes the derived objects in `removed`, then inserts or replaces `items`, atomically. An object that is
    /// already stored unchanged produces no change.
    async fn put_derived(&self, space: &SpaceId, items: &[Derived], removed: &[DerivedId]) -> Result<()>;

    /// Returns the number of times that derived objects of the space were put, including puts that changed nothing; 0
    /// if the space is unknown.
    async fn derived_write_count(&self, space: &SpaceId) -> Result<u64>;

    /// Does the same as `put_derived`, but only if derived objects were put exactly `write_count` times before; check
    /// and write are atomic (compare and swap). So a writer that read the stored state, then the units, cannot
    /// overwrite what another writer derived from newer units.
    ///
    /// # Errors
    ///
    /// `Conflict` if the number of puts differs from `write_count`; nothing is written.
    async fn put_derived_if_unchanged(
        &self,
        space: &SpaceId,
        write_count: u64,
        items: &[Derived],
        removed: &[DerivedId],
    ) -> Result<()>;

    /// Returns up to `limit` derived objects of a kind with ids greater than `after`, by id.
    async fn list_derived(
        &self,
        space: &SpaceId,
        kind: DerivedKind,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Derived>>;

    /// Returns derived objects by id, in the order of the ids; unknown ids are skipped.
    async fn derived(&self, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<Derived>>;

    /// Returns up to `limit` derived objects whose latest change is after `sequence`, by sequence number. Starting from
    /// 0 lists all objects, including deleted ones.
    async fn derived_changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<DerivedChange>>;
}
