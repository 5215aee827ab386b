//! Records in insertion order: all of a space, or a selection of them.

use chrono::{DateTime, FixedOffset};
use domain::id::SpaceId;
use domain::port::{Result, Selection};
use domain::record::Record;
use rusqlite::{Connection, params};

use super::{Outcome, Store, integer, natural, records, space_row};

/// Most rows that one call looks at.
const LOOKS_MAX: usize = 5_000;
const ALL: &str = "SELECT row, seconds, nanos, body FROM records INDEXED BY records_space
    WHERE space = ?1 AND row > ?2 AND ?3 IS NULL ORDER BY row LIMIT ?4";
/// The index ends with the row, as every index does: nothing is sorted.
const OF_SESSION: &str = "SELECT row, seconds, nanos, body FROM records INDEXED BY records_listed
    WHERE space = ?1 AND row > ?2 AND session = ?3 ORDER BY row LIMIT ?4";

type Page = (Vec<Record>, Option<u64>);

/// Returns up to `limit` records behind a row, and the row to go on behind, if any.
pub(super) async fn select(
    store: &Store,
    operation: &'static str,
    space: &SpaceId,
    selection: &Selection,
    (after, limit): (u64, usize),
) -> Result<Page> {
    let (space, selection) = (space.clone(), selection.clone());
    let job = move |db: &Connection| match space_row(db, &space)? {
        Some(row) => page(db, row, &selection, (integer(after), limit)),
        None => Ok((Vec::new(), None)),
    };
    store.read(operation, job).await
}

fn page(db: &Connection, space: i64, selection: &Selection, (after, limit): (i64, usize)) -> Outcome<Page> {
    let text = if selection.session.is_some() { OF_SESSION } else { ALL };
    let session = selection.session.map(|it| it.uuid().into_bytes());
    let mut statement = db.prepare_cached(text)?;
    // One more than is looked at, to see whether there is more.
    let looks = LOOKS_MAX.max(limit);
    let mut rows = statement.query(params![space, after, session, integer(looks).saturating_add(1)])?;
    let (mut found, mut seen, mut last) = (Vec::new(), 0, after);
    while let Some(row) = rows.next()? {
        if seen == looks {
            return Ok((found, Some(natural(last))));
        }
        seen += 1;
        // Time tells without the body, which is longer.
        let wanted = inside(selection, (row.get(1)?, row.get(2)?));
        let record = wanted.then(|| records::record(row, 3)).transpose()?;
        if let Some(record) = record.filter(|it| selection.takes(it)) {
            if found.len() == limit {
                return Ok((found, Some(natural(last))));
            }
            found.push(record);
        }
        last = row.get(0)?;
    }
    Ok((found, None))
}

/// Says whether a moment, in seconds and nanoseconds, is inside the times of a selection.
fn inside(selection: &Selection, at: (i64, u32)) -> bool {
    let moment = |it: DateTime<FixedOffset>| (it.timestamp(), it.timestamp_subsec_nanos());
    selection.from.is_none_or(|it| at >= moment(it)) && selection.until.is_none_or(|it| at < moment(it))
}
