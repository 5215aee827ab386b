use async_trait::async_trait;

use super::Result;
use crate::entity::Entity;
use crate::fact::Fact;
use crate::id::{EntityId, FactId, SpaceId, UnitId};
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

/// Units, relations, facts and entities: all that is derived and typed.
///
/// Every `put` fails with `NotFound` if the space is unknown, so that work that outlived its space brings nothing back;
/// reading an unknown space finds nothing.
#[async_trait]
pub trait Graph: Send + Sync + 'static {
    /// Removes the `retired` units, then inserts or replaces `units`; one step. Equal units leave no change behind.
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()>;

    /// Returns units by id, in the order asked; unknown ids are left out.
    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>>;

    /// Returns up to `limit` units whose latest change is after `sequence`, by sequence; a removed unit has status
    /// `superseded`. From 0 this lists the whole space.
    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>>;

    /// Inserts or replaces relations; one of weight 0 is removed. Those to or from unknown units are kept out of
    /// `relations` until both exist.
    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()>;

    /// Returns the relations that start or end at one of `units`, sorted by key, at most `limit`.
    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>>;

    /// Inserts or replaces facts.
    async fn put_facts(&self, space: &SpaceId, facts: &[Fact]) -> Result<()>;

    /// Returns up to `limit` facts with ids greater than `after`, by id.
    async fn facts(&self, space: &SpaceId, after: Option<FactId>, limit: usize) -> Result<Vec<Fact>>;

    /// Inserts or replaces entities; one without mentions is removed.
    async fn put_entities(&self, space: &SpaceId, entities: &[Entity]) -> Result<()>;

    /// Returns up to `limit` entities with ids greater than `after`, by id.
    async fn entities(&self, space: &SpaceId, after: Option<EntityId>, limit: usize) -> Result<Vec<Entity>>;
}
