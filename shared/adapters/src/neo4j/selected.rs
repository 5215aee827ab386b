//! Records in insertion order: all of a space, or a selection of them.

use domain::id::SpaceId;
use domain::port::{Result, Selection};
use domain::record::Record;

use super::client::{Client, body, following, integer, natural, on};

/// Most records that one call looks at, where it has to look at what the server cannot tell apart.
const LOOKS_MAX: usize = 1_000;
// A subquery of its own reads in the order of the index, and no more than it returns.
const ALL: &str = following!(
    "listed",
    "CALL () {
       MATCH (r:Record) WHERE r.space = $space AND r.sequence > $after
       RETURN r.sequence AS sequence, r.body AS body ORDER BY r.space, r.sequence LIMIT $limit
     }
     RETURN sequence, body ORDER BY sequence"
);
// Places hold session and time, so the server looks at what lies between them.
const OF_SESSION: &str = following!(
    "listed",
    "CALL () {
       MATCH (r:Record) WHERE r.place > $from AND r.place < $until AND r.sequence > $after
       RETURN r.sequence AS sequence, r.body AS body ORDER BY sequence LIMIT $limit
     }
     RETURN sequence, body ORDER BY sequence"
);

/// Returns up to `limit` records behind a sequence, and the sequence to go on behind, if any.
pub(super) async fn select(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    selection: &Selection,
    (after, limit): (u64, usize),
) -> Result<(Vec<Record>, Option<u64>)> {
    let keys = client.keys(space);
    let timed = selection.from.is_some() || selection.until.is_some();
    let (query, told) = match selection.session {
        Some(session) => {
            let (from, until) = keys.within(session, selection.from, selection.until);
            (on(&keys, OF_SESSION).param("from", from).param("until", until), true)
        }
        None => (on(&keys, ALL), !timed),
    };
    let looks = if told && selection.actor.is_none() {
        limit
    } else {
        LOOKS_MAX.max(limit)
    };
    // One more than is looked at, to see whether there is more.
    let query = query
        .param("after", integer(after))
        .param("limit", integer(looks.saturating_add(1)));
    let rows = client.write(operation, query).await?;
    let (mut found, mut last) = (Vec::new(), after);
    for row in rows.iter().take(looks) {
        let record: Record = body(operation, row)?;
        if selection.takes(&record) {
            if found.len() == limit {
                return Ok((found, Some(last)));
            }
            found.push(record);
        }
        last = natural(operation, row, "sequence")?;
    }
    Ok((found, (rows.len() > looks).then_some(last)))
}
