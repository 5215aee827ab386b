//! Records as rows of the table `records`.

use domain::id::{RecordId, SessionId, SpaceId};
use domain::port::case_folded_actor;
use domain::record::Record;
use rusqlite::{Connection, params};

use super::super::{Failure, Outcome, digest, to_sql_integer};

/// A record as a row.
pub(super) struct Line {
    id: RecordId,
    session: SessionId,
    observed_at: (i64, u32),
    ordinal: i64,
    actor: String,
    body: Vec<u8>,
}

/// Returns the row of a record.
///
/// # Errors
///
/// `Invalid` if the record belongs to another space.
pub(super) fn record_row(space: &SpaceId, record: &Record) -> Outcome<Line> {
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
        actor: case_folded_actor(&record.actor),
        body,
    })
}

/// Inserts rows of records that do not exist yet, and counts them.
pub(super) fn put_records(db: &Connection, space: i64, lines: Vec<Line>) -> Outcome<()> {
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
        let row = last + to_sql_integer(stored) + 1;
        let digest = digest::digest_of_body(&it.body);
        stored += insert.execute(params![
            row, space, id, session, seconds, nanos, it.ordinal, it.actor, it.body, digest
        ])?;
    }
    db.execute("UPDATE record_rows SET last = last + ?1", [to_sql_integer(stored)])?;
    let mut count = db.prepare_cached("UPDATE spaces SET records = records + ?2 WHERE row = ?1")?;
    count.execute((space, to_sql_integer(stored)))?;
    Ok(())
}
