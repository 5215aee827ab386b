//! Derived objects as nodes. The feed of their changes has its own counter in every space.

use std::collections::{BTreeSet, HashMap};

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::SpaceId;
use domain::port::{DerivedChange, Result};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};
use uuid::Uuid;

use crate::servers::neo4j::client::{
    Client, following, locked, parameter_row, query_for_space, read_body, read_column, read_natural, seen,
    to_bolt_integer, to_json,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{id_of, id_to_hex};

/// The kinds with their names in keys. Entries may only be added.
const KINDS: [(DerivedKind, &str); 7] = [
    (DerivedKind::Fact, "fact"),
    (DerivedKind::Entity, "entity"),
    (DerivedKind::Topic, "topic"),
    (DerivedKind::Member, "member"),
    (DerivedKind::Page, "page"),
    (DerivedKind::Merge, "merge"),
    (DerivedKind::Standing, "standing"),
];

/// Deleted objects remain as tombstones (nodes without a body). The write applies only if the space is still at
/// `$turn`; null skips the check.
const PUT: &str = locked!(
    "WITH s, coalesce(s.derived_changes, 0) AS base, coalesce(s.derived_turn, 0) AS turn
     WITH s, base, turn, $turn IS NULL OR $turn = turn AS due
     CALL (base, due) {
       UNWIND CASE WHEN due THEN $gone ELSE [] END AS row
       MATCH (d:Derived {key: $prefix + row.key}) WHERE d.body IS NOT NULL
       SET d.sequence = base + row.number, d.body = null
       RETURN count(d) AS gone
     }
     CALL (base, due) {
       UNWIND CASE WHEN due THEN $rows ELSE [] END AS row
       OPTIONAL MATCH (d:Derived {key: $prefix + row.key})
       WITH base, row, coalesce(d.body = row.body, false) AS equal
       WHERE NOT equal
       MERGE (d:Derived {key: $prefix + row.key})
       SET d.space = $space, d.kind = row.kind, d.sequence = base + row.number, d.body = row.body
       RETURN count(d) AS put
     }
     FOREACH (_ IN CASE WHEN gone + put > 0 THEN [1] ELSE [] END | SET s.derived_changes = base + $steps)
     FOREACH (_ IN CASE WHEN due THEN [1] ELSE [] END | SET s.derived_turn = turn + 1)
     RETURN due"
);
const TURN: &str = seen!("RETURN coalesce(s.derived_turn, 0) AS turn");
// A separate subquery reads in the order of the index, and no more rows than it returns.
const LIST: &str = seen!(
    "CALL () {
       MATCH (d:Derived) WHERE d.key > $prefix + $after AND d.key < $prefix + $until AND d.body IS NOT NULL
       RETURN d.key AS key, d.body AS body ORDER BY key LIMIT $limit
     }
     RETURN body ORDER BY key"
);
const GET: &str = seen!(
    "UNWIND $ids AS id MATCH (d:Derived {key: $prefix + id}) WHERE d.body IS NOT NULL
     RETURN d.key AS key, d.body AS body"
);
const CHANGES: &str = following!(
    "derived_changes",
    "CALL () {
       MATCH (d:Derived) WHERE d.space = $space AND d.sequence > $after
       RETURN d.sequence AS sequence, d.kind AS kind, d.key AS key, d.body AS body
       ORDER BY d.space, d.sequence LIMIT $limit
     }
     RETURN sequence, kind, key, body ORDER BY sequence"
);

/// Returns the number of times that derived objects of a space were put.
pub(crate) async fn derived_write_count(client: &Client, operation: &'static str, space: &SpaceId) -> Result<u64> {
    let rows = client
        .run_read(operation, query_for_space(&client.keys_of_space(space), TURN))
        .await?;
    rows.first().map_or(Ok(0), |it| read_natural(operation, it, "turn"))
}

/// Removes `removed`, then inserts or replaces `items`, atomically; of several items with one id the last counts. If a
/// turn is given, only when the space is at that turn.
pub(crate) async fn put_derived(
    client: &Client,
    operation: &'static str,
    turn: Option<u64>,
    space: &SpaceId,
    items: &[Derived],
    removed: &[DerivedId],
) -> Result<()> {
    let removed: BTreeSet<&DerivedId> = removed.iter().collect();
    let removed = removed.into_iter().zip(1i64..);
    let removed =
        removed.map(|(it, number)| parameter_row([("key", derived_key(*it).into()), ("number", number.into())]));
    let removed: Vec<BoltType> = removed.collect();
    let last: HashMap<DerivedId, usize> = items.iter().enumerate().map(|(n, it)| (it.id(), n)).collect();
    let mut rows = Vec::with_capacity(last.len());
    for (n, item) in items.iter().enumerate() {
        let id = item.id();
        if !item.is_finite() {
            let detail = format!("{} has a value that is not a number", id.id);
            return Err(PortError::new(operation, ErrorKind::Invalid, detail));
        }
        if last.get(&id) == Some(&n) {
            rows.push(parameter_row([
                ("key", derived_key(id).into()),
                ("kind", kind_name(id.kind).into()),
                ("number", to_bolt_integer(removed.len() + n + 1)),
                ("body", to_json(operation, item)?.into()),
            ]));
        }
    }
    let turn = turn.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
    let query = query_for_space(&client.keys_of_space(space), PUT)
        .param("turn", turn)
        .param("steps", to_bolt_integer(removed.len() + items.len()))
        .param("gone", BoltType::from_iter(removed))
        .param("rows", BoltType::from_iter(rows));
    let due: bool = read_column(operation, &client.write_known(operation, space, query).await?, "due")?;
    let other = || {
        let detail = "another process has put derived objects in the meantime";
        PortError::new(operation, ErrorKind::Conflict, detail)
    };
    due.then_some(()).ok_or_else(other)
}

/// Returns up to `limit` objects of a kind after an id, by id.
pub(crate) async fn list_derived(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    kind: DerivedKind,
    after: Option<Uuid>,
    limit: usize,
) -> Result<Vec<Derived>> {
    let kind = kind_name(kind);
    let query = query_for_space(&client.keys_of_space(space), LIST)
        .param("after", format!("{kind}/{}", after.map(id_to_hex).unwrap_or_default()))
        // `0` is the character after `/`.
        .param("until", format!("{kind}0"))
        .param("limit", to_bolt_integer(limit));
    let rows = client.run_read(operation, query).await?;
    rows.iter().map(|it| read_body(operation, it)).collect()
}

/// Returns the objects that exist, in the order of the ids.
pub(crate) async fn get_derived(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    ids: &[DerivedId],
) -> Result<Vec<Derived>> {
    let keys: Vec<String> = ids.iter().map(|it| derived_key(*it)).collect();
    let query = query_for_space(&client.keys_of_space(space), GET);
    let rows = client.read_by_id(operation, keys, query).await?;
    let mut found = HashMap::with_capacity(ids.len());
    for row in &rows {
        let item: Derived = read_body(operation, row)?;
        found.insert(item.id(), item);
    }
    Ok(ids.iter().filter_map(|it| found.get(it).cloned()).collect())
}

/// Returns up to `limit` changes after a sequence number.
pub(crate) async fn derived_changes(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    sequence: u64,
    limit: usize,
) -> Result<Vec<DerivedChange>> {
    let query = query_for_space(&client.keys_of_space(space), CHANGES)
        .param("after", to_bolt_integer(sequence))
        .param("limit", to_bolt_integer(limit));
    let rows = client.run_write(operation, query).await?;
    rows.iter().map(|it| change_from_row(operation, it)).collect()
}

fn change_from_row(operation: &'static str, row: &Row) -> Result<DerivedChange> {
    let (kind, key): (String, String) = (
        read_column(operation, row, "kind")?,
        read_column(operation, row, "key")?,
    );
    let unknown = || PortError::new(operation, ErrorKind::Damaged, "unknown kind of a derived object");
    let (kind, _) = KINDS.iter().find(|(_, name)| *name == kind).ok_or_else(unknown)?;
    let body: Option<&str> = row.get("body").map_err(|error| damaged_error(operation, error))?;
    let item = body
        .map(|it| serde_json::from_str(it).map_err(|error| damaged_error(operation, error)))
        .transpose()?;
    Ok(DerivedChange {
        sequence: read_natural(operation, row, "sequence")?,
        id: DerivedId {
            kind: *kind,
            id: id_of(&key).map_err(|error| damaged_error(operation, error))?,
        },
        item,
    })
}

fn derived_key(it: DerivedId) -> String {
    format!("{}/{}", kind_name(it.kind), id_to_hex(it.id))
}

fn kind_name(kind: DerivedKind) -> &'static str {
    KINDS.iter().find(|(it, _)| *it == kind).map_or("", |(_, name)| name)
}
