use std::collections::BTreeMap;

use domain::id::{RecordId, UnitId};
use domain::relation::{Relation, RelationKind};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::{Failure, Outcome, to_sql_integer};

/// Sort key of relations: source, kind, label, target.
pub(super) type Key = (UnitId, RelationKind, String, UnitId);

/// The kinds; the index of a kind is its number in the file. Numbers are never reused.
const KINDS: [RelationKind; 11] = [
    RelationKind::Causes,
    RelationKind::Motivates,
    RelationKind::Enables,
    RelationKind::FollowsUp,
    RelationKind::Before,
    RelationKind::Contrasts,
    RelationKind::PartOf,
    RelationKind::Parallel,
    RelationKind::Elaborates,
    RelationKind::SameAs,
    RelationKind::Other,
];
const OUT: &str = "SELECT source, kind, label, target, weight, evidence FROM relations r
    WHERE space = ?1 AND source = ?2
      AND EXISTS (SELECT 1 FROM units u WHERE u.space = ?1 AND u.id = r.source AND u.removed = 0)
      AND EXISTS (SELECT 1 FROM units u WHERE u.space = ?1 AND u.id = r.target AND u.removed = 0)
    ORDER BY kind, label, target LIMIT ?3";
// The index is named, because the planner would otherwise read the whole space in the requested order instead of only
// the relations that end at the unit.
const IN: &str = "SELECT source, kind, label, target, weight, evidence FROM relations r INDEXED BY relations_target
    WHERE space = ?1 AND target = ?2
      AND EXISTS (SELECT 1 FROM units u WHERE u.space = ?1 AND u.id = r.source AND u.removed = 0)
      AND EXISTS (SELECT 1 FROM units u WHERE u.space = ?1 AND u.id = r.target AND u.removed = 0)
    ORDER BY source, kind, label LIMIT ?3";

/// Inserts or replaces a relation; one of weight 0 is removed.
pub(super) fn put_relation(db: &Connection, space: i64, it: &Relation) -> Outcome<()> {
    let (source, target) = (it.source.uuid().into_bytes(), it.target.uuid().into_bytes());
    let kind = KINDS
        .iter()
        .position(|kind| *kind == it.kind)
        .map_or(i64::MAX, to_sql_integer);
    if it.weight == 0.0 {
        let mut remove = db.prepare_cached(
            "DELETE FROM relations WHERE space = ?1 AND source = ?2 AND kind = ?3 AND label = ?4 AND target = ?5",
        )?;
        remove.execute(params![space, source, kind, it.label, target])?;
        return Ok(());
    }
    if !it.weight.is_finite() {
        return Err(Failure::invalid("a relation has a weight that is not a number"));
    }
    let evidence: Vec<u8> = it.evidence.iter().flat_map(|id| id.uuid().into_bytes()).collect();
    let mut insert = db.prepare_cached("INSERT OR REPLACE INTO relations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    insert.execute(params![space, source, kind, it.label, target, it.weight, evidence])?;
    Ok(())
}

/// Adds the first `limit` relations by key that start at the unit, and the first `limit` that end there.
pub(super) fn add_relations_of_unit(
    db: &Connection,
    space: i64,
    unit: UnitId,
    limit: usize,
    found: &mut BTreeMap<Key, Relation>,
) -> Outcome<()> {
    for sql in [OUT, IN] {
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query(params![space, unit.uuid().as_bytes(), to_sql_integer(limit)])?;
        while let Some(row) = rows.next()? {
            let it = relation_from_row(row)?;
            found.insert((it.source, it.kind, it.label.clone(), it.target), it);
        }
    }
    Ok(())
}

fn relation_from_row(row: &Row<'_>) -> Outcome<Relation> {
    let kind: i64 = row.get(1)?;
    let kind = *KINDS
        .get(usize::try_from(kind).unwrap_or(usize::MAX))
        .ok_or_else(|| Failure::unreadable_body("unknown kind of relation"))?;
    let evidence: Vec<u8> = row.get(5)?;
    let (ids, rest) = evidence.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(Failure::unreadable_body("evidence of a relation has a broken length"));
    }
    Ok(Relation {
        source: UnitId::from_uuid(Uuid::from_bytes(row.get(0)?)),
        target: UnitId::from_uuid(Uuid::from_bytes(row.get(3)?)),
        kind,
        label: row.get(2)?,
        weight: row.get(4)?,
        evidence: ids
            .iter()
            .map(|id| RecordId::from_uuid(Uuid::from_bytes(*id)))
            .collect(),
    })
}
