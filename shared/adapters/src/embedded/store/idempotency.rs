//! Idempotency keys as rows: first held by the request in flight, then with its response.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::id::RecordId;
use domain::port::{Hold, Idempotent, KeyClaim};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use super::{Failure, Outcome};
use crate::store_rules::receipts::ids_in;
use crate::store_rules::times_ahead::latest_hold_end;

/// Age after which a key is deleted, in seconds, and maximum number of keys deleted whenever a new one is stored.
const REMEMBERED_SECONDS: i64 = 7 * 24 * 3_600;
const FORGOTTEN_AT_ONCE: i64 = 8;

/// A key as stored.
struct StoredKey {
    request: [u8; 32],
    response: Vec<u8>,
    /// `None` when the response is remembered.
    held_until: Option<i64>,
}

/// Acquires a key for a request, or returns why it is not available.
pub(super) fn hold_key(db: &Connection, space: i64, key: &str, hold: &Hold) -> Outcome<KeyClaim> {
    delete_old_keys(db, space, hold.at)?;
    let until = hold.until.timestamp_millis();
    let mut take = db.prepare_cached(
        "INSERT INTO remembered (space, key, at, request, response, held_until) VALUES (?1, ?2, ?3, ?4, x'', ?5)
         ON CONFLICT DO NOTHING",
    )?;
    if take.execute((space, key, hold.at.timestamp(), hold.request, until))? > 0 {
        return Ok(KeyClaim::Taken);
    }
    let Some(stored_key) = find_key(db, space, key)? else {
        return Ok(KeyClaim::Busy);
    };
    match stored_key.held_until {
        _ if stored_key.request != hold.request => Ok(KeyClaim::Reused),
        None => Ok(KeyClaim::Answered(stored_key.response)),
        Some(held_until) if (hold.at.timestamp_millis() + 1..=latest_hold_end(hold)).contains(&held_until) => {
            Ok(KeyClaim::Busy)
        }
        Some(_) => {
            let mut take = db.prepare_cached("UPDATE remembered SET held_until = ?3 WHERE space = ?1 AND key = ?2")?;
            take.execute((space, key, until))?;
            Ok(KeyClaim::Taken)
        }
    }
}

/// Ends a hold. With `bound`, the key stays bound to its request; otherwise it becomes free.
pub(super) fn release_hold(db: &Connection, space: i64, key: &str, hold: &Hold, bound: bool) -> Outcome<()> {
    let mut end = db.prepare_cached(if bound {
        "UPDATE remembered SET held_until = 0 WHERE space = ?1 AND key = ?2 AND held_until = ?3"
    } else {
        "DELETE FROM remembered WHERE space = ?1 AND key = ?2 AND held_until = ?3"
    })?;
    end.execute((space, key, hold.until.timestamp_millis()))?;
    Ok(())
}

/// Returns the response that is remembered under a key.
pub(super) fn remembered_response(db: &Connection, space: i64, key: &str) -> Outcome<Option<Idempotent>> {
    let stored_key = find_key(db, space, key)?.filter(|it| it.held_until.is_none());
    Ok(stored_key.map(|it| Idempotent {
        request: it.request,
        response: it.response,
    }))
}

/// Remembers the response of a request, unless the key has one already or is bound to another request.
pub(super) fn remember_response(
    db: &Connection,
    space: i64,
    key: &str,
    outcome: &Idempotent,
    at: DateTime<Utc>,
) -> Outcome<()> {
    delete_old_keys(db, space, at)?;
    let mut keep = db.prepare_cached(
        "INSERT INTO remembered (space, key, at, request, response) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (space, key) DO UPDATE SET at = excluded.at, response = excluded.response, held_until = NULL
         WHERE held_until IS NOT NULL AND request = excluded.request",
    )?;
    keep.execute((space, key, at.timestamp(), outcome.request, &outcome.response))?;
    Ok(())
}

/// Deletes the responses that name one of some records.
pub(super) fn forget_records(db: &Connection, space: i64, ids: &[RecordId]) -> Outcome<()> {
    let mut forget = db.prepare_cached("DELETE FROM remembered WHERE rowid = ?1")?;
    for row in rows_naming_records(db, space, ids)? {
        forget.execute([row])?;
    }
    Ok(())
}

/// Returns the rows of the responses that name one of some records.
pub(super) fn rows_naming_records(db: &Connection, space: i64, ids: &[RecordId]) -> Outcome<Vec<i64>> {
    let erased: BTreeSet<Uuid> = ids.iter().map(|it| it.uuid()).collect();
    let mut select = db.prepare_cached("SELECT rowid, response FROM remembered WHERE space = ?1")?;
    let mut rows = select.query([space])?;
    let mut found: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        let response = row.get_ref(1)?.as_blob().map_err(Failure::unreadable_body)?;
        if !ids_in(response).is_disjoint(&erased) {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}

/// Deletes some old keys.
fn delete_old_keys(db: &Connection, space: i64, at: DateTime<Utc>) -> Outcome<()> {
    let mut forget = db.prepare_cached(
        "DELETE FROM remembered WHERE rowid IN
         (SELECT rowid FROM remembered WHERE space = ?1 AND at < ?2 ORDER BY at LIMIT ?3)",
    )?;
    forget.execute((space, at.timestamp() - REMEMBERED_SECONDS, FORGOTTEN_AT_ONCE))?;
    Ok(())
}

fn find_key(db: &Connection, space: i64, key: &str) -> Outcome<Option<StoredKey>> {
    let mut find =
        db.prepare_cached("SELECT request, response, held_until FROM remembered WHERE space = ?1 AND key = ?2")?;
    let take = |row: &Row<'_>| {
        Ok(StoredKey {
            request: row.get(0)?,
            response: row.get(1)?,
            held_until: row.get(2)?,
        })
    };
    Ok(find.query_row((space, key), take).optional()?)
}
