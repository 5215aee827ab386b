use async_trait::async_trait;
use uuid::Uuid;

use super::{Result, Room, Selection};
use crate::derived::{Derived, DerivedId, DerivedKind};
use crate::id::{SpaceId, UnitId};
use crate::relation::Relation;
use crate::unit::Unit;

/// A unit as it stands after its latest change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Sequence of the change; grows with every change of the space.
    pub sequence: u64,
    /// The unit.
    pub unit: Unit,
}

/// What a reader of units computed from one of them, in a format of its own, stored to be read after a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The unit it was computed from,
    pub unit: UnitId,
    /// as it was after this change.
    pub sequence: u64,
    /// What was computed.
    pub body: Vec<u8>,
}

/// A change of a unit with the image that is stored of the unit, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct ImagedChange {
    /// The change.
    pub change: Change,
    /// The body of the image.
    pub image: Option<Vec<u8>>,
}

/// A derived thing as it stands after its latest change.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedChange {
    /// Sequence of the change; grows with every change of derived things of the space, apart from those of units.
    pub sequence: u64,
    /// Which one.
    pub id: DerivedId,
    /// What it is now; none if it is gone.
    pub item: Option<Derived>,
}

/// Units, relations and whatever else is derived: facts, entities, topics, pages, merges.
///
/// Every `put` fails with `NotFound` if the space is unknown, so that work that outlived its space brings nothing back;
/// reading an unknown space finds nothing. Whoever reads a feed on behind the last sequence they saw passes nothing by,
/// however many write meanwhile.
#[async_trait]
pub trait Graph: Send + Sync + 'static {
    /// Removes the `retired` units, then inserts or replaces `units`; one step. Equal units leave no change behind.
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()>;

    /// Returns units by id, in the order asked; unknown ids are left out.
    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>>;

    /// Returns up to `limit` units whose latest change is after `sequence`, by sequence; a removed unit has status
    /// `superseded` and nothing of what it said: texts, names and records are empty. From 0 this lists the whole space.
    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>>;

    /// Returns what [`Graph::changes`] does, each with the image of the unit as it stands, if one of this version is stored.
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

    /// Stores images of units; those of units that are removed, changed since, or unknown are left out. An image goes with the
    /// first change of its unit, in one step with it. A graph that is read over a network may keep no images: to compute a
    /// unit then takes no longer than to fetch an image.
    async fn put_images(&self, _space: &SpaceId, _version: i64, _images: &[Image]) -> Result<()> {
        Ok(())
    }

    /// Returns as many of the units in use that `selection` takes as there is room for, by their latest changes, which come
    /// after a cursor; the cursor to go on with, if any. It looks at so many units at most: there may be fewer, or none, and
    /// still a cursor. Removed units and superseded ones are left out.
    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Unit>, Option<u64>)>;

    /// Inserts or replaces relations; one of weight 0 is removed. Those to or from unknown units are kept out of
    /// `relations` until both exist.
    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()>;

    /// Returns the relations that start or end at one of `units`, sorted by key, at most `limit`.
    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>>;

    /// Removes the derived things of `gone`, then inserts or replaces `items`; one step. Equal ones leave no change behind.
    async fn put_derived(&self, space: &SpaceId, items: &[Derived], gone: &[DerivedId]) -> Result<()>;

    /// Returns how often derived things of the space were put, whether anything changed by it or not; 0 if it is unknown.
    async fn derived_turn(&self, space: &SpaceId) -> Result<u64>;

    /// Does what `put_derived` does if derived things were put `turn` times before, in one step with finding that out. So
    /// whoever read what is stored, then the units, and puts what follows never covers what somebody else made of newer ones.
    ///
    /// # Errors
    /// `Conflict` if they were put more often or less: nothing is put.
    async fn put_derived_at(&self, space: &SpaceId, turn: u64, items: &[Derived], gone: &[DerivedId]) -> Result<()>;

    /// Returns up to `limit` derived things of a kind with ids greater than `after`, by id.
    async fn list_derived(
        &self,
        space: &SpaceId,
        kind: DerivedKind,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Derived>>;

    /// Returns derived things by id, in the order asked; unknown ids are left out.
    async fn derived(&self, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<Derived>>;

    /// Returns up to `limit` derived things whose latest change is after `sequence`, by sequence. From 0 this lists all there
    /// are, and those that are gone.
    async fn derived_changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<DerivedChange>>;
}
