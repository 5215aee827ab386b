use std::collections::BTreeMap;

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Result;
use domain::relation::{Relation, RelationKind};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};

use crate::servers::neo4j::client::{
    Client, locked, parameter_row, query_for_space, read_column, seen, split_into_parts, to_bolt_integer,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{id_of, id_to_hex, record_ids_to_hex};

/// Sort key of relations: source, kind, label, target.
type Key = (UnitId, RelationKind, String, UnitId);

/// A kind of relation, stored as a type of relationship. The label of `Other` is a property, like every value.
struct Kind {
    kind: RelationKind,
    name: &'static str,
    put: &'static str,
    remove: &'static str,
}

macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// All kinds, in sort order.
        const KINDS: &[Kind] = &[$(Kind {
            kind: RelationKind::$kind,
            name: $name,
            put: locked!(concat!(
                "CALL () {
                   UNWIND $rows AS row
                   MERGE (a:Unit {key: $prefix + row.source})
                   MERGE (b:Unit {key: $prefix + row.target})
                   MERGE (a)-[r:", $name, " {label: row.label}]->(b)
                   SET r.weight = row.weight, r.evidence = row.evidence
                 }
                 RETURN 1 AS known"
            )),
            remove: locked!(concat!(
                "CALL () {
                   UNWIND $rows AS row
                   MATCH (:Unit {key: $prefix + row.source})-[r:", $name, " {label: row.label}]->
                         (:Unit {key: $prefix + row.target})
                   DELETE r
                 }
                 RETURN 1 AS known"
            )),
        },)*];
    };
}

kinds! {
    Causes = "CAUSES",
    Motivates = "MOTIVATES",
    Enables = "ENABLES",
    FollowsUp = "FOLLOWS_UP",
    Before = "BEFORE",
    Contrasts = "CONTRASTS",
    PartOf = "PART_OF",
    Parallel = "PARALLEL",
    Elaborates = "ELABORATES",
    SameAs = "SAME_AS",
    Other = "OTHER",
}

/// `$ranks` maps relationship types to the sort order of their kinds; relationships of other types are ignored.
const BESIDE: &str = seen!(
    "UNWIND $ids AS id
     MATCH (u:Unit {key: $prefix + id})-[r]-(v:Unit)
     WHERE u.live AND v.live
     WITH DISTINCT r
     WITH r, startNode(r).key AS source, endNode(r).key AS target, $ranks[type(r)] AS rank
     WHERE rank IS NOT NULL
     RETURN source, target, type(r) AS kind, r.label AS label, r.weight AS weight, r.evidence AS evidence
     ORDER BY source, rank, label, target LIMIT $limit"
);
const KNOWN: &str = seen!("RETURN 1 AS known");

/// Inserts or replaces relations; a relation of weight 0 is removed. Of several relations with one key the last counts.
pub(crate) async fn put_relations(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    relations: &[Relation],
) -> Result<()> {
    let mut last: BTreeMap<Key, &Relation> = BTreeMap::new();
    for it in relations {
        if !it.weight.is_finite() {
            let detail = "a relation has a weight that is not a number";
            return Err(PortError::new(operation, ErrorKind::Invalid, detail));
        }
        last.insert(sort_key(it), it);
    }
    let keys = client.keys_of_space(space);
    if last.is_empty() {
        return client
            .write_known(operation, space, query_for_space(&keys, KNOWN))
            .await
            .map(drop);
    }
    for kind in KINDS {
        let of_kind = last.values().filter(|it| it.kind == kind.kind);
        let (removed, new_relations): (Vec<&Relation>, Vec<&Relation>) = of_kind.partition(|it| it.weight == 0.0);
        for (text, relations) in [(kind.remove, removed), (kind.put, new_relations)] {
            if relations.is_empty() {
                continue;
            }
            for rows in split_into_parts(relations.into_iter().map(relation_row).collect()) {
                let query = query_for_space(&keys, text).param("rows", BoltType::from_iter(rows));
                client.write_known(operation, space, query).await?;
            }
        }
    }
    Ok(())
}

/// Returns the first `limit` relations by key that start or end at one of the units.
pub(crate) async fn relations_of_units(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    units: &[UnitId],
    limit: usize,
) -> Result<Vec<Relation>> {
    let keys = client.keys_of_space(space);
    let query = query_for_space(&keys, BESIDE)
        .param("ranks", kind_ranks())
        .param("limit", to_bolt_integer(limit));
    let ids = units.iter().map(|it| id_to_hex(it.uuid())).collect();
    let mut found = BTreeMap::new();
    for row in client.read_by_id(operation, ids, query).await? {
        let it = relation_from_row(operation, &row)?;
        found.insert(sort_key(&it), it);
    }
    Ok(found.into_values().take(limit).collect())
}

fn sort_key(it: &Relation) -> Key {
    (it.source, it.kind, it.label.clone(), it.target)
}

/// Returns a relation as a row, with its size in bytes.
fn relation_row(it: &Relation) -> (BoltType, usize) {
    let bytes = 150 + it.label.len() + 34 * it.evidence.len();
    let line = parameter_row([
        ("source", id_to_hex(it.source.uuid()).into()),
        ("target", id_to_hex(it.target.uuid()).into()),
        ("label", it.label.as_str().into()),
        ("weight", f64::from(it.weight).into()),
        ("evidence", record_ids_to_hex(&it.evidence).into()),
    ]);
    (line, bytes)
}

/// Returns the sort order of kinds, by the name of their relationship type.
fn kind_ranks() -> BoltType {
    let all = KINDS.iter().zip(0i64..).map(|(it, rank)| (it.name, rank));
    all.collect::<std::collections::HashMap<_, _>>().into()
}

fn relation_from_row(operation: &'static str, row: &Row) -> Result<Relation> {
    let id_in = |text: &str| id_of(text).map_err(|error| damaged_error(operation, error));
    let unit = |name| id_in(&read_column::<String>(operation, row, name)?).map(UnitId::from_uuid);
    let name: String = read_column(operation, row, "kind")?;
    let kind = KINDS.iter().find(|it| it.name == name);
    let evidence: Vec<String> = read_column(operation, row, "evidence")?;
    let evidence = evidence.iter().map(|it| id_in(it).map(RecordId::from_uuid));
    Ok(Relation {
        source: unit("source")?,
        target: unit("target")?,
        kind: kind
            .ok_or_else(|| damaged_error(operation, "unknown type of relationship"))?
            .kind,
        label: read_column(operation, row, "label")?,
        // The f32 was stored as an f64, so the conversion loses nothing.
        weight: read_column::<f64>(operation, row, "weight")? as f32,
        evidence: evidence.collect::<Result<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the position of a kind. A new kind makes this fail to compile, as a reminder to extend the list.
    fn position_of_kind(kind: RelationKind) -> usize {
        use RelationKind::*;
        match kind {
            Causes => 0,
            Motivates => 1,
            Enables => 2,
            FollowsUp => 3,
            Before => 4,
            Contrasts => 5,
            PartOf => 6,
            Parallel => 7,
            Elaborates => 8,
            SameAs => 9,
            Other => 10,
        }
    }

    #[test]
    fn all_kinds_of_relations_are_listed_in_order() {
        assert_eq!(KINDS.len(), position_of_kind(RelationKind::Other) + 1);
        for (rank, it) in KINDS.iter().enumerate() {
            assert_eq!(position_of_kind(it.kind), rank);
        }
        assert!(KINDS.is_sorted_by_key(|it| it.kind));
    }
}
