//! Stores notes as nodes.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::port::Result;
use domain::recall::{Note, NoteKind};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};
use uuid::Uuid;

use crate::servers::neo4j::client::{
    Client, locked, parameter_row, query_for_space, read_column, read_natural, seen, to_bolt_integer,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{id_of, id_to_hex};
use crate::store_rules::notes::{
    KEPT, family_of_scope, kind_from_number, notes_left_after_trim, number_of_kind, scope_refusal,
};

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
pub(crate) async fn trim_notes(client: &Client, space: &SpaceId, scope: &str, most: usize) -> Result<()> {
    let Some(family) = family_of_scope(scope).map(scope_to_hex) else {
        return Ok(());
    };
    let keys = client.keys_of_space(space);
    let rows = client
        .run_read(OPERATION, query_for_space(&keys, COUNT).param("family", family.clone()))
        .await?;
    let count = rows
        .first()
        .map(|it| read_natural(OPERATION, it, "count"))
        .transpose()?;
    if count.unwrap_or(0) <= most as u64 {
        return Ok(());
    }
    let query = query_for_space(&keys, TRIM)
        .param("family", family)
        .param("left", to_bolt_integer(notes_left_after_trim(most)));
    client.run_write(OPERATION, query).await.map(drop)
}

/// Stores notes. Keeps the latest note of each subject and kind, and only the latest notes of the scope.
pub(crate) async fn put_notes(client: &Client, space: &SpaceId, scope: &str, notes: &[Note]) -> Result<()> {
    if let Some(detail) = scope_refusal(scope) {
        return Err(PortError::new(OPERATION, ErrorKind::Invalid, detail));
    }
    let mut latest: BTreeMap<(Uuid, NoteKind), DateTime<Utc>> = BTreeMap::new();
    for it in notes {
        let at = latest.entry((it.subject, it.kind)).or_insert(it.at);
        *at = it.at.max(*at);
    }
    let line = |((subject, kind), at): ((Uuid, NoteKind), DateTime<Utc>)| {
        parameter_row([
            ("subject", id_to_hex(subject).into()),
            ("kind", number_of_kind(kind).into()),
            ("seconds", at.timestamp().into()),
            ("nanos", to_bolt_integer(at.timestamp_subsec_nanos())),
        ])
    };
    let query = query_for_space(&client.keys_of_space(space), PUT)
        .param("scope", scope_to_hex(scope))
        .param("kept", to_bolt_integer(KEPT))
        .param("rows", BoltType::from_iter(latest.into_iter().map(line)));
    client.write_known(OPERATION, space, query).await.map(drop)
}

/// Returns the notes of a scope, sorted.
pub(crate) async fn list_notes(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    scope: &str,
) -> Result<Vec<Note>> {
    if scope_refusal(scope).is_some() {
        return Ok(Vec::new());
    }
    let query = query_for_space(&client.keys_of_space(space), LIST).param("scope", scope_to_hex(scope));
    let rows = client.run_read(operation, query).await?;
    rows.iter().map(|it| note_from_row(operation, it)).collect()
}

/// Deletes the notes of a scope.
pub(crate) async fn forget_notes(client: &Client, operation: &'static str, space: &SpaceId, scope: &str) -> Result<()> {
    if scope_refusal(scope).is_some() {
        return Ok(());
    }
    let query = query_for_space(&client.keys_of_space(space), FORGET).param("scope", scope_to_hex(scope));
    client.run_write(operation, query).await.map(drop)
}

fn note_from_row(operation: &'static str, row: &Row) -> Result<Note> {
    let subject: String = read_column(operation, row, "subject")?;
    let seconds: i64 = read_column(operation, row, "seconds")?;
    let nanos =
        u32::try_from(read_natural(operation, row, "nanos")?).map_err(|error| damaged_error(operation, error))?;
    let broken = || PortError::new(operation, ErrorKind::Damaged, "a note cannot be read");
    Ok(Note {
        subject: id_of(&subject).map_err(|error| damaged_error(operation, error))?,
        kind: kind_from_number(read_column(operation, row, "kind")?).ok_or_else(broken)?,
        at: DateTime::from_timestamp(seconds, nanos).ok_or_else(broken)?,
    })
}

/// Returns a scope in the form used in keys: hexadecimal digits, because a scope may contain any character.
fn scope_to_hex(scope: &str) -> String {
    scope.bytes().map(|byte| format!("{byte:02x}")).collect()
}
