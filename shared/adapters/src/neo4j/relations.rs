use std::collections::BTreeMap;

use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Result;
use domain::relation::{Relation, RelationKind};
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};

use super::client::{Client, column, integer, locked, on, parts, row, seen};
use super::error::damaged;
use super::keys::{evidence, id, id_of};

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
pub(super) async fn put(
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
        last.insert(key(it), it);
    }
    let keys = client.keys(space);
    if last.is_empty() {
        return client.write_known(operation, space, on(&keys, KNOWN)).await.map(drop);
    }
    for kind in KINDS {
        let of_kind = last.values().filter(|it| it.kind == kind.kind);
        let (gone, kept): (Vec<&Relation>, Vec<&Relation>) = of_kind.partition(|it| it.weight == 0.0);
        for (text, relations) in [(kind.remove, gone), (kind.put, kept)] {
            if relations.is_empty() {
                continue;
            }
            for rows in parts(relations.into_iter().map(line).collect()) {
                let query = on(&keys, text).param("rows", BoltType::from_iter(rows));
                client.write_known(operation, space, query).await?;
            }
        }
    }
    Ok(())
}

/// Returns the first `limit` relations by key that start or end at one of the units.
pub(super) async fn beside(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    (units, limit): (&[UnitId], usize),
) -> Result<Vec<Relation>> {
    let keys = client.keys(space);
    let query = on(&keys, BESIDE).param("ranks", ranks()).param("limit", integer(limit));
    let ids = units.iter().map(|it| id(it.uuid())).collect();
    let mut found = BTreeMap::new();
    for row in client.read_by_id(operation, ids, query).await? {
        let it = relation(operation, &row)?;
        found.insert(key(&it), it);
    }
    Ok(found.into_values().take(limit).collect())
}

fn key(it: &Relation) -> Key {
    (it.source, it.kind, it.label.clone(), it.target)
}

/// Returns a relation as a row, with its size in bytes.
fn line(it: &Relation) -> (BoltType, usize) {
    let bytes = 150 + it.label.len() + 34 * it.evidence.len();
    let line = row([
        ("source", id(it.source.uuid()).into()),
        ("target", id(it.target.uuid()).into()),
        ("label", it.label.as_str().into()),
        ("weight", f64::from(it.weight).into()),
        ("evidence", evidence(&it.evidence).into()),
    ]);
    (line, bytes)
}

/// Returns the sort order of kinds, by the name of their relationship type.
fn ranks() -> BoltType {
    let all = KINDS.iter().zip(0i64..).map(|(it, rank)| (it.name, rank));
    all.collect::<std::collections::HashMap<_, _>>().into()
}

fn relation(operation: &'static str, row: &Row) -> Result<Relation> {
    let id_in = |text: &str| id_of(text).map_err(|error| damaged(operation, error));
    let unit = |name| id_in(&column::<String>(operation, row, name)?).map(UnitId::from_uuid);
    let name: String = column(operation, row, "kind")?;
    let kind = KINDS.iter().find(|it| it.name == name);
    let evidence: Vec<String> = column(operation, row, "evidence")?;
    let evidence = evidence.iter().map(|it| id_in(it).map(RecordId::from_uuid));
    Ok(Relation {
        source: unit("source")?,
        target: unit("target")?,
        kind: kind
            .ok_or_else(|| damaged(operation, "unknown type of relationship"))?
            .kind,
        label: column(operation, row, "label")?,
        // The f32 was stored as an f64, so the conversion loses nothing.
        weight: column::<f64>(operation, row, "weight")? as f32,
        evidence: evidence.collect::<Result<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the position of a kind. A new kind makes this fail to compile, as a reminder to extend the list.
    fn listed(kind: RelationKind) -> usize {
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
        assert_eq!(KINDS.len(), listed(RelationKind::Other) + 1);
        for (rank, it) in KINDS.iter().enumerate() {
            assert_eq!(listed(it.kind), rank);
        }
        assert!(KINDS.is_sorted_by_key(|it| it.kind));
    }
}
