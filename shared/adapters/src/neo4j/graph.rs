use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{EntityId, FactId, SpaceId, UnitId};
use domain::port::{Change, Graph, Result};
use domain::relation::Relation;
use domain::unit::{Status, Unit};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::client::{Client, body, column, integer, json, locked, natural, on, parts, row, seen};
use super::error::damaged;
use super::keys::{id, id_of};
use super::relations;

/// Units: `live` says whether one is stored and not retired, `active` whether it counts as active. A unit that is only
/// the end of a relation has neither, nor a `sequence`.
const PUT_UNITS: &str = locked!(
    "WITH s, s.changes AS base
     CALL (base) {
       UNWIND $retired AS row
       MATCH (u:Unit {key: $prefix + row.id}) WHERE u.live
       WITH base, row, u, CASE WHEN u.active THEN 1 ELSE 0 END AS was
       SET u.live = false, u.active = false, u.sequence = base + row.number
       RETURN count(u) AS gone, coalesce(sum(was), 0) AS fewer
     }
     CALL (base) {
       UNWIND $rows AS row
       OPTIONAL MATCH (u:Unit {key: $prefix + row.id})
       WITH base, row, CASE WHEN u.active THEN 1 ELSE 0 END AS was, coalesce(u.live, false) AND u.body = row.body AS equal
       WHERE NOT equal
       MERGE (u:Unit {key: $prefix + row.id})
       SET u.space = $space, u.sequence = base + row.number, u.live = true, u.active = row.active, u.body = row.body
       RETURN count(u) AS put, coalesce(sum(CASE WHEN row.active THEN 1 ELSE 0 END - was), 0) AS more
     }
     FOREACH (_ IN CASE WHEN gone + put > 0 THEN [1] ELSE [] END |
       SET s.changes = base + $steps, s.units = s.units + more - fewer)
     RETURN gone + put AS changed"
);
const UNITS: &str =
    seen!("UNWIND $ids AS id MATCH (u:Unit {key: $prefix + id}) WHERE u.live RETURN u.key AS key, u.body AS body");
// A subquery of its own reads in the order of the index, and no more than it returns.
const CHANGES: &str = seen!(
    "CALL () {
       MATCH (u:Unit) WHERE u.space = $space AND u.sequence > $after
       RETURN u.sequence AS sequence, u.live AS live, u.body AS body ORDER BY u.space, u.sequence LIMIT $limit
     }
     RETURN sequence, live, body ORDER BY sequence"
);

/// Things kept as a body under an id: how they are put, and how a page of them is read.
#[derive(Clone, Copy)]
struct Bodies {
    put: &'static str,
    page: &'static str,
}

macro_rules! bodies {
    ($label:literal) => {
        Bodies {
            put: locked!(concat!(
                "CALL () { UNWIND $gone AS id MATCH (n:",
                $label,
                " {key: $prefix + id}) DELETE n }
                 CALL () { UNWIND $rows AS row MERGE (n:",
                $label,
                " {key: $prefix + row.id}) SET n.body = row.body }
                 RETURN 1 AS known"
            )),
            page: seen!(concat!(
                "CALL () {
                   MATCH (n:",
                $label,
                ") WHERE n.key > $prefix + $after AND n.key < $until
                   RETURN n.key AS key, n.body AS body ORDER BY key LIMIT $limit
                 }
                 RETURN body ORDER BY key"
            )),
        }
    };
}

const FACTS: Bodies = bodies!("Fact");
const ENTITIES: Bodies = bodies!("Entity");

/// Units, relations, facts and entities as nodes and relationships.
pub(super) struct NodeGraph(pub(super) Arc<Client>);

#[async_trait]
impl Graph for NodeGraph {
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        const OPERATION: &str = "graph.put_units";
        let retired: BTreeSet<&UnitId> = retired.iter().collect();
        let retired = retired.iter().zip(1i64..);
        let retired = retired.map(|(it, number)| row([("id", id(it.uuid()).into()), ("number", number.into())]));
        let retired: Vec<BoltType> = retired.collect();
        // The last of each id counts, in the order given.
        let last: HashMap<UnitId, usize> = units.iter().enumerate().map(|(n, it)| (it.id, n)).collect();
        let mut rows = Vec::with_capacity(last.len());
        for (n, unit) in units.iter().enumerate().filter(|(n, it)| last.get(&it.id) == Some(n)) {
            finite(OPERATION, unit.id.uuid(), unit.confidence)?;
            rows.push(row([
                ("id", id(unit.id.uuid()).into()),
                ("number", integer(retired.len() + n + 1)),
                ("active", (unit.status == Status::Active).into()),
                ("body", json(OPERATION, unit)?.into()),
            ]));
        }
        let query = on(&self.0.keys(space), PUT_UNITS)
            .param("steps", integer(retired.len() + units.len()))
            .param("retired", BoltType::from_iter(retired))
            .param("rows", BoltType::from_iter(rows));
        self.0.write_known(OPERATION, space, query).await.map(drop)
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        let ids: Vec<Uuid> = ids.iter().map(|it| it.uuid()).collect();
        by_id(&self.0, "graph.units", space, (UNITS, &ids)).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        const OPERATION: &str = "graph.changes";
        let query = on(&self.0.keys(space), CHANGES)
            .param("after", integer(sequence))
            .param("limit", integer(limit));
        let rows = self.0.read(OPERATION, query).await?;
        let change = |row: &Row| -> Result<Change> {
            let mut unit: Unit = body(OPERATION, row)?;
            if !column::<bool>(OPERATION, row, "live")? {
                unit.status = Status::Superseded;
            }
            Ok(Change {
                sequence: natural(OPERATION, row, "sequence")?,
                unit,
            })
        };
        rows.iter().map(change).collect()
    }

    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()> {
        relations::put(&self.0, "graph.put_relations", space, relations).await
    }

    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>> {
        relations::beside(&self.0, "graph.relations", space, (units, limit)).await
    }

    async fn put_facts(&self, space: &SpaceId, facts: &[Fact]) -> Result<()> {
        const OPERATION: &str = "graph.put_facts";
        for it in facts {
            finite(OPERATION, it.id.uuid(), it.confidence)?;
        }
        let items = facts.iter().map(|it| (it.id.uuid(), it, true));
        self.put_bodies(OPERATION, space, FACTS, items).await
    }

    async fn facts(&self, space: &SpaceId, after: Option<FactId>, limit: usize) -> Result<Vec<Fact>> {
        let page = (FACTS, after.map(FactId::uuid), limit);
        self.page("graph.facts", space, page).await
    }

    async fn put_entities(&self, space: &SpaceId, entities: &[Entity]) -> Result<()> {
        let items = entities.iter().map(|it| (it.id.uuid(), it, it.mentions > 0));
        self.put_bodies("graph.put_entities", space, ENTITIES, items).await
    }

    async fn entities(&self, space: &SpaceId, after: Option<EntityId>, limit: usize) -> Result<Vec<Entity>> {
        let page = (ENTITIES, after.map(EntityId::uuid), limit);
        self.page("graph.entities", space, page).await
    }
}

impl NodeGraph {
    /// Keeps each body, or removes it if it is not to be kept; the last of each id counts.
    async fn put_bodies<'a, T: Serialize + 'a>(
        &self,
        operation: &'static str,
        space: &SpaceId,
        kind: Bodies,
        items: impl Iterator<Item = (Uuid, &'a T, bool)> + Send,
    ) -> Result<()> {
        let last: BTreeMap<Uuid, (&T, bool)> = items.map(|(id, it, keep)| (id, (it, keep))).collect();
        let (mut rows, mut gone) = (Vec::with_capacity(last.len()), Vec::new());
        for (uuid, (it, keep)) in last {
            if !keep {
                gone.push(id(uuid));
                continue;
            }
            let body = json(operation, it)?;
            let bytes = body.len() + 50;
            rows.push((row([("id", id(uuid).into()), ("body", body.into())]), bytes));
        }
        let keys = self.0.keys(space);
        for rows in parts(rows) {
            let query = on(&keys, kind.put)
                .param("rows", BoltType::from_iter(rows))
                .param("gone", std::mem::take(&mut gone));
            self.0.write_known(operation, space, query).await?;
        }
        Ok(())
    }

    async fn page<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        space: &SpaceId,
        (kind, after, limit): (Bodies, Option<Uuid>, usize),
    ) -> Result<Vec<T>> {
        let keys = self.0.keys(space);
        let query = on(&keys, kind.page)
            .param("after", after.map(id).unwrap_or_default())
            .param("until", keys.until())
            .param("limit", integer(limit));
        let rows = self.0.read(operation, query).await?;
        rows.iter().map(|it| body(operation, it)).collect()
    }
}

/// Reads what a statement finds for `$ids`, as columns `key` and `body`, and returns it in the order asked.
pub(super) async fn by_id<T: DeserializeOwned + Clone>(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    (text, ids): (&'static str, &[Uuid]),
) -> Result<Vec<T>> {
    let keys = client.keys(space);
    let rows = client
        .read_by_id(operation, ids.iter().copied(), on(&keys, text))
        .await?;
    let mut found = HashMap::with_capacity(ids.len());
    for row in &rows {
        let key: &str = row.get("key").map_err(|error| damaged(operation, error))?;
        let id = id_of(key).map_err(|error| damaged(operation, error))?;
        found.insert(id, body::<T>(operation, row)?);
    }
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

fn finite(operation: &'static str, id: Uuid, number: f32) -> Result<()> {
    if number.is_finite() {
        return Ok(());
    }
    let detail = format!("{id} has a confidence that is not a number");
    Err(PortError::new(operation, ErrorKind::Invalid, detail))
}
