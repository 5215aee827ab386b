//! Curations as rows.

use domain::curation::Curation;
use domain::id::CurationId;
use rusqlite::{Connection, params};

use super::graph::decoded;
use super::{Failure, Outcome, integer};

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
pub(super) fn put(db: &Connection, space: i64, rows: &[Row]) -> Outcome<()> {
    let mut insert = db.prepare_cached("INSERT INTO curations VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    let mut fresh = 0;
    for it in rows {
        fresh += insert.execute(params![space, it.id.uuid().as_bytes(), it.body])?;
    }
    let mut count = db.prepare_cached("UPDATE spaces SET curated = curated + ?2 WHERE row = ?1")?;
    count.execute((space, integer(fresh)))?;
    Ok(())
}

/// Returns up to `limit` behind an id, by id.
pub(super) fn list(db: &Connection, space: i64, after: Option<CurationId>, limit: usize) -> Outcome<Vec<Curation>> {
    let mut statement =
        db.prepare_cached("SELECT body FROM curations WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3")?;
    // The empty blob sorts before every id.
    let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
    let mut rows = statement.query((space, after, integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(decoded(row, 0)?);
    }
    Ok(found)
}
