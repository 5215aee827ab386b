mod record_rows;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{
    Claim, Hold, Idempotent, KeyClaim, Position, Records, Result, Room, Selection, SpaceInfo, UnfinishedErasure,
};
use domain::recall::Note;
use domain::record::Record;
use rusqlite::{CachedStatement, Connection, Params, params};

use super::block_files::{self, Changed};
use super::{Durability, Outcome, Store, known_space, space_row, to_sql_integer};
use super::{curations, digest, idempotency, listing, notes, readings, secrets, space_erasure, spaces};
use crate::store_rules::space_names;
use record_rows::{Line, put_records, record_row};

/// Spaces and records in the file.
pub(crate) struct StoredRecords(pub(crate) Arc<Store>);

#[async_trait]
impl Records for StoredRecords {
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool> {
        let name = space.to_string();
        let job = move |db: &Connection| spaces::create_space(db, &name, at);
        self.0.run_write("records.create_space", Durability::Power, job).await
    }

    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>> {
        let name = space.to_string();
        let job = move |db: &Connection| Ok(spaces::list_space_infos(db, "WHERE name = ?1", [name])?.pop());
        self.0.run_read("records.space", job).await
    }

    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        let (from, until) = space_names::range_with_prefix(prefix, after);
        let some = "WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3";
        let job = move |db: &Connection| spaces::list_space_infos(db, some, (from, until, to_sql_integer(limit)));
        self.0.run_read("records.spaces_under", job).await
    }

    async fn delete_space(&self, space: &SpaceId) -> Result<bool> {
        const DELETE: &str = "records.delete_space";
        let name = space.clone();
        let job = move |db: &Connection| match space_row(db, &name)? {
            Some(row) => block_files::note_outdated(db, || space_erasure::hide_space(db, row).map(|()| true)),
            None => Ok(Changed {
                value: false,
                outdated: Vec::new(),
            }),
        };
        let is_deleted = self.0.erase_blocks(DELETE, job).await?;
        if is_deleted {
            self.0.erase_deleted_space(DELETE, space).await?;
        }
        Ok(is_deleted)
    }

    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>> {
        let space = space.map(SpaceId::to_string);
        let job = move |db: &Connection| spaces::unfinished_erasures(db, space.as_deref(), to_sql_integer(limit));
        self.0.run_read("records.unfinished_erasures", job).await
    }

    /// Rows and outdated files of the space may remain, if they could not be deleted, the caller of the deletion stopped
    /// waiting, or the process ended.
    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()> {
        const FINISH: &str = "records.finish_erasure";
        self.0.erase_deleted_space(FINISH, &erasure.space).await?;
        self.0.destroy_outdated_files(FINISH).await?;
        let erasure = erasure.clone();
        let job = move |db: &Connection| spaces::remove_erasure_note(db, &erasure);
        self.0.run_erasure(FINISH, job).await
    }

    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>> {
        let (space, claims) = (space.clone(), claims.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            claims
                .iter()
                .map(|(record, digest)| claim_id(db, row, *record, *digest))
                .collect()
        };
        self.0.run_write("records.claim", Durability::Power, job).await
    }

    async fn claimed(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut known = db.prepare_cached("SELECT 1 FROM claims WHERE space = ?1 AND record = ?2")?;
            let mut claimed = Vec::with_capacity(ids.len());
            for id in ids {
                if known.exists(params![row, id.uuid().as_bytes()])? {
                    claimed.push(id);
                }
            }
            Ok(claimed)
        };
        self.0.run_read("records.claimed", job).await
    }

    async fn hold_idempotency_key(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<KeyClaim> {
        let (space, key, hold) = (space.clone(), key.to_owned(), *hold);
        let job = move |db: &Connection| idempotency::hold_key(db, known_space(db, &space)?, &key, &hold);
        self.0.run_write("records.hold", Durability::Process, job).await
    }

    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()> {
        let (space, key, hold) = (space.clone(), key.to_owned(), *hold);
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => idempotency::release_hold(db, row, &key, &hold, bound),
            None => Ok(()),
        };
        self.0.run_write("records.release", Durability::Process, job).await
    }

    async fn stored_response(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>> {
        let (space, key) = (space.clone(), key.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => idempotency::remembered_response(db, row, &key),
            None => Ok(None),
        };
        self.0.run_read("records.remembered", job).await
    }

    async fn store_response(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()> {
        let (space, key, outcome) = (space.clone(), key.to_owned(), outcome.clone());
        let job =
            move |db: &Connection| idempotency::remember_response(db, known_space(db, &space)?, &key, &outcome, at);
        self.0.run_write("records.remember", Durability::Power, job).await
    }

    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
        let name = name.to_owned();
        let job = move |db: &Connection| secrets::get_or_store_secret(db, &name, fresh);
        self.0.run_write("records.secret", Durability::Power, job).await
    }

    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()> {
        let lines: Outcome<Vec<Line>> = records.iter().map(|it| record_row(space, it)).collect();
        let space = space.clone();
        let job = move |db: &Connection| put_records(db, known_space(db, &space)?, lines?);
        self.0.run_write("records.put", Durability::Power, job).await
    }

    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => erase_records(db, row, &ids),
            None => Ok(()),
        };
        self.0.run_erasure("records.erase", job).await
    }

    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut statement = db.prepare_cached("SELECT body, digest FROM records WHERE space = ?1 AND id = ?2")?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.extend(read_bodies(&mut statement, params![row, id.uuid().as_bytes()])?);
            }
            Ok(found)
        };
        self.0.run_read("records.get", job).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)> {
        listing::select_items(&self.0, "records.select", space, selection, after, room).await
    }

    async fn session(
        &self,
        space: &SpaceId,
        session: SessionId,
        around: RecordId,
        before: usize,
        after: usize,
    ) -> Result<Vec<Record>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut records = read_session_neighbours(db, row, session, around, SessionSide::Before(before))?;
            records.reverse();
            records.extend(read_session_neighbours(
                db,
                row,
                session,
                around,
                SessionSide::After(after),
            )?);
            Ok(records)
        };
        self.0.run_read("records.session", job).await
    }

    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let mut statement = db.prepare_cached("INSERT INTO written VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
            statement.execute((row, to_sql_integer(position.0)))?;
            curations::has_curations_of_batch(db, row, position)
        };
        // The batch may contain an erasure, and by now everything that derives from the record is deleted.
        let marked = self.0.erase_if("records.mark_written", job, |acts| *acts);
        marked.await.map(drop)
    }

    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(false);
            };
            let mut statement = db.prepare_cached("SELECT 1 FROM written WHERE space = ?1 AND position = ?2")?;
            Ok(statement.exists((row, to_sql_integer(position.0)))?)
        };
        self.0.run_read("records.is_written", job).await
    }

    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()> {
        let rows: Outcome<Vec<curations::Row>> = curations.iter().map(curations::curation_row).collect();
        let space = space.clone();
        let job = move |db: &Connection| curations::put_curations(db, known_space(db, &space)?, position, &rows?);
        self.0.run_write("records.put_curations", Durability::Power, job).await
    }

    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::list_curations(db, row, after, limit),
            None => Ok(Vec::new()),
        };
        self.0.run_read("records.curations", job).await
    }

    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::redact_curations(db, row, &ids),
            None => Ok(()),
        };
        self.0.run_erasure("records.redact_curations", job).await
    }

    async fn position_of_curation(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::position_of_curation(db, row, id),
            None => Ok(None),
        };
        self.0.run_read("records.brought_by", job).await
    }

    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()> {
        let scope = notes::check_scope(scope);
        let (space, notes) = (space.clone(), notes.to_vec());
        let job = move |db: &Connection| notes::put_notes(db, known_space(db, &space)?, &scope?, &notes, most);
        self.0.run_write("records.note", Durability::Process, job).await
    }

    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
        let (space, scope) = (space.clone(), scope.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => notes::list_notes(db, row, &scope),
            None => Ok(Vec::new()),
        };
        self.0.run_read("records.notes", job).await
    }

    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()> {
        let (space, scope) = (space.clone(), scope.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => notes::forget_notes(db, row, &scope),
            None => Ok(()),
        };
        self.0.run_erasure("records.forget_notes", job).await
    }
}

/// The side of a record in its session, and the maximum number of records on that side.
enum SessionSide {
    /// The record and those before it, latest first.
    Before(usize),
    /// The records after it, earliest first.
    After(usize),
}

fn claim_id(db: &Connection, space: i64, record: RecordId, digest: [u8; 32]) -> Outcome<Claim> {
    let mut insert = db.prepare_cached("INSERT INTO claims VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    if insert.execute(params![space, record.uuid().as_bytes(), digest])? > 0 {
        return Ok(Claim::Fresh);
    }
    let mut select = db.prepare_cached("SELECT digest FROM claims WHERE space = ?1 AND record = ?2")?;
    let claimed: [u8; 32] = select.query_row(params![space, record.uuid().as_bytes()], |row| row.get(0))?;
    Ok(if claimed == digest {
        Claim::Same
    } else {
        Claim::Conflict
    })
}

fn erase_records(db: &Connection, space: i64, ids: &[RecordId]) -> Outcome<()> {
    let mut record = db.prepare_cached("DELETE FROM records WHERE space = ?1 AND id = ?2")?;
    let mut claim = db.prepare_cached("DELETE FROM claims WHERE space = ?1 AND record = ?2")?;
    let mut erased = 0;
    for id in ids {
        erased += record.execute(params![space, id.uuid().as_bytes()])?;
        claim.execute(params![space, id.uuid().as_bytes()])?;
    }
    readings::remove_of_records(db, space, ids)?;
    db.prepare_cached("UPDATE spaces SET records = records - ?2 WHERE row = ?1")?
        .execute((space, to_sql_integer(erased)))?;
    idempotency::forget_records(db, space, ids)
}

fn read_session_neighbours(
    db: &Connection,
    space: i64,
    session: SessionId,
    around: RecordId,
    side: SessionSide,
) -> Outcome<Vec<Record>> {
    let (compare, order, limit) = match side {
        SessionSide::Before(limit) => ("<=", "DESC", limit),
        SessionSide::After(limit) => (">", "ASC", limit),
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT body, digest FROM records WHERE space = ?1 AND session = ?2 AND (seconds, nanos, ordinal, id) {compare}
           (SELECT seconds, nanos, ordinal, id FROM records WHERE space = ?1 AND id = ?3 AND session = ?2)
         ORDER BY seconds {order}, nanos {order}, ordinal {order}, id {order} LIMIT ?4",
    ))?;
    read_bodies(
        &mut statement,
        params![
            space,
            session.uuid().as_bytes(),
            around.uuid().as_bytes(),
            to_sql_integer(limit)
        ],
    )
}

fn read_bodies(statement: &mut CachedStatement<'_>, key: impl Params) -> Outcome<Vec<Record>> {
    let mut rows = statement.query(key)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified_value(row, 0)?);
    }
    Ok(found)
}
