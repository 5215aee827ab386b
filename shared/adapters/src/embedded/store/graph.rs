use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{SessionId, SpaceId, UnitId};
use domain::port::{
    BlockGap, Change, DerivedChange, Graph, Result, Room, Selection, UnitBlock, UnitDigest, UnitFeed, WrittenBlockFile,
    case_folded_actor,
};
use domain::relation::Relation;
use domain::unit::{Status, Unit};
use rusqlite::{Connection, OptionalExtension, params};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::unit_blocks::{self, ReadFeed};
use super::{Durability, Failure, Outcome, Store, from_sql_integer, known_space, space_row, to_sql_integer};
use super::{block_file_writer, block_files, derived_objects, digest, listing, relations};

/// Units, relations and all derived objects, in the file.
pub(crate) struct StoredGraph(pub(crate) Arc<Store>);

/// A unit as a row.
struct Row {
    id: Uuid,
    session: SessionId,
    actor: String,
    active: bool,
    body: Vec<u8>,
}

#[async_trait]
impl Graph for StoredGraph {
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        const PUT: &str = "graph.put_units";
        let rows: Outcome<Vec<Row>> = units.iter().map(unit_row).collect();
        let (space, is_erasure, retired) = (space.clone(), !retired.is_empty(), retired.to_vec());
        let job = move |db: &Connection| {
            let space = known_space(db, &space)?;
            block_files::note_outdated(db, || {
                retired.iter().try_for_each(|it| retire_unit(db, space, *it))?;
                rows?.iter().try_for_each(|it| put_unit(db, space, it))
            })
        };
        self.0.write_blocks(PUT, job).await?;
        // What an earlier erasure could not destroy delays further ones, but no other write.
        match is_erasure {
            true => self.0.destroy_outdated_files(PUT).await,
            false => Ok(()),
        }
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut statement =
                db.prepare_cached("SELECT body, digest FROM units WHERE space = ?1 AND id = ?2 AND removed = 0")?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut rows = statement.query(params![row, id.uuid().as_bytes()])?;
                if let Some(row) = rows.next()? {
                    found.push(digest::verified_value(row, 0)?);
                }
            }
            Ok(found)
        };
        self.0.run_read("graph.units", job).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => unit_changes(db, row, sequence, limit),
            None => Ok(Vec::new()),
        };
        self.0.run_read("graph.changes", job).await
    }

    async fn unit_feed(&self, space: &SpaceId, sequence: u64, limit: usize, version: i64) -> Result<UnitFeed> {
        const READ: &str = "graph.unit_feed";
        let (space, files) = (space.clone(), Arc::clone(&self.0.block_files));
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => unit_blocks::unit_feed(db, row, sequence, limit, version, &files),
            None => Ok(ReadFeed::default()),
        };
        let ReadFeed {
            feed,
            damaged,
            unusable,
        } = self.0.run_read(READ, job).await?;
        self.0.remove_unusable_files(READ, unusable).await;
        if !damaged.is_empty() {
            tracing::warn!(
                blocks = damaged.len(),
                "blocks of units were damaged and are made again"
            );
            let job =
                move |db: &Connection| block_files::note_outdated(db, || unit_blocks::delete_blocks(db, &damaged));
            self.0.write_blocks(READ, job).await?;
        }
        Ok(feed)
    }

    async fn block_gap(&self, space: &SpaceId, sequence: u64, limit: usize, version: i64) -> Result<Option<BlockGap>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => unit_blocks::block_gap(db, row, sequence, limit, version),
            None => Ok(None),
        };
        self.0.run_read("graph.block_gap", job).await
    }

    async fn put_block(
        &self,
        space: &SpaceId,
        version: i64,
        block: &UnitBlock,
        digests: &[UnitDigest],
    ) -> Result<bool> {
        let (space, block, digests) = (space.clone(), block.clone(), digests.to_vec());
        let job = move |db: &Connection| {
            let space = known_space(db, &space)?;
            block_files::note_outdated(db, || unit_blocks::put_block(db, space, version, &block, &digests))
        };
        self.0.write_blocks("graph.put_block", job).await
    }

    async fn write_block_file(&self, space: &SpaceId, version: i64) -> Result<Option<WrittenBlockFile>> {
        block_file_writer::write_block_file(&self.0, space, version).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Unit>, Option<u64>)> {
        listing::select_items(&self.0, "graph.select", space, selection, after, room).await
    }

    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()> {
        let (space, relations) = (space.clone(), relations.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            relations.iter().try_for_each(|it| relations::put_relation(db, row, it))
        };
        self.0.run_write("graph.put_relations", Durability::Process, job).await
    }

    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>> {
        let (space, units) = (space.clone(), units.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut found = BTreeMap::new();
            for unit in units {
                relations::add_relations_of_unit(db, row, unit, limit, &mut found)?;
            }
            Ok(found.into_values().take(limit).collect())
        };
        self.0.run_read("graph.relations", job).await
    }

    async fn put_derived(&self, space: &SpaceId, items: &[Derived], removed: &[DerivedId]) -> Result<()> {
        self.put_derived_if("graph.put_derived", None, space, items, removed)
            .await
    }

    async fn derived_write_count(&self, space: &SpaceId) -> Result<u64> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => derived_objects::derived_write_count(db, row),
            None => Ok(0),
        };
        self.0.run_read("graph.derived_turn", job).await
    }

    async fn put_derived_if_unchanged(
        &self,
        space: &SpaceId,
        turn: u64,
        items: &[Derived],
        removed: &[DerivedId],
    ) -> Result<()> {
        self.put_derived_if("graph.put_derived_at", Some(turn), space, items, removed)
            .await
    }

    async fn list_derived(
        &self,
        space: &SpaceId,
        kind: DerivedKind,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Derived>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => derived_objects::list_derived(db, row, kind, after, limit),
            None => Ok(Vec::new()),
        };
        self.0.run_read("graph.list_derived", job).await
    }

    async fn derived(&self, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<Derived>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => derived_objects::get_derived(db, row, &ids),
            None => Ok(Vec::new()),
        };
        self.0.run_read("graph.derived", job).await
    }

    async fn derived_changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<DerivedChange>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => derived_objects::derived_changes(db, row, sequence, limit),
            None => Ok(Vec::new()),
        };
        self.0.run_read("graph.derived_changes", job).await
    }
}

impl StoredGraph {
    /// Removes and puts derived objects. If a turn is given, only when the space is at that turn.
    async fn put_derived_if(
        &self,
        operation: &'static str,
        turn: Option<u64>,
        space: &SpaceId,
        items: &[Derived],
        removed: &[DerivedId],
    ) -> Result<()> {
        let rows: Outcome<Vec<derived_objects::Row>> = items.iter().map(derived_objects::derived_row).collect();
        let (space, removed) = (space.clone(), removed.to_vec());
        let job = move |db: &Connection| {
            let space = known_space(db, &space)?;
            derived_objects::take_turn(db, space, turn)?;
            removed
                .iter()
                .try_for_each(|it| derived_objects::remove_derived(db, space, *it))?;
            rows?
                .iter()
                .try_for_each(|it| derived_objects::put_derived(db, space, it))
        };
        self.0.run_write(operation, Durability::Process, job).await
    }
}

/// Returns the value of a body that is about to be emptied, without checking its digest.
fn decode_body<T: DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> Outcome<T> {
    let body = row.get_ref(column)?.as_blob().map_err(Failure::unreadable_body)?;
    serde_json::from_slice(body).map_err(Failure::unreadable_body)
}

fn unit_row(unit: &Unit) -> Outcome<Row> {
    if !unit.confidence.is_finite() {
        let detail = format!("{} has a confidence that is not a number", unit.id);
        return Err(Failure::invalid(detail));
    }
    Ok(Row {
        id: unit.id.uuid(),
        session: unit.session,
        actor: case_folded_actor(&unit.actor),
        active: unit.status == Status::Active,
        body: unit_body(unit)?,
    })
}

fn unit_body(unit: &Unit) -> Outcome<Vec<u8>> {
    serde_json::to_vec(unit).map_err(|error| Failure::invalid(error.to_string()))
}

fn put_unit(db: &Connection, space: i64, it: &Row) -> Outcome<()> {
    let (id, digest) = (it.id.as_bytes(), digest::digest_of_body(&it.body));
    let mut select = db.prepare_cached(
        "SELECT counted, removed = 0 AND body = ?3 AND digest IS ?4 FROM units WHERE space = ?1 AND id = ?2",
    )?;
    let known: Option<(bool, bool)> = select
        .query_row(params![space, id, it.body, digest], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let counted = known.is_some_and(|(counted, _)| counted);
    if known.is_some_and(|(_, equal)| equal) {
        return Ok(());
    }
    let sequence = next_change(db, space, i64::from(it.active) - i64::from(counted))?;
    let mut put = db.prepare_cached(
        "INSERT INTO units (space, id, sequence, removed, counted, session, actor, body, digest)
         VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (space, id) DO UPDATE
         SET sequence = ?3, removed = 0, counted = ?4, session = ?5, actor = ?6, body = ?7, digest = ?8",
    )?;
    let session = it.session.uuid();
    put.execute(params![
        space,
        id,
        sequence,
        it.active,
        session.as_bytes(),
        it.actor,
        it.body,
        digest
    ])?;
    Ok(())
}

/// Replaces a unit by a tombstone without content.
fn retire_unit(db: &Connection, space: i64, id: UnitId) -> Outcome<()> {
    let mut select =
        db.prepare_cached("SELECT row, counted, body FROM units WHERE space = ?1 AND id = ?2 AND removed = 0")?;
    let mut rows = select.query(params![space, id.uuid().as_bytes()])?;
    let Some(found) = rows.next()? else {
        return Ok(());
    };
    let (row, counted): (i64, bool) = (found.get(0)?, found.get(1)?);
    let unit: Unit = decode_body(found, 2)?;
    let sequence = next_change(db, space, -i64::from(counted))?;
    let mut update = db.prepare_cached(
        "UPDATE units SET sequence = ?2, removed = 1, counted = 0, session = NULL, actor = NULL, body = ?3, digest = ?4
         WHERE row = ?1",
    )?;
    let body = unit_body(&unit.without_content())?;
    update.execute(params![row, sequence, body, digest::digest_of_body(&body)])?;
    Ok(())
}

/// Returns the next sequence number of the space, and adds `units` to its number of active units.
fn next_change(db: &Connection, space: i64, units: i64) -> Outcome<i64> {
    let mut update = db.prepare_cached(
        "UPDATE spaces SET changes = changes + 1, units = units + ?2 WHERE row = ?1 RETURNING changes",
    )?;
    Ok(update.query_row((space, units), |row| row.get(0))?)
}

fn unit_changes(db: &Connection, space: i64, sequence: u64, limit: usize) -> Outcome<Vec<Change>> {
    let mut statement = db.prepare_cached(
        "SELECT sequence, body, digest FROM units WHERE space = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query((space, to_sql_integer(sequence), to_sql_integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Change {
            sequence: from_sql_integer(row.get(0)?),
            unit: digest::verified_value(row, 1)?,
        });
    }
    Ok(found)
}
