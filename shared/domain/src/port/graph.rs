use async_trait::async_trait;
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

/// Data that a reader of units computed from one unit, in the reader's own format. It is stored so that a restart need
/// not compute it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The unit that it was computed from.
    pub unit: UnitId,
    /// Sequence number of the change after which it was computed.
    pub sequence: u64,
    /// The computed data.
    pub body: Vec<u8>,
}

/// A change of a unit, with the stored image of the unit if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct ImagedChange {
    /// The change.
    pub change: Change,
    /// The body of the image.
    pub image: Option<Vec<u8>>,
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

    /// Returns the same as [`Graph::changes`], each with the image of the current unit if one of this version is
    /// stored.
    async fn imaged_changes(
        &self,
        space: &SpaceId,
        sequence: u64,
        limit: usize,
        _version: i64,
    ) -> Result<Vec<ImagedChange>> {
        let changes = self.changes(space, sequence, limit).await?;
        Ok(changes
            .into_iter()
            .map(|change| ImagedChange { change, image: None })
            .collect())
    }

    /// Stores images of units. Images of units that were removed or changed since, or are unknown, are skipped. An
    /// image is deleted in the same transaction as the first change of its unit. A graph that is read over a network
    /// may store no images, because computing a unit takes no longer than fetching its image.
    async fn put_images(&self, _space: &SpaceId, _version: i64, _images: &[Image]) -> Result<()> {
        Ok(())
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

    /// Removes the derived objects in `gone`, then inserts or replaces `items`, atomically. An object that is already
    /// stored unchanged produces no change.
    async fn put_derived(&self, space: &SpaceId, items: &[Derived], gone: &[DerivedId]) -> Result<()>;

    /// Returns how many times derived objects of the space were put, including puts that changed nothing; 0 if the
    /// space is unknown.
    async fn derived_turn(&self, space: &SpaceId) -> Result<u64>;

    /// Does the same as `put_derived`, but only if derived objects were put exactly `turn` times before; check and
    /// write are atomic. So a writer that read the stored state, then the units, cannot overwrite what another writer
    /// derived from newer units.
    ///
    /// # Errors
    ///
    /// `Conflict` if the number of puts differs from `turn`; nothing is written.
    async fn put_derived_at(&self, space: &SpaceId, turn: u64, items: &[Derived], gone: &[DerivedId]) -> Result<()>;

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
