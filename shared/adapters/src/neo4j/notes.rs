//! Notes as nodes.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::port::Result;
use domain::recall::{Note, NoteKind};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};
use uuid::Uuid;

use super::client::{Client, column, integer, locked, natural, on, row, seen};
use super::error::damaged;
use super::keys::{id, id_of};
use crate::notes::{KEPT, family, kind, left, number, refusal};

const PUT: &str = locked!(
    "CALL () {
       UNWIND $rows AS row
       MERGE (n:Note {key: $prefix + $scope + '/' + row.subject + row.kind})
       ON CREATE SET n.subject = row.subject, n.kind = row.kind, n.seconds = row.seconds, n.nanos = row.nanos
       WITH n, row WHERE row.seconds > n.seconds OR (row.seconds = n.seconds AND row.nanos > n.nanos)
       SET n.seconds = row.seconds, n.nanos = row.nanos
     }
     CALL () {
       MATCH (n:Note) WHERE n.key > $prefix + $scope + '/' AND n.key < $prefix + $scope + '0'
       WITH n ORDER BY n.seconds DESC, n.nanos DESC, n.subject, n.kind SKIP $kept
       DELETE n
     }
     RETURN 1 AS known"
);
const LIST: &str = seen!(
    "MATCH (n:Note) WHERE n.key > $prefix + $scope + '/' AND n.key < $prefix + $scope + '0'
     RETURN n.subject AS subject, n.kind AS kind, n.seconds AS seconds, n.nanos AS nanos ORDER BY n.key"
);
const FORGET: &str = locked!(
    "MATCH (n:Note) WHERE n.key > $prefix + $scope + '/' AND n.key < $prefix + $scope + '0'
     DELETE n"
);

/// Keys of scopes with a common prefix have a common prefix; `g` is the character after the hexadecimal digits.
const COUNT: &str = seen!(
    "MATCH (n:Note) WHERE n.key > $prefix + $family AND n.key < $prefix + $family + 'g' RETURN count(n) AS count"
);
const TRIM: &str = locked!(
    "MATCH (n:Note) WHERE n.key > $prefix + $family AND n.key < $prefix + $family + 'g'
     WITH n ORDER BY n.seconds DESC, n.nanos DESC, n.key SKIP $left
     DELETE n"
);
const OPERATION: &str = "records.note";

/// Deletes the oldest notes of all scopes that are equal to this one up to its first `/`, if there are more than
/// `most`.
pub(super) async fn trim(client: &Client, space: &SpaceId, scope: &str, most: usize) -> Result<()> {
    let Some(family) = family(scope).map(part) else {
        return Ok(());
    };
    let keys = client.keys(space);
    let rows = client
        .read(OPERATION, on(&keys, COUNT).param("family", family.clone()))
        .await?;
    let count = rows.first().map(|it| natural(OPERATION, it, "count")).transpose()?;
    if count.unwrap_or(0) <= most as u64 {
        return Ok(());
    }
    let query = on(&keys, TRIM)
        .param("family", family)
        .param("left", integer(left(most)));
    client.write(OPERATION, query).await.map(drop)
}

/// Stores notes. Keeps the latest note of each subject and kind, and only the latest notes of the scope.
pub(super) async fn put(client: &Client, space: &SpaceId, scope: &str, notes: &[Note]) -> Result<()> {
    if let Some(detail) = refusal(scope) {
        return Err(PortError::new(OPERATION, ErrorKind::Invalid, detail));
    }
    let mut latest: BTreeMap<(Uuid, NoteKind), DateTime<Utc>> = BTreeMap::new();
    for it in notes {
        let at = latest.entry((it.subject, it.kind)).or_insert(it.at);
        *at = it.at.max(*at);
    }
    let line = |((subject, kind), at): ((Uuid, NoteKind), DateTime<Utc>)| {
        row([
            ("subject", id(subject).into()),
            ("kind", number(kind).into()),
            ("seconds", at.timestamp().into()),
            ("nanos", integer(at.timestamp_subsec_nanos())),
        ])
    };
    let query = on(&client.keys(space), PUT)
        .param("scope", part(scope))
        .param("kept", integer(KEPT))
        .param("rows", BoltType::from_iter(latest.into_iter().map(line)));
    client.write_known(OPERATION, space, query).await.map(drop)
}

/// Returns the notes of a scope, sorted.
pub(super) async fn of(client: &Client, operation: &'static str, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
    if refusal(scope).is_some() {
        return Ok(Vec::new());
    }
    let query = on(&client.keys(space), LIST).param("scope", part(scope));
    let rows = client.read(operation, query).await?;
    rows.iter().map(|it| note(operation, it)).collect()
}

/// Deletes the notes of a scope.
pub(super) async fn forget(client: &Client, operation: &'static str, space: &SpaceId, scope: &str) -> Result<()> {
    if refusal(scope).is_some() {
        return Ok(());
    }
    let query = on(&client.keys(space), FORGET).param("scope", part(scope));
    client.write(operation, query).await.map(drop)
}

fn note(operation: &'static str, row: &Row) -> Result<Note> {
    let subject: String = column(operation, row, "subject")?;
    let seconds: i64 = column(operation, row, "seconds")?;
    let nanos = u32::try_from(natural(operation, row, "nanos")?).map_err(|error| damaged(operation, error))?;
    let broken = || PortError::new(operation, ErrorKind::Damaged, "a note cannot be read");
    Ok(Note {
        subject: id_of(&subject).map_err(|error| damaged(operation, error))?,
        kind: kind(column(operation, row, "kind")?).ok_or_else(broken)?,
        at: DateTime::from_timestamp(seconds, nanos).ok_or_else(broken)?,
    })
}

/// Returns a scope in the form used in keys: hexadecimal digits, because a scope may contain any character.
fn part(scope: &str) -> String {
    scope.bytes().map(|byte| format!("{byte:02x}")).collect()
}
