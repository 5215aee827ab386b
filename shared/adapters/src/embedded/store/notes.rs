//! Notes as rows.

use chrono::DateTime;
use domain::recall::Note;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::{Failure, Outcome, to_sql_integer};
use crate::store_rules::notes::{
    KEPT, family_of_scope, kind_from_number, notes_left_after_trim, number_of_kind, scope_refusal,
};

/// Returns the name of a scope.
///
/// # Errors
///
/// `Invalid` if it is not a valid name.
pub(super) fn check_scope(name: &str) -> Outcome<String> {
    match scope_refusal(name) {
        Some(detail) => Err(Failure::invalid(detail)),
        None => Ok(name.to_owned()),
    }
}

/// Stores notes. Keeps the latest note of each subject and kind, only the latest notes of the scope, and at most `most`
/// notes in all scopes with the same prefix.
pub(super) fn put_notes(db: &Connection, space: i64, scope: &str, notes: &[Note], most: usize) -> Outcome<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO notes VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (space, scope, subject, kind) DO UPDATE SET seconds = ?5, nanos = ?6
         WHERE (?5, ?6) > (seconds, nanos)",
    )?;
    for it in notes {
        let (seconds, nanos) = (it.at.timestamp(), it.at.timestamp_subsec_nanos());
        insert.execute(params![
            space,
            scope,
            it.subject.as_bytes(),
            number_of_kind(it.kind),
            seconds,
            nanos
        ])?;
    }
    let mut forget = db.prepare_cached(
        "DELETE FROM notes WHERE space = ?1 AND scope = ?2 AND (subject, kind) IN
         (SELECT subject, kind FROM notes WHERE space = ?1 AND scope = ?2
          ORDER BY seconds DESC, nanos DESC, subject, kind LIMIT -1 OFFSET ?3)",
    )?;
    forget.execute((space, scope, to_sql_integer(KEPT)))?;
    match family_of_scope(scope) {
        Some(family) => trim_notes(db, space, family, most),
        None => Ok(()),
    }
}

/// Deletes the oldest notes of the scopes with the prefix `family`, which ends with `/`, if there are more than `most`.
fn trim_notes(db: &Connection, space: i64, family: &str, most: usize) -> Outcome<()> {
    // `0` is the character after `/`.
    let end = format!("{}0", family.trim_end_matches('/'));
    let mut count = db.prepare_cached("SELECT count(*) FROM notes WHERE space = ?1 AND scope >= ?2 AND scope < ?3")?;
    let found: i64 = count.query_row((space, family, &end), |row| row.get(0))?;
    if found <= to_sql_integer(most) {
        return Ok(());
    }
    let mut forget = db.prepare_cached(
        "DELETE FROM notes WHERE space = ?1 AND scope >= ?2 AND scope < ?3 AND (scope, subject, kind) IN
         (SELECT scope, subject, kind FROM notes WHERE space = ?1 AND scope >= ?2 AND scope < ?3
          ORDER BY seconds DESC, nanos DESC, scope, subject, kind LIMIT -1 OFFSET ?4)",
    )?;
    forget.execute((space, family, &end, to_sql_integer(notes_left_after_trim(most))))?;
    Ok(())
}

/// Deletes the notes of a scope.
pub(super) fn forget_notes(db: &Connection, space: i64, scope: &str) -> Outcome<()> {
    let mut forget = db.prepare_cached("DELETE FROM notes WHERE space = ?1 AND scope = ?2")?;
    forget.execute((space, scope))?;
    Ok(())
}

/// Returns the notes of a scope, sorted.
pub(super) fn list_notes(db: &Connection, space: i64, scope: &str) -> Outcome<Vec<Note>> {
    let mut statement = db.prepare_cached(
        "SELECT subject, kind, seconds, nanos FROM notes WHERE space = ?1 AND scope = ?2 ORDER BY subject, kind",
    )?;
    let mut rows = statement.query((space, scope))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let at = DateTime::from_timestamp(row.get(2)?, row.get(3)?);
        found.push(Note {
            subject: Uuid::from_bytes(row.get(0)?),
            kind: kind_from_number(row.get(1)?).ok_or_else(|| Failure::unreadable_body("unknown kind of a note"))?,
            at: at.ok_or_else(|| Failure::unreadable_body("a note has no time"))?,
        });
    }
    Ok(found)
}
