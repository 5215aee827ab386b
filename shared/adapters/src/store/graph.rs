use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{EntityId, FactId, SpaceId, UnitId};
use domain::port::{Change, Graph, Result};
use domain::relation::Relation;
use domain::unit::{Status, Unit};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::relations;
use super::{Durability, Failure, Outcome, Store, integer, known_space, natural, space_row};

/// Units, relations, facts and entities in the file.
pub(crate) struct StoredGraph(pub(crate) Arc<Store>);

/// Something kept as a body under an id.
struct Body {
    id: Uuid,
    json: Vec<u8>,
}

/// A table of bodies by id.
#[derive(Clone, Copy)]
struct Bodies {
    put: &'static str,
    remove: &'static str,
    page: &'static str,
}

const FACTS: Bodies = Bodies {
    put: "INSERT INTO facts (space, id, body) VALUES (?1, ?2, ?3) ON CONFLICT (space, id) DO UPDATE SET body = ?3",
    remove: "DELETE FROM facts WHERE space = ?1 AND id = ?2",
    page: "SELECT body FROM facts WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
};
const ENTITIES: Bodies = Bodies {
    put: "INSERT INTO entities (space, id, body) VALUES (?1, ?2, ?3) ON CONFLICT (space, id) DO UPDATE SET body = ?3",
    remove: "DELETE FROM entities WHERE space = ?1 AND id = ?2",
    page: "SELECT body FROM entities WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
};

#[async_trait]
impl Graph for StoredGraph {
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        let encoded: Outcome<Vec<(Body, bool)>> = units.iter().map(unit_body).collect();
        let (space, retired) = (space.clone(), retired.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            for id in retired {
                retire(db, row, id)?;
            }
            encoded?
                .iter()
                .try_for_each(|(body, active)| put_unit(db, row, body, *active))
        };
        self.0.write("graph.put_units", Durability::Process, job).await
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut statement =
                db.prepare_cached("SELECT body FROM units WHERE space = ?1 AND id = ?2 AND removed = 0")?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut rows = statement.query(params![row, id.uuid().as_bytes()])?;
                if let Some(row) = rows.next()? {
                    found.push(decoded(row, 0)?);
                }
            }
            Ok(found)
        };
        self.0.read("graph.units", job).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => changes(db, row, sequence, limit),
            None => Ok(Vec::new()),
        };
        self.0.read("graph.changes", job).await
    }

    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()> {
        let (space, relations) = (space.clone(), relations.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            relations.iter().try_for_each(|it| relations::put(db, row, it))
        };
        self.0.write("graph.put_relations", Durability::Process, job).await
    }

    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>> {
        let (space, units) = (space.clone(), units.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut found = BTreeMap::new();
            for unit in units {
                relations::beside(db, row, unit, limit, &mut found)?;
            }
            Ok(found.into_values().take(limit).collect())
        };
        self.0.read("graph.relations", job).await
    }

    async fn put_facts(&self, space: &SpaceId, facts: &[Fact]) -> Result<()> {
        let bodies: Outcome<Vec<_>> = facts
            .iter()
            .map(|it| Ok((body(it.id.uuid(), it, it.confidence)?, true)))
            .collect();
        self.put_bodies("graph.put_facts", space, FACTS, bodies).await
    }

    async fn facts(&self, space: &SpaceId, after: Option<FactId>, limit: usize) -> Result<Vec<Fact>> {
        self.page("graph.facts", space, FACTS, after.map(FactId::uuid), limit)
            .await
    }

    async fn put_entities(&self, space: &SpaceId, entities: &[Entity]) -> Result<()> {
        let bodies: Outcome<Vec<_>> = entities
            .iter()
            .map(|it| Ok((body(it.id.uuid(), it, 1.0)?, it.mentions > 0)))
            .collect();
        self.put_bodies("graph.put_entities", space, ENTITIES, bodies).await
    }

    async fn entities(&self, space: &SpaceId, after: Option<EntityId>, limit: usize) -> Result<Vec<Entity>> {
        self.page("graph.entities", space, ENTITIES, after.map(EntityId::uuid), limit)
            .await
    }
}

impl StoredGraph {
    /// Keeps each body, or removes it if it is not to be kept.
    async fn put_bodies(
        &self,
        operation: &'static str,
        space: &SpaceId,
        table: Bodies,
        bodies: Outcome<Vec<(Body, bool)>>,
    ) -> Result<()> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let (mut put, mut remove) = (db.prepare_cached(table.put)?, db.prepare_cached(table.remove)?);
            for (body, keep) in bodies? {
                let id = body.id.as_bytes();
                if keep {
                    put.execute(params![row, id, body.json])?
                } else {
                    remove.execute(params![row, id])?
                };
            }
            Ok(())
        };
        self.0.write(operation, Durability::Process, job).await
    }

    async fn page<T: DeserializeOwned + Send + 'static>(
        &self,
        operation: &'static str,
        space: &SpaceId,
        table: Bodies,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<T>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut statement = db.prepare_cached(table.page)?;
            // The empty blob sorts before every id.
            let after = after.map(|it| it.as_bytes().to_vec()).unwrap_or_default();
            let mut rows = statement.query((row, after, integer(limit)))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(decoded(row, 0)?);
            }
            Ok(found)
        };
        self.0.read(operation, job).await
    }
}

fn body<T: Serialize>(id: Uuid, it: &T, confidence: f32) -> Outcome<Body> {
    if !confidence.is_finite() {
        return Err(Failure::invalid(format!("{id} has a confidence that is not a number")));
    }
    let json = serde_json::to_vec(it).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Body { id, json })
}

fn unit_body(unit: &Unit) -> Outcome<(Body, bool)> {
    Ok((
        body(unit.id.uuid(), unit, unit.confidence)?,
        unit.status == Status::Active,
    ))
}

fn decoded<T: DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> Outcome<T> {
    let body = row.get_ref(column)?.as_blob().map_err(Failure::body)?;
    serde_json::from_slice(body).map_err(Failure::body)
}

fn put_unit(db: &Connection, space: i64, body: &Body, active: bool) -> Outcome<()> {
    let id = body.id.as_bytes();
    let mut select =
        db.prepare_cached("SELECT counted, removed = 0 AND body = ?3 FROM units WHERE space = ?1 AND id = ?2")?;
    let known: Option<(bool, bool)> = select
        .query_row(params![space, id, body.json], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let counted = known.is_some_and(|(counted, _)| counted);
    if known.is_some_and(|(_, equal)| equal) {
        return Ok(());
    }
    let sequence = next_change(db, space, i64::from(active) - i64::from(counted))?;
    let mut put = db.prepare_cached(
        "INSERT INTO units (space, id, sequence, removed, counted, body) VALUES (?1, ?2, ?3, 0, ?4, ?5)
         ON CONFLICT (space, id) DO UPDATE SET sequence = ?3, removed = 0, counted = ?4, body = ?5",
    )?;
    put.execute(params![space, id, sequence, active, body.json])?;
    Ok(())
}

fn retire(db: &Connection, space: i64, id: UnitId) -> Outcome<()> {
    let mut select =
        db.prepare_cached("SELECT row, counted FROM units WHERE space = ?1 AND id = ?2 AND removed = 0")?;
    let known = select.query_row(params![space, id.uuid().as_bytes()], |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    let Some((row, counted)) = known.optional()? else {
        return Ok(());
    };
    let (row, counted): (i64, bool) = (row, counted);
    let sequence = next_change(db, space, -i64::from(counted))?;
    let mut update = db.prepare_cached("UPDATE units SET sequence = ?2, removed = 1, counted = 0 WHERE row = ?1")?;
    update.execute((row, sequence))?;
    Ok(())
}

/// Takes the next sequence of the space and moves its number of active units.
fn next_change(db: &Connection, space: i64, units: i64) -> Outcome<i64> {
    let mut update = db.prepare_cached(
        "UPDATE spaces SET changes = changes + 1, units = units + ?2 WHERE row = ?1 RETURNING changes",
    )?;
    Ok(update.query_row((space, units), |row| row.get(0))?)
}

fn changes(db: &Connection, space: i64, sequence: u64, limit: usize) -> Outcome<Vec<Change>> {
    let mut statement = db.prepare_cached(
        "SELECT sequence, removed, body FROM units WHERE space = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query((space, integer(sequence), integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut unit: Unit = decoded(row, 2)?;
        if row.get(1)? {
            unit.status = Status::Superseded;
        }
        found.push(Change {
            sequence: natural(row.get(0)?),
            unit,
        });
    }
    Ok(found)
}
