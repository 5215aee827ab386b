use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{
    Claim, Held, Hold, Idempotent, Position, Records, Result, Room, Selection, SpaceInfo, UnfinishedErasure, folded,
};
use domain::recall::Note;
use domain::record::Record;
use rusqlite::{CachedStatement, Connection, Params, params};

use super::{Durability, Failure, Outcome, Store, integer, known_space, space_row};
use super::{curations, digest, idempotency, notes, readings, secrets, selected, spaces};
use crate::names;

/// Spaces and records in the file.
pub(crate) struct StoredRecords(pub(crate) Arc<Store>);

/// A record as a row.
struct Line {
    id: RecordId,
    session: SessionId,
    observed_at: (i64, u32),
    ordinal: i64,
    actor: String,
    body: Vec<u8>,
}

#[async_trait]
impl Records for StoredRecords {
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool> {
        let name = space.to_string();
        let job = move |db: &Connection| spaces::create(db, &name, at);
        self.0.write("records.create_space", Durability::Power, job).await
    }

    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>> {
        let name = space.to_string();
        let job = move |db: &Connection| Ok(spaces::infos(db, "WHERE name = ?1", [name])?.pop());
        self.0.read("records.space", job).await
    }

    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        let (from, until) = names::under(prefix, after);
        let some = "WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3";
        let job = move |db: &Connection| spaces::infos(db, some, (from, until, integer(limit)));
        self.0.read("records.spaces_under", job).await
    }

    async fn delete_space(&self, space: &SpaceId) -> Result<bool> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => spaces::erase(db, row).map(|()| true),
            None => Ok(false),
        };
        self.0.erase("records.delete_space", job).await
    }

    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>> {
        let space = space.map(SpaceId::to_string);
        let job = move |db: &Connection| spaces::unfinished(db, space.as_deref(), integer(limit));
        self.0.read("records.unfinished_erasures", job).await
    }

    /// The deletion was a single transaction, so there is nothing to complete.
    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()> {
        let erasure = erasure.clone();
        let job = move |db: &Connection| spaces::finish(db, &erasure);
        self.0.erase("records.finish_erasure", job).await
    }

    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>> {
        let (space, claims) = (space.clone(), claims.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            claims
                .iter()
                .map(|(record, digest)| claim(db, row, *record, *digest))
                .collect()
        };
        self.0.write("records.claim", Durability::Power, job).await
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
        self.0.read("records.claimed", job).await
    }

    async fn hold(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<Held> {
        let (space, key, hold) = (space.clone(), key.to_owned(), *hold);
        let job = move |db: &Connection| idempotency::hold(db, known_space(db, &space)?, &key, &hold);
        self.0.write("records.hold", Durability::Process, job).await
    }

    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()> {
        let (space, key, hold) = (space.clone(), key.to_owned(), *hold);
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => idempotency::release(db, row, &key, &hold, bound),
            None => Ok(()),
        };
        self.0.write("records.release", Durability::Process, job).await
    }

    async fn remembered(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>> {
        let (space, key) = (space.clone(), key.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => idempotency::remembered(db, row, &key),
            None => Ok(None),
        };
        self.0.read("records.remembered", job).await
    }

    async fn remember(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()> {
        let (space, key, outcome) = (space.clone(), key.to_owned(), outcome.clone());
        let job = move |db: &Connection| idempotency::remember(db, known_space(db, &space)?, &key, &outcome, at);
        self.0.write("records.remember", Durability::Power, job).await
    }

    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
        let name = name.to_owned();
        let job = move |db: &Connection| secrets::keep(db, &name, fresh);
        self.0.write("records.secret", Durability::Power, job).await
    }

    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()> {
        let lines: Outcome<Vec<Line>> = records.iter().map(|it| line(space, it)).collect();
        let space = space.clone();
        let job = move |db: &Connection| put(db, known_space(db, &space)?, lines?);
        self.0.write("records.put", Durability::Power, job).await
    }

    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => erase(db, row, &ids),
            None => Ok(()),
        };
        self.0.erase("records.erase", job).await
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
                found.extend(bodies(&mut statement, params![row, id.uuid().as_bytes()])?);
            }
            Ok(found)
        };
        self.0.read("records.get", job).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)> {
        selected::select(&self.0, "records.select", space, selection, (after, room)).await
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
            let mut records = beside(db, row, (session, around), Side::Until(before))?;
            records.reverse();
            records.extend(beside(db, row, (session, around), Side::Behind(after))?);
            Ok(records)
        };
        self.0.read("records.session", job).await
    }

    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let mut statement = db.prepare_cached("INSERT INTO written VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
            statement.execute((row, integer(position.0)))?;
            curations::brought_any(db, row, position)
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
            Ok(statement.exists((row, integer(position.0)))?)
        };
        self.0.read("records.is_written", job).await
    }

    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()> {
        let rows: Outcome<Vec<curations::Row>> = curations.iter().map(curations::row).collect();
        let space = space.clone();
        let job = move |db: &Connection| curations::put(db, known_space(db, &space)?, position, &rows?);
        self.0.write("records.put_curations", Durability::Power, job).await
    }

    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::list(db, row, after, limit),
            None => Ok(Vec::new()),
        };
        self.0.read("records.curations", job).await
    }

    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::redact(db, row, &ids),
            None => Ok(()),
        };
        self.0.erase("records.redact_curations", job).await
    }

    async fn brought_by(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>> {
        let space = space.clone();
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => curations::brought_by(db, row, id),
            None => Ok(None),
        };
        self.0.read("records.brought_by", job).await
    }

    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()> {
        let scope = notes::scope(scope);
        let (space, notes) = (space.clone(), notes.to_vec());
        let job = move |db: &Connection| notes::put(db, known_space(db, &space)?, &scope?, &notes, most);
        self.0.write("records.note", Durability::Process, job).await
    }

    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
        let (space, scope) = (space.clone(), scope.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => notes::of(db, row, &scope),
            None => Ok(Vec::new()),
        };
        self.0.read("records.notes", job).await
    }

    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()> {
        let (space, scope) = (space.clone(), scope.to_owned());
        let job = move |db: &Connection| match space_row(db, &space)? {
            Some(row) => notes::forget(db, row, &scope),
            None => Ok(()),
        };
        self.0.erase("records.forget_notes", job).await
    }
}

/// The side of a record in its session, and the maximum number of records on that side.
enum Side {
    /// The record and those before it, latest first.
    Until(usize),
    /// The records after it, earliest first.
    Behind(usize),
}

fn claim(db: &Connection, space: i64, record: RecordId, digest: [u8; 32]) -> Outcome<Claim> {
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

fn line(space: &SpaceId, record: &Record) -> Outcome<Line> {
    if record.space != *space {
        return Err(Failure::invalid(format!(
            "record {} belongs to space {}",
            record.id, record.space
        )));
    }
    let observed_at = (
        record.observed_at.timestamp(),
        record.observed_at.timestamp_subsec_nanos(),
    );
    let body = serde_json::to_vec(record).map_err(|error| Failure::invalid(error.to_string()))?;
    // Flipping the first bit maps the order of u64 to the order of i64.
    let ordinal = (record.ordinal ^ (1 << 63)).cast_signed();
    Ok(Line {
        id: record.id,
        session: record.session,
        observed_at,
        ordinal,
        actor: folded(&record.actor),
        body,
    })
}

fn put(db: &Connection, space: i64, lines: Vec<Line>) -> Outcome<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO records (row, space, id, session, seconds, nanos, ordinal, actor, body, digest)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (space, id) DO NOTHING",
    )?;
    let last: i64 = db
        .prepare_cached("SELECT last FROM record_rows")?
        .query_row([], |row| row.get(0))?;
    let mut stored = 0;
    for it in lines {
        let (id, session) = (it.id.uuid().into_bytes(), it.session.uuid().into_bytes());
        let (seconds, nanos) = it.observed_at;
        let row = last + integer(stored) + 1;
        let digest = digest::of(&it.body);
        stored += insert.execute(params![
            row, space, id, session, seconds, nanos, it.ordinal, it.actor, it.body, digest
        ])?;
    }
    db.execute("UPDATE record_rows SET last = last + ?1", [integer(stored)])?;
    let mut count = db.prepare_cached("UPDATE spaces SET records = records + ?2 WHERE row = ?1")?;
    count.execute((space, integer(stored)))?;
    Ok(())
}

fn erase(db: &Connection, space: i64, ids: &[RecordId]) -> Outcome<()> {
    let mut record = db.prepare_cached("DELETE FROM records WHERE space = ?1 AND id = ?2")?;
    let mut claim = db.prepare_cached("DELETE FROM claims WHERE space = ?1 AND record = ?2")?;
    let mut erased = 0;
    for id in ids {
        erased += record.execute(params![space, id.uuid().as_bytes()])?;
        claim.execute(params![space, id.uuid().as_bytes()])?;
    }
    readings::remove_of_records(db, space, ids)?;
    db.prepare_cached("UPDATE spaces SET records = records - ?2 WHERE row = ?1")?
        .execute((space, integer(erased)))?;
    idempotency::forget_records(db, space, ids)
}

fn beside(db: &Connection, space: i64, (session, around): (SessionId, RecordId), side: Side) -> Outcome<Vec<Record>> {
    let (compare, order, limit) = match side {
        Side::Until(limit) => ("<=", "DESC", limit),
        Side::Behind(limit) => (">", "ASC", limit),
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT body, digest FROM records WHERE space = ?1 AND session = ?2 AND (seconds, nanos, ordinal, id) {compare}
           (SELECT seconds, nanos, ordinal, id FROM records WHERE space = ?1 AND id = ?3 AND session = ?2)
         ORDER BY seconds {order}, nanos {order}, ordinal {order}, id {order} LIMIT ?4",
    ))?;
    bodies(
        &mut statement,
        params![
            space,
            session.uuid().as_bytes(),
            around.uuid().as_bytes(),
            integer(limit)
        ],
    )
}

fn bodies(statement: &mut CachedStatement<'_>, key: impl Params) -> Outcome<Vec<Record>> {
    let mut rows = statement.query(key)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified(row, 0)?);
    }
    Ok(found)
}
