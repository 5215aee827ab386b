use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{SpaceId, UnitId};
use domain::port::{Change, DerivedChange, Graph, Result, Room, Selection, case_folded_actor};
use domain::relation::Relation;
use domain::unit::{Status, Unit};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::servers::neo4j::client::{
    Client, following, locked, parameter_row, query_for_space, read_body, read_column, read_natural, seen,
    to_bolt_integer, to_json,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{id_of, id_to_hex};
use crate::servers::neo4j::space_nodes::{derived_objects, listing, relations};

/// Maximum number of times that a put reads the units to retire. It reads them again if another writer stored one of
/// them before the write.
const ROUNDS_MAX: usize = 4;

/// Stores units. `live` is true for a stored unit that is not retired, `active` for a unit that counts as active. A
/// node that is only the end of a relation has neither, and no `sequence`. A retired unit keeps its emptied body, and
/// belongs to no session and actor.
///
/// `$absent` lists the units to retire whose bodies the caller did not find. If one of them is stored by now, nothing
/// is written: the server cannot empty a body, and a retired unit must not keep its text.
const PUT_UNITS: &str = locked!(
    "WITH s, s.changes AS base
     CALL () {
       UNWIND $absent AS id
       MATCH (u:Unit {key: $prefix + id}) WHERE u.live
       RETURN count(u) AS stored
     }
     WITH s, base, stored = 0 AS due
     CALL (base, due) {
       UNWIND CASE WHEN due THEN $retired ELSE [] END AS row
       MATCH (u:Unit {key: $prefix + row.id}) WHERE u.live
       WITH base, row, u, CASE WHEN u.active THEN 1 ELSE 0 END AS was
       SET u.live = false, u.active = false, u.sequence = base + row.number, u.body = row.body
       REMOVE u.session, u.actor
       RETURN count(u) AS gone, coalesce(sum(was), 0) AS fewer
     }
     CALL (base, due) {
       UNWIND CASE WHEN due THEN $rows ELSE [] END AS row
       OPTIONAL MATCH (u:Unit {key: $prefix + row.id})
       WITH base, row, CASE WHEN u.active THEN 1 ELSE 0 END AS was, coalesce(u.live, false) AND u.body = row.body AS equal
       WHERE NOT equal
       MERGE (u:Unit {key: $prefix + row.id})
       SET u.space = $space, u.sequence = base + row.number, u.live = true, u.active = row.active, u.body = row.body,
         u.session = row.session, u.actor = row.actor
       RETURN count(u) AS put, coalesce(sum(CASE WHEN row.active THEN 1 ELSE 0 END - was), 0) AS more
     }
     FOREACH (_ IN CASE WHEN gone + put > 0 THEN [1] ELSE [] END |
       SET s.changes = base + $steps, s.units = s.units + more - fewer)
     RETURN due"
);
const UNITS: &str =
    seen!("UNWIND $ids AS id MATCH (u:Unit {key: $prefix + id}) WHERE u.live RETURN u.key AS key, u.body AS body");
// The separate subquery lets the server read the rows in the order of the index and stop at the limit.
const CHANGES: &str = following!(
    "changes",
    "CALL () {
       MATCH (u:Unit) WHERE u.space = $space AND u.sequence > $after
       RETURN u.sequence AS sequence, u.live AS live, u.body AS body ORDER BY u.space, u.sequence LIMIT $limit
     }
     RETURN sequence, live, body ORDER BY sequence"
);

/// Units, relations and all derived objects, as nodes and relationships.
pub(crate) struct NodeGraph(pub(crate) Arc<Client>);

#[async_trait]
impl Graph for NodeGraph {
    async fn put_units(&self, space: &SpaceId, units: &[Unit], retired: &[UnitId]) -> Result<()> {
        const OPERATION: &str = "graph.put_units";
        let retired: BTreeSet<Uuid> = retired.iter().map(|it| it.uuid()).collect();
        let retired: Vec<Uuid> = retired.into_iter().collect();
        // Of several units with one id the last counts, in the order given.
        let last: HashMap<UnitId, usize> = units.iter().enumerate().map(|(n, it)| (it.id, n)).collect();
        let mut rows = Vec::with_capacity(last.len());
        for (n, unit) in units.iter().enumerate().filter(|(n, it)| last.get(&it.id) == Some(n)) {
            check_finite(OPERATION, unit.id.uuid(), unit.confidence)?;
            rows.push(parameter_row([
                ("id", id_to_hex(unit.id.uuid()).into()),
                ("number", to_bolt_integer(retired.len() + n + 1)),
                ("session", id_to_hex(unit.session.uuid()).into()),
                ("actor", case_folded_actor(&unit.actor).into()),
                ("active", (unit.status == Status::Active).into()),
                ("body", to_json(OPERATION, unit)?.into()),
            ]));
        }
        let query = query_for_space(&self.0.keys_of_space(space), PUT_UNITS)
            .param("steps", to_bolt_integer(retired.len() + units.len()))
            .param("rows", BoltType::from_iter(rows));
        for _ in 0..ROUNDS_MAX {
            let RetiredUnits { rows, absent } = self.read_retired_units(OPERATION, space, &retired).await?;
            let query = query
                .clone()
                .param("retired", BoltType::from_iter(rows))
                .param("absent", absent);
            let row = self.0.write_known(OPERATION, space, query).await?;
            if read_column(OPERATION, &row, "due")? {
                return Ok(());
            }
        }
        let detail = "units are stored again faster than they can be retired";
        Err(PortError::new(OPERATION, ErrorKind::Unavailable, detail))
    }

    async fn units(&self, space: &SpaceId, ids: &[UnitId]) -> Result<Vec<Unit>> {
        let ids: Vec<Uuid> = ids.iter().map(|it| it.uuid()).collect();
        by_id(&self.0, "graph.units", space, UNITS, &ids).await
    }

    async fn changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        const OPERATION: &str = "graph.changes";
        let query = query_for_space(&self.0.keys_of_space(space), CHANGES)
            .param("after", to_bolt_integer(sequence))
            .param("limit", to_bolt_integer(limit));
        let rows = self.0.run_write(OPERATION, query).await?;
        let change = |row: &Row| -> Result<Change> {
            let unit: Unit = read_body(OPERATION, row)?;
            let live: bool = read_column(OPERATION, row, "live")?;
            Ok(Change {
                sequence: read_natural(OPERATION, row, "sequence")?,
                unit: if live { unit } else { unit.without_content() },
            })
        };
        rows.iter().map(change).collect()
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Unit>, Option<u64>)> {
        listing::select_items(&self.0, "graph.select", space, selection, after, room).await
    }

    async fn put_relations(&self, space: &SpaceId, relations: &[Relation]) -> Result<()> {
        relations::put_relations(&self.0, "graph.put_relations", space, relations).await
    }

    async fn relations(&self, space: &SpaceId, units: &[UnitId], limit: usize) -> Result<Vec<Relation>> {
        relations::relations_of_units(&self.0, "graph.relations", space, units, limit).await
    }

    async fn put_derived(&self, space: &SpaceId, items: &[Derived], removed: &[DerivedId]) -> Result<()> {
        derived_objects::put_derived(&self.0, "graph.put_derived", None, space, items, removed).await
    }

    async fn derived_write_count(&self, space: &SpaceId) -> Result<u64> {
        derived_objects::derived_write_count(&self.0, "graph.derived_turn", space).await
    }

    async fn put_derived_if_unchanged(
        &self,
        space: &SpaceId,
        turn: u64,
        items: &[Derived],
        removed: &[DerivedId],
    ) -> Result<()> {
        derived_objects::put_derived(&self.0, "graph.put_derived_at", Some(turn), space, items, removed).await
    }

    async fn list_derived(
        &self,
        space: &SpaceId,
        kind: DerivedKind,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Derived>> {
        derived_objects::list_derived(&self.0, "graph.list_derived", space, kind, after, limit).await
    }

    async fn derived(&self, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<Derived>> {
        derived_objects::get_derived(&self.0, "graph.derived", space, ids).await
    }

    async fn derived_changes(&self, space: &SpaceId, sequence: u64, limit: usize) -> Result<Vec<DerivedChange>> {
        derived_objects::derived_changes(&self.0, "graph.derived_changes", space, sequence, limit).await
    }
}

/// Units to retire, as read before the write.
struct RetiredUnits {
    /// A row with the emptied body of each stored unit.
    rows: Vec<BoltType>,
    /// The ids of the units that are not stored.
    absent: Vec<String>,
}

impl NodeGraph {
    /// Reads the units to retire, because their emptied bodies contain fields of the stored ones.
    async fn read_retired_units(
        &self,
        operation: &'static str,
        space: &SpaceId,
        retired: &[Uuid],
    ) -> Result<RetiredUnits> {
        let stored: Vec<Unit> = by_id(&self.0, operation, space, UNITS, retired).await?;
        let stored_ids: BTreeSet<Uuid> = stored.iter().map(|it| it.id.uuid()).collect();
        let absent = retired.iter().filter(|it| !stored_ids.contains(*it));
        let absent = absent.map(|it| id_to_hex(*it)).collect();
        let mut rows = Vec::with_capacity(stored.len());
        for (unit, number) in stored.iter().zip(1i64..) {
            rows.push(parameter_row([
                ("id", id_to_hex(unit.id.uuid()).into()),
                ("number", number.into()),
                ("body", to_json(operation, &unit.without_content())?.into()),
            ]));
        }
        Ok(RetiredUnits { rows, absent })
    }
}

/// Runs a statement for `$ids` with the columns `key` and `body`. Returns the bodies in the order of the ids.
pub(crate) async fn by_id<T: DeserializeOwned + Clone>(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    text: &'static str,
    ids: &[Uuid],
) -> Result<Vec<T>> {
    let keys = client.keys_of_space(space);
    let rows = client
        .read_by_id(
            operation,
            ids.iter().map(|it| id_to_hex(*it)).collect(),
            query_for_space(&keys, text),
        )
        .await?;
    let mut found = HashMap::with_capacity(ids.len());
    for row in &rows {
        let key: &str = row.get("key").map_err(|error| damaged_error(operation, error))?;
        let id = id_of(key).map_err(|error| damaged_error(operation, error))?;
        found.insert(id, read_body::<T>(operation, row)?);
    }
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

fn check_finite(operation: &'static str, id: Uuid, number: f32) -> Result<()> {
    if number.is_finite() {
        return Ok(());
    }
    let detail = format!("{id} has a confidence that is not a number");
    Err(PortError::new(operation, ErrorKind::Invalid, detail))
}
