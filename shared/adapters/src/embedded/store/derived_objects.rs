//! Derived objects as rows. The feed of their changes has its own counter in every space.

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::port::DerivedChange;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::{Failure, Outcome, digest, from_sql_integer, to_sql_integer};

/// The kinds; the index of a kind is its number in the file. Entries may only be added.
const KINDS: [DerivedKind; 7] = [
    DerivedKind::Fact,
    DerivedKind::Entity,
    DerivedKind::Topic,
    DerivedKind::Member,
    DerivedKind::Page,
    DerivedKind::Merge,
    DerivedKind::Standing,
];

/// A derived object as a row.
pub(super) struct Row {
    id: DerivedId,
    body: Vec<u8>,
}

/// Returns the row of a derived object.
///
/// # Errors
///
/// `Invalid` if one of its numbers is not finite.
pub(super) fn derived_row(item: &Derived) -> Outcome<Row> {
    let id = item.id();
    if !item.is_finite() {
        let detail = format!("{} has a value that is not a number", id.id);
        return Err(Failure::invalid(detail));
    }
    let body = serde_json::to_vec(item).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Row { id, body })
}

/// Returns the number of times that derived objects of a space were put.
pub(super) fn derived_write_count(db: &Connection, space: i64) -> Outcome<u64> {
    let mut select = db.prepare_cached("SELECT derived_turn FROM spaces WHERE row = ?1")?;
    Ok(from_sql_integer(select.query_row([space], |row| row.get(0))?))
}

/// Increments the number of puts of derived objects of a space.
///
/// # Errors
///
/// `Conflict` if the number differs from `due`.
pub(super) fn take_turn(db: &Connection, space: i64, due: Option<u64>) -> Outcome<()> {
    let now = derived_write_count(db, space)?;
    if due.is_some_and(|it| it != now) {
        return Err(Failure::conflict(
            "another process has put derived objects in the meantime",
        ));
    }
    let mut update = db.prepare_cached("UPDATE spaces SET derived_turn = derived_turn + 1 WHERE row = ?1")?;
    update.execute([space])?;
    Ok(())
}

/// Inserts or replaces an object; an equal one stays unchanged.
pub(super) fn put_derived(db: &Connection, space: i64, it: &Row) -> Outcome<()> {
    let (kind, id, digest) = (
        number_of_kind(it.id.kind),
        it.id.id.as_bytes(),
        digest::digest_of_body(&it.body),
    );
    let mut select = db.prepare_cached(
        "SELECT 1 FROM derived WHERE space = ?1 AND kind = ?2 AND id = ?3 AND body = ?4 AND digest IS ?5",
    )?;
    if select.exists(params![space, kind, id, it.body, digest])? {
        return Ok(());
    }
    let sequence = next_change(db, space)?;
    let mut put = db.prepare_cached(
        "INSERT INTO derived (space, kind, id, sequence, removed, body, digest) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6)
         ON CONFLICT (space, kind, id) DO UPDATE SET sequence = ?4, removed = 0, body = ?5, digest = ?6",
    )?;
    put.execute(params![space, kind, id, sequence, it.body, digest])?;
    Ok(())
}

/// Replaces an object by a tombstone without content.
pub(super) fn remove_derived(db: &Connection, space: i64, it: DerivedId) -> Outcome<()> {
    let mut select =
        db.prepare_cached("SELECT row FROM derived WHERE space = ?1 AND kind = ?2 AND id = ?3 AND removed = 0")?;
    let known = select.query_row(params![space, number_of_kind(it.kind), it.id.as_bytes()], |row| {
        row.get(0)
    });
    let Some(row) = known.optional()? else {
        return Ok(());
    };
    let row: i64 = row;
    let sequence = next_change(db, space)?;
    let mut update =
        db.prepare_cached("UPDATE derived SET sequence = ?2, removed = 1, body = x'', digest = ?3 WHERE row = ?1")?;
    update.execute((row, sequence, digest::digest_of_body(&[])))?;
    Ok(())
}

/// Returns up to `limit` objects of a kind after an id, by id.
pub(super) fn list_derived(
    db: &Connection,
    space: i64,
    kind: DerivedKind,
    after: Option<Uuid>,
    limit: usize,
) -> Outcome<Vec<Derived>> {
    let mut statement = db.prepare_cached(
        "SELECT body, digest FROM derived WHERE space = ?1 AND kind = ?2 AND id > ?3 AND removed = 0 ORDER BY id LIMIT ?4",
    )?;
    // The empty blob sorts before every id.
    let after = after.map(|it| it.as_bytes().to_vec()).unwrap_or_default();
    let mut rows = statement.query((space, number_of_kind(kind), after, to_sql_integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified_value(row, 0)?);
    }
    Ok(found)
}

/// Returns the objects that exist, in the order of the ids.
pub(super) fn get_derived(db: &Connection, space: i64, ids: &[DerivedId]) -> Outcome<Vec<Derived>> {
    let mut statement = db.prepare_cached(
        "SELECT body, digest FROM derived WHERE space = ?1 AND kind = ?2 AND id = ?3 AND removed = 0",
    )?;
    let mut found = Vec::with_capacity(ids.len());
    for it in ids {
        let mut rows = statement.query(params![space, number_of_kind(it.kind), it.id.as_bytes()])?;
        if let Some(row) = rows.next()? {
            found.push(digest::verified_value(row, 0)?);
        }
    }
    Ok(found)
}

/// Returns up to `limit` changes after a sequence number.
pub(super) fn derived_changes(db: &Connection, space: i64, sequence: u64, limit: usize) -> Outcome<Vec<DerivedChange>> {
    let mut statement = db.prepare_cached(
        "SELECT sequence, kind, id, removed, body, digest FROM derived WHERE space = ?1 AND sequence > ?2
         ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query((space, to_sql_integer(sequence), to_sql_integer(limit)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let kind: i64 = row.get(1)?;
        let kind = *KINDS
            .get(usize::try_from(kind).unwrap_or(usize::MAX))
            .ok_or_else(|| Failure::unreadable_body("unknown kind of a derived object"))?;
        let (id, removed) = (Uuid::from_bytes(row.get(2)?), row.get(3)?);
        found.push(DerivedChange {
            sequence: from_sql_integer(row.get(0)?),
            id: DerivedId { kind, id },
            item: if removed {
                None
            } else {
                Some(digest::verified_value(row, 4)?)
            },
        });
    }
    Ok(found)
}

fn number_of_kind(kind: DerivedKind) -> i64 {
    KINDS.iter().position(|it| *it == kind).map_or(i64::MAX, to_sql_integer)
}

fn next_change(db: &Connection, space: i64) -> Outcome<i64> {
    let mut update = db.prepare_cached(
        "UPDATE spaces SET derived_changes = derived_changes + 1 WHERE row = ?1 RETURNING derived_changes",
    )?;
    Ok(update.query_row([space], |row| row.get(0))?)
}
