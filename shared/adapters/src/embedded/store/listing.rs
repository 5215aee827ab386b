//! Lists records and units in their listing order: all of a space, or a selection of them.

use chrono::{DateTime, FixedOffset};
use domain::id::SpaceId;
use domain::port::{Result, Room, Selection, case_folded_actor};
use domain::record::Record;
use domain::unit::Unit;
use rusqlite::{Connection, Row, ToSql, params};
use serde::de::DeserializeOwned;

use super::{Failure, Outcome, Store, digest, from_sql_integer, space_row, to_sql_integer};

/// Maximum number of rows that one call reads.
const LOOKS_MAX: usize = 5_000;

/// A type of row that can be listed. Each statement reads in the order of its index, without sorting. Its first columns
/// are position, body and digest.
pub(super) trait ListedRow: DeserializeOwned + Send + 'static {
    const ALL: &str;
    const OF_SESSION: &str;
    const OF_ACTOR: &str;

    /// Returns true if the columns after the digest do not exclude the row. They are checked first, because the body is
    /// longer.
    fn may_be(row: &Row<'_>, selection: &Selection) -> Outcome<bool>;

    fn is_of(&self, selection: &Selection) -> bool;
}

impl ListedRow for Record {
    const ALL: &str = "SELECT row, body, digest, seconds, nanos FROM records INDEXED BY records_space
        WHERE space = ?1 AND row > ?2 AND ?3 IS NULL ORDER BY row LIMIT ?4";
    const OF_SESSION: &str = "SELECT row, body, digest, seconds, nanos FROM records INDEXED BY records_listed
        WHERE space = ?1 AND row > ?2 AND session = ?3 ORDER BY row LIMIT ?4";
    const OF_ACTOR: &str = "SELECT row, body, digest, seconds, nanos FROM records INDEXED BY records_actor
        WHERE space = ?1 AND row > ?2 AND actor = ?3 ORDER BY row LIMIT ?4";

    fn may_be(row: &Row<'_>, selection: &Selection) -> Outcome<bool> {
        let at: (i64, u32) = (row.get(3)?, row.get(4)?);
        let moment = |it: DateTime<FixedOffset>| (it.timestamp(), it.timestamp_subsec_nanos());
        Ok(selection.from.is_none_or(|it| at >= moment(it)) && selection.until.is_none_or(|it| at < moment(it)))
    }

    fn is_of(&self, selection: &Selection) -> bool {
        selection.accepts_record(self)
    }
}

impl ListedRow for Unit {
    const ALL: &str = "SELECT sequence, body, digest, removed FROM units INDEXED BY units_sequence
        WHERE space = ?1 AND sequence > ?2 AND ?3 IS NULL ORDER BY sequence LIMIT ?4";
    const OF_SESSION: &str = "SELECT sequence, body, digest, removed FROM units INDEXED BY units_session
        WHERE space = ?1 AND sequence > ?2 AND session = ?3 ORDER BY sequence LIMIT ?4";
    const OF_ACTOR: &str = "SELECT sequence, body, digest, removed FROM units INDEXED BY units_actor
        WHERE space = ?1 AND sequence > ?2 AND actor = ?3 ORDER BY sequence LIMIT ?4";

    fn may_be(row: &Row<'_>, _: &Selection) -> Outcome<bool> {
        let removed: bool = row.get(3)?;
        Ok(!removed)
    }

    fn is_of(&self, selection: &Selection) -> bool {
        selection.accepts_unit(self)
    }
}

/// Returns the selected items after a position, as many as fit, and the position to continue after, if any.
pub(super) async fn select_items<T: ListedRow>(
    store: &Store,
    operation: &'static str,
    space: &SpaceId,
    selection: &Selection,
    after: u64,
    room: Room,
) -> Result<(Vec<T>, Option<u64>)> {
    let (space, selection) = (space.clone(), selection.clone());
    let job = move |db: &Connection| match space_row(db, &space)? {
        Some(row) => select_page(db, row, &selection, to_sql_integer(after), room),
        None => Ok((Vec::new(), None)),
    };
    store.run_read(operation, job).await
}

fn select_page<T: ListedRow>(
    db: &Connection,
    space: i64,
    selection: &Selection,
    after: i64,
    room: Room,
) -> Outcome<(Vec<T>, Option<u64>)> {
    let session = selection.session.map(|it| it.uuid().into_bytes());
    let actor = selection.actor.as_deref().map(case_folded_actor);
    let (text, key): (&str, &dyn ToSql) = match (&session, &actor) {
        (Some(session), _) => (T::OF_SESSION, session),
        (None, Some(actor)) => (T::OF_ACTOR, actor),
        (None, None) => (T::ALL, &actor),
    };
    let mut statement = db.prepare_cached(text)?;
    // One more than needed, to see whether there are more.
    let looks = LOOKS_MAX.max(room.items);
    let mut rows = statement.query(params![space, after, key, to_sql_integer(looks).saturating_add(1)])?;
    let (mut found, mut bytes, mut row_count, mut last) = (Vec::new(), 0, 0, after);
    while let Some(row) = rows.next()? {
        if row_count == looks {
            return Ok((found, Some(from_sql_integer(last))));
        }
        row_count += 1;
        if T::may_be(row, selection)? {
            let body = digest::verified_body(row, 1)?;
            let item: T = serde_json::from_slice(body).map_err(Failure::unreadable_body)?;
            if item.is_of(selection) {
                bytes += body.len();
                if found.len() == room.items || (bytes > room.bytes && !found.is_empty()) {
                    return Ok((found, Some(from_sql_integer(last))));
                }
                found.push(item);
            }
        }
        last = row.get(0)?;
    }
    Ok((found, None))
}
