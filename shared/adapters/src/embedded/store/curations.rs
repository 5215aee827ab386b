//! Curations as rows.

use domain::curation::Curation;
use domain::id::CurationId;
use domain::port::Position;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Failure, Outcome, digest, from_sql_integer, to_sql_integer};

/// A curation as a row.
pub(super) struct Row {
    id: CurationId,
    body: Vec<u8>,
}

/// Returns the row of a curation.
pub(super) fn curation_row(it: &Curation) -> Outcome<Row> {
    let body = serde_json::to_vec(it).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Row { id: it.id, body })
}

/// Inserts the curations that are not stored yet, and counts them.
pub(super) fn put_curations(db: &Connection, space: i64, position: Position, rows: &[Row]) -> Outcome<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO curations (space, id, position, body, digest) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )?;
    let position = to_sql_integer(position.0);
    let mut fresh = 0;
    for it in rows {
        fresh += insert.execute(params![
            space,
            it.id.uuid().as_bytes(),
            position,
            it.body,
            digest::digest_of_body(&it.body)
        ])?;
    }
    let mut count = db.prepare_cached("UPDATE spaces SET curated = curated + ?2 WHERE row = ?1")?;
    count.execute((space, to_sql_integer(fresh)))?;
    Ok(())
}

/// Redacts the curations that are stored, and removes traces of their words: the digest of their claim, and remembered
/// responses to requests with that digest.
pub(super) fn redact_curations(db: &Connection, space: i64, ids: &[CurationId]) -> Outcome<()> {
    let mut select = db.prepare_cached("SELECT body FROM curations WHERE space = ?1 AND id = ?2")?;
    let mut update = db.prepare_cached("UPDATE curations SET body = ?3, digest = ?4 WHERE space = ?1 AND id = ?2")?;
    let mut forget = db.prepare_cached(
        "DELETE FROM remembered WHERE space = ?1 AND request IN (SELECT digest FROM claims WHERE space = ?1 AND record = ?2)",
    )?;
    let mut claim = db.prepare_cached("UPDATE claims SET digest = zeroblob(32) WHERE space = ?1 AND record = ?2")?;
    for id in ids {
        let key = id.uuid().into_bytes();
        let body: Option<Vec<u8>> = select.query_row(params![space, key], |row| row.get(0)).optional()?;
        let Some(body) = body else { continue };
        let curation: Curation = serde_json::from_slice(&body).map_err(Failure::unreadable_body)?;
        let body = curation_row(&curation.without_words())?.body;
        update.execute(params![space, key, body, digest::digest_of_body(&body)])?;
        forget.execute(params![space, key])?;
        claim.execute(params![space, key])?;
    }
    Ok(())
}

/// Returns true if the batch at a position contained curations.
pub(super) fn has_curations_of_batch(db: &Connection, space: i64, position: Position) -> Outcome<bool> {
    let mut select = db.prepare_cached("SELECT 1 FROM curations WHERE space = ?1 AND position = ?2")?;
    Ok(select.exists((space, to_sql_integer(position.0)))?)
}

/// Returns the position of the batch that contained a curation, if it is stored.
pub(super) fn position_of_curation(db: &Connection, space: i64, id: CurationId) -> Outcome<Option<Position>> {
    let mut statement = db.prepare_cached("SELECT position FROM curations WHERE space = ?1 AND id = ?2")?;
    let found: Option<Option<i64>> = statement
        .query_row(params![space, id.uuid().as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().map(|it| Position(from_sql_integer(it))))
}

/// Returns up to `limit` curations after an id, by id.
pub(super) fn list_curations(
    db: &Connection,
    space: i64,
    after: Option<CurationId>,
    limit: usize,
) -> Outcome<Vec<Curation>> {
    let mut statement =
        db.prepare_cached("SELECT body, digest FROM curations WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3")?;
    // The empty blob sorts before every id.
    let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
    let mut rows = statement.query((space, after, to_sql_integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified_value(row, 0)?);
    }
    Ok(found)
}
