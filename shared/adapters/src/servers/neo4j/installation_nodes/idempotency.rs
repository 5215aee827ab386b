//! Idempotency keys as nodes: first held by the request in flight, then with its response.

use chrono::{DateTime, Utc};
use domain::id::{RecordId, SpaceId};
use domain::port::{Hold, Idempotent, KeyClaim, Result};
use domain::{ErrorKind, PortError};
use neo4rs::{Query, Row};

use crate::servers::neo4j::client::row_values::{read_bytes, read_digest};
use crate::servers::neo4j::client::{Client, locked, query_for_space, read_column, read_natural, seen};
use crate::servers::neo4j::node_keys::id_to_hex;
use crate::store_rules::receipts::ids_in;
use crate::store_rules::times_ahead::latest_hold_end;

/// Age after which a key is deleted, in seconds; a few old keys are deleted whenever a new one is stored.
const REMEMBERED_SECONDS: i64 = 7 * 24 * 3_600;
/// Maximum length of a key, in bytes; the server's index accepts about 8 KiB.
const KEY_BYTES_MAX: usize = 4_096;

/// A statement may be sent again if its answer was lost, so the same hold takes the key again. Holds of two processes
/// may end in the same millisecond, so a hold is identified by its end and by the nanosecond at which it was requested.
const HOLD: &str = locked!(
    "CALL () {
       MATCH (old:Remembered) WHERE old.space = $space AND old.at < $oldest
       WITH old LIMIT 8 DELETE old
     }
     MERGE (r:Remembered {key: $prefix + $key})
     ON CREATE SET r.space = $space, r.at = $at, r.request = $request, r.response = $response,
       r.held_until = $until, r.held_since = $since
     WITH r, r.request = $request
       AND (r.held_until <= $now OR r.held_until > $latest
         OR (r.held_until = $until AND r.held_since = $since)) AS taken
     FOREACH (_ IN CASE WHEN taken THEN [1] ELSE [] END | SET r.held_until = $until, r.held_since = $since)
     RETURN coalesce(taken, false) AS taken, r.held_until IS NOT NULL AS held, r.request AS request,
       r.response AS response"
);
const FREE: &str = locked!(
    "MATCH (r:Remembered {key: $prefix + $key}) WHERE r.held_until = $until AND r.held_since = $since
     DELETE r
     RETURN 1 AS ended"
);
const BIND: &str = locked!(
    "MATCH (r:Remembered {key: $prefix + $key}) WHERE r.held_until = $until AND r.held_since = $since
     SET r.held_until = 0
     RETURN 1 AS ended"
);
const REMEMBERED: &str = seen!(
    "MATCH (r:Remembered {key: $prefix + $key}) WHERE r.held_until IS NULL
     RETURN r.request AS request, r.response AS response"
);
/// Counts the responses that name one of some records. A response from before names were stored may name any record.
const NAMING: &str = seen!(
    "MATCH (r:Remembered) WHERE r.space = $space AND r.at >= 0 AND r.held_until IS NULL
       AND (r.names IS NULL OR any(id IN r.names WHERE id IN $ids))
     RETURN count(r) AS named"
);
const FORGET: &str = locked!(
    "MATCH (r:Remembered) WHERE r.space = $space AND r.at >= 0 AND r.held_until IS NULL
       AND (r.names IS NULL OR any(id IN r.names WHERE id IN $ids))
     DELETE r"
);
const REMEMBER: &str = locked!(
    "CALL () {
       MATCH (old:Remembered) WHERE old.space = $space AND old.at < $oldest
       WITH old LIMIT 8 DELETE old
     }
     MERGE (r:Remembered {key: $prefix + $key})
     ON CREATE SET r.space = $space, r.at = $at, r.request = $request, r.response = $response, r.names = $names
     WITH r, r.request = $request AND r.held_until IS NOT NULL AS held
     FOREACH (_ IN CASE WHEN held THEN [1] ELSE [] END |
       SET r.at = $at, r.response = $response, r.names = $names REMOVE r.held_until, r.held_since)
     RETURN 1 AS known"
);

/// Acquires a key for a request, or returns why it is not available.
pub(crate) async fn hold_key(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    key: &str,
    hold: &Hold,
) -> Result<KeyClaim> {
    let query = query_for_key(client, operation, space, HOLD, key)?
        .param("at", hold.at.timestamp())
        .param("now", hold.at.timestamp_millis())
        .param("latest", latest_hold_end(hold))
        .param("until", hold.until.timestamp_millis())
        .param("since", nanosecond_of_request(hold))
        .param("oldest", oldest_kept_second(hold.at))
        .param("request", &hold.request[..])
        .param("response", &[][..] as &[u8]);
    let row = client.write_known(operation, space, query).await?;
    if read_digest(operation, &row, "request")? != hold.request {
        return Ok(KeyClaim::Reused);
    }
    Ok(
        match (
            read_column(operation, &row, "taken")?,
            read_column(operation, &row, "held")?,
        ) {
            (true, _) => KeyClaim::Taken,
            (false, true) => KeyClaim::Busy,
            (false, false) => KeyClaim::Answered(read_bytes(operation, &row, "response")?.to_vec()),
        },
    )
}

/// Ends a hold. With `bound`, the key stays bound to its request; otherwise it becomes free.
pub(crate) async fn release_hold(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    key: &str,
    hold: &Hold,
    bound: bool,
) -> Result<()> {
    let end = if bound { BIND } else { FREE };
    let query = query_for_key(client, operation, space, end, key)?
        .param("until", hold.until.timestamp_millis())
        .param("since", nanosecond_of_request(hold));
    client.run_write(operation, query).await.map(drop)
}

/// Returns the response that is remembered under a key.
pub(crate) async fn remembered_response(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    key: &str,
) -> Result<Option<Idempotent>> {
    let rows = client
        .run_read(operation, query_for_key(client, operation, space, REMEMBERED, key)?)
        .await?;
    let take = |row: &Row| -> Result<Idempotent> {
        Ok(Idempotent {
            request: read_digest(operation, row, "request")?,
            response: read_bytes(operation, row, "response")?.to_vec(),
        })
    };
    rows.first().map(take).transpose()
}

/// Remembers the response of a request, unless the key has one already or is bound to another request.
pub(crate) async fn remember_response(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    key: &str,
    outcome: &Idempotent,
    at: DateTime<Utc>,
) -> Result<()> {
    let names: Vec<String> = ids_in(&outcome.response).into_iter().map(id_to_hex).collect();
    let query = query_for_key(client, operation, space, REMEMBER, key)?
        .param("at", at.timestamp())
        .param("oldest", oldest_kept_second(at))
        .param("request", &outcome.request[..])
        .param("names", names)
        .param("response", &outcome.response[..]);
    client.write_known(operation, space, query).await.map(drop)
}

/// Counts the responses that name one of some records.
pub(crate) async fn count_responses_naming(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    ids: &[RecordId],
) -> Result<u64> {
    let query = query_for_space(&client.keys_of_space(space), NAMING).param("ids", record_ids_to_hex(ids));
    let rows = client.run_read(operation, query).await?;
    let count = rows
        .first()
        .map(|it| read_natural(operation, it, "named"))
        .transpose()?;
    Ok(count.unwrap_or(0))
}

/// Deletes the responses that name one of some records.
pub(crate) async fn forget_records(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    ids: &[RecordId],
) -> Result<()> {
    let query = query_for_space(&client.keys_of_space(space), FORGET).param("ids", record_ids_to_hex(ids));
    client.run_write(operation, query).await.map(drop)
}

fn record_ids_to_hex(ids: &[RecordId]) -> Vec<String> {
    ids.iter().map(|it| id_to_hex(it.uuid())).collect()
}

/// Starts a statement about a key of a space.
fn query_for_key(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    text: &'static str,
    key: &str,
) -> Result<Query> {
    if key.len() > KEY_BYTES_MAX {
        let detail = format!("an idempotency key has more than {KEY_BYTES_MAX} bytes");
        return Err(PortError::new(operation, ErrorKind::Invalid, detail));
    }
    Ok(query_for_space(&client.keys_of_space(space), text).param("key", key))
}

/// Returns the time at which a request asked for its key, in nanoseconds since 1970; 0 after the year 2262.
fn nanosecond_of_request(hold: &Hold) -> i64 {
    hold.at.timestamp_nanos_opt().unwrap_or_default()
}

fn oldest_kept_second(at: DateTime<Utc>) -> i64 {
    at.timestamp().saturating_sub(REMEMBERED_SECONDS)
}
