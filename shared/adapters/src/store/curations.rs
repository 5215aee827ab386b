//! Curations as rows.

use domain::curation::Curation;
use domain::id::CurationId;
use domain::port::Position;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Failure, Outcome, digest, integer, natural};

/// A curation as a row.
pub(super) struct Row {
    id: CurationId,
    body: Vec<u8>,
}

/// Returns the row of a curation.
pub(super) fn row(it: &Curation) -> Outcome<Row> {
    let body = serde_json::to_vec(it).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Row { id: it.id, body })
}

/// Inserts those that are not there, and counts them.
pub(super) fn put(db: &Connection, space: i64, position: Position, rows: &[Row]) -> Outcome<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO curations (space, id, position, body, digest) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )?;
    let position = integer(position.0);
    let mut fresh = 0;
    for it in rows {
        fresh += insert.execute(params![
            space,
            it.id.uuid().as_bytes(),
            position,
            it.body,
            digest::of(&it.body)
        ])?;
    }
    let mut count = db.prepare_cached("UPDATE spaces SET curated = curated + ?2 WHERE row = ?1")?;
    count.execute((space, integer(fresh)))?;
    Ok(())
}

/// Returns the position of the batch that brought one, if that is kept.
pub(super) fn brought_by(db: &Connection, space: i64, id: CurationId) -> Outcome<Option<Position>> {
    let mut statement = db.prepare_cached("SELECT position FROM curations WHERE space = ?1 AND id = ?2")?;
    let found: Option<Option<i64>> = statement
        .query_row(params![space, id.uuid().as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().map(|it| Position(natural(it))))
}

/// Returns up to `limit` behind an id, by id.
pub(super) fn list(db: &Connection, space: i64, after: Option<CurationId>, limit: usize) -> Outcome<Vec<Curation>> {
    let mut statement =
        db.prepare_cached("SELECT body, digest FROM curations WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3")?;
    // The empty blob sorts before every id.
    let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
    let mut rows = statement.query((space, after, integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified(row, 0)?);
    }
    Ok(found)
}
