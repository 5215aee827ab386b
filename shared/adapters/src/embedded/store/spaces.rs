//! Spaces as rows.

use chrono::{DateTime, Utc};
use domain::port::{Position, Revision, SpaceInfo, UnfinishedErasure};
use rusqlite::{Connection, Params};

use super::{Failure, Outcome, from_sql_integer};
use crate::store_rules::creation_times::creation_time;

const INFO: &str = "SELECT name, created_at, records, units,
    (SELECT coalesce(max(position), 0) FROM written WHERE space = spaces.row), changes, derived_changes, curated
    FROM spaces";

/// Inserts a space. Returns false if the name exists.
pub(super) fn create_space(db: &Connection, name: &str, at: DateTime<Utc>) -> Outcome<bool> {
    let deleted = unfinished_erasures(db, Some(name), 1)?.pop().map(|it| it.created_at);
    let mut insert =
        db.prepare_cached("INSERT INTO spaces (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    Ok(insert.execute((name, creation_time(at, deleted).to_rfc3339()))? > 0)
}

/// Returns up to `limit` erasures that may be unfinished, by name; only the one of `space` if it is given.
pub(super) fn unfinished_erasures(db: &Connection, space: Option<&str>, limit: i64) -> Outcome<Vec<UnfinishedErasure>> {
    let mut statement = db.prepare_cached(
        "SELECT space, created_at FROM unfinished_erasures WHERE ?1 IS NULL OR space = ?1 ORDER BY space LIMIT ?2",
    )?;
    let mut rows = statement.query((space, limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (space, created_at): (String, String) = (row.get(0)?, row.get(1)?);
        found.push(UnfinishedErasure {
            space: space.parse().map_err(Failure::unreadable_body)?,
            created_at: created_at.parse().map_err(Failure::unreadable_body)?,
        });
    }
    Ok(found)
}

/// Removes the note of an unfinished erasure. The note of a later space of the same name stays.
pub(super) fn remove_erasure_note(db: &Connection, erasure: &UnfinishedErasure) -> Outcome<()> {
    let mut forget = db.prepare_cached("DELETE FROM unfinished_erasures WHERE space = ?1 AND created_at = ?2")?;
    forget.execute((erasure.space.as_str(), erasure.created_at.to_rfc3339()))?;
    Ok(())
}

/// Returns the descriptions of the spaces that `some` selects.
pub(super) fn list_space_infos(db: &Connection, some: &str, key: impl Params) -> Outcome<Vec<SpaceInfo>> {
    let mut statement = db.prepare_cached(&format!("{INFO} {some}"))?;
    let mut rows = statement.query(key)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, created_at): (String, String) = (row.get(0)?, row.get(1)?);
        found.push(SpaceInfo {
            space: name.parse().map_err(Failure::unreadable_body)?,
            created_at: created_at.parse().map_err(Failure::unreadable_body)?,
            records: from_sql_integer(row.get(2)?),
            units: from_sql_integer(row.get(3)?),
            written: Position(from_sql_integer(row.get(4)?)),
            revision: Revision {
                units: from_sql_integer(row.get(5)?),
                derived: from_sql_integer(row.get(6)?),
                curations: from_sql_integer(row.get(7)?),
            },
        });
    }
    Ok(found)
}
