use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{
    Claim, Held, Hold, Idempotent, Position, Records, Result, Revision, Room, Selection, SpaceInfo, UnfinishedErasure,
    folded,
};
use domain::recall::Note;
use domain::record::Record;
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};

use super::client::{Client, body, column, integer, json, locked, natural, on, parts, row, seen};
use super::error::damaged;
use super::keys::{Keys, id, id_of, named};
use super::{curations, erasure, graph, idempotency, notes, secrets, selected};
use crate::names;

const CREATE: &str = "MERGE (s:Space {key: $space})
    ON CREATE SET s.made = true, s.created_at = $at, s.records = 0, s.listed = 0, s.units = 0, s.changes = 0,
      s.derived_changes = 0, s.curated = 0, s.written = 0
    WITH s, s.made IS NOT NULL AS made, s.erasing IS NOT NULL AS erasing
    REMOVE s.made
    RETURN made, erasing";
const INFO: &str = seen!(
    "RETURN s.key AS key, s.created_at AS created_at, s.records AS records, s.units AS units, s.written AS written,
       s.changes AS changes, coalesce(s.derived_changes, 0) AS derived, coalesce(s.curated, 0) AS curated"
);
const INFOS: &str = "MATCH (s:Space) WHERE s.key >= $from AND s.key < $until AND s.erasing IS NULL
    RETURN s.key AS key, s.created_at AS created_at, s.records AS records, s.units AS units, s.written AS written,
      s.changes AS changes, coalesce(s.derived_changes, 0) AS derived, coalesce(s.curated, 0) AS curated
    ORDER BY key LIMIT $limit";
const CLAIM: &str = locked!(
    "UNWIND $rows AS row
     OPTIONAL MATCH (known:Claim {key: $prefix + row.id})
     WITH row, known.digest AS digest
     FOREACH (_ IN CASE WHEN digest IS NULL THEN [1] ELSE [] END |
       CREATE (:Claim {key: $prefix + row.id, digest: row.digest}))
     RETURN row.id AS id, digest"
);
const CLAIMED: &str = seen!("UNWIND $ids AS id MATCH (c:Claim {key: $prefix + id}) RETURN id");
const KNOWN: &str = seen!("RETURN 1 AS known");
const PUT: &str = locked!(
    "WITH s, s.listed AS base
     CALL (base) {
       UNWIND $rows AS row
       OPTIONAL MATCH (known:Record {key: $prefix + row.id})
       WITH base, row, known WHERE known IS NULL
       CREATE (r:Record {key: $prefix + row.id, space: $space, sequence: base + row.number, place: row.place,
                         actor: row.actor, body: row.body})
       RETURN count(r) AS stored
     }
     SET s.listed = base + $steps, s.records = s.records + stored
     RETURN stored"
);
/// A deleted node counts as a row.
const ERASE: &str = locked!(
    "CALL () { UNWIND $ids AS id MATCH (c:Claim {key: $prefix + id}) DELETE c }
     CALL () { UNWIND $ids AS id MATCH (:Record {key: $prefix + id})<-[:SHOWN]-(x:Reading) DETACH DELETE x }
     CALL () { UNWIND $ids AS id MATCH (r:Record {key: $prefix + id}) DETACH DELETE r RETURN count(*) AS gone }
     SET s.records = s.records - gone
     RETURN gone"
);
const GET: &str = seen!("UNWIND $ids AS id MATCH (r:Record {key: $prefix + id}) RETURN r.key AS key, r.body AS body");
const SESSION: &str = seen!(
    "MATCH (r:Record {key: $prefix + $around}) WHERE r.place > $from AND r.place < $until
     CALL (r) {
       MATCH (it:Record) WHERE it.place > $from AND it.place <= r.place
       RETURN it.place AS place, it.body AS body ORDER BY place DESC LIMIT $before
       UNION ALL
       MATCH (it:Record) WHERE it.place > r.place AND it.place < $until
       RETURN it.place AS place, it.body AS body ORDER BY place LIMIT $after
     }
     RETURN body ORDER BY place"
);
const MARK: &str = locked!(
    "MERGE (w:Written {key: $prefix + $position})
     SET s.written = CASE WHEN s.written < $number THEN $number ELSE s.written END
     RETURN 1 AS known"
);
const MARKED: &str = seen!("MATCH (w:Written {key: $prefix + $position}) RETURN 1 AS known");

/// Spaces and records as nodes.
pub(super) struct NodeRecords(pub(super) Arc<Client>);

#[async_trait]
impl Records for NodeRecords {
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool> {
        const OPERATION: &str = "records.create_space";
        let keys = self.0.keys(space);
        loop {
            let query = on(&keys, CREATE).param("at", at.to_rfc3339());
            let row = self.0.write_known(OPERATION, space, query).await?;
            if !column::<bool>(OPERATION, &row, "erasing")? {
                return column(OPERATION, &row, "made");
            }
            erasure::finish(&self.0, OPERATION, &keys).await?;
        }
    }

    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>> {
        const OPERATION: &str = "records.space";
        let rows = self.0.read(OPERATION, on(&self.0.keys(space), INFO)).await?;
        rows.first().map(|it| info(OPERATION, it)).transpose()
    }

    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        const OPERATION: &str = "records.spaces_under";
        let (from, until) = names::under(prefix, after);
        let query = neo4rs::query(INFOS)
            .param("from", named(&self.0.namespace, &from))
            .param("until", named(&self.0.namespace, &until))
            .param("limit", integer(limit));
        let rows = self.0.read(OPERATION, query).await?;
        rows.iter().map(|it| info(OPERATION, it)).collect()
    }

    async fn delete_space(&self, space: &SpaceId) -> Result<bool> {
        erasure::erase(&self.0, "records.delete_space", &self.0.keys(space)).await
    }

    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>> {
        erasure::unfinished(&self.0, "records.unfinished_erasures", space, limit).await
    }

    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()> {
        erasure::forget(&self.0, "records.finish_erasure", erasure).await
    }

    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>> {
        const OPERATION: &str = "records.claim";
        // The first claim of an id counts; later claims of the id in the same call are compared with it.
        let mut first: HashMap<RecordId, [u8; 32]> = HashMap::with_capacity(claims.len());
        let mut rows = Vec::with_capacity(claims.len());
        for (record, digest) in claims {
            first.entry(*record).or_insert_with(|| {
                rows.push(row([("id", id(record.uuid()).into()), ("digest", digest[..].into())]));
                *digest
            });
        }
        let known = self.taken(OPERATION, space, rows).await?;
        let mut met: HashMap<RecordId, [u8; 32]> = known;
        let outcome = |(record, digest): &(RecordId, [u8; 32])| match met.get(record) {
            None => {
                met.insert(*record, *digest);
                Claim::Fresh
            }
            Some(stored) if stored == digest => Claim::Same,
            Some(_) => Claim::Conflict,
        };
        Ok(claims.iter().map(outcome).collect())
    }

    async fn claimed(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>> {
        const OPERATION: &str = "records.claimed";
        let asked: Vec<String> = ids.iter().map(|it| id(it.uuid())).collect();
        let query = on(&self.0.keys(space), CLAIMED).param("ids", asked);
        let found = self.0.read(OPERATION, query).await?;
        let found: Result<BTreeSet<String>> = found.iter().map(|row| column(OPERATION, row, "id")).collect();
        let found = found?;
        Ok(ids
            .iter()
            .copied()
            .filter(|it| found.contains(&id(it.uuid())))
            .collect())
    }

    async fn hold(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<Held> {
        idempotency::hold(&self.0, "records.hold", space, key, hold).await
    }

    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()> {
        idempotency::release(&self.0, "records.release", space, key, hold, bound).await
    }

    async fn remembered(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>> {
        idempotency::remembered(&self.0, "records.remembered", space, key).await
    }

    async fn remember(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()> {
        idempotency::remember(&self.0, "records.remember", space, key, outcome, at).await
    }

    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
        secrets::keep(&self.0, "records.secret", name, fresh).await
    }

    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()> {
        const OPERATION: &str = "records.put";
        let keys = self.0.keys(space);
        for rows in parts(lines(OPERATION, &keys, space, records)?) {
            let query = on(&keys, PUT)
                .param("steps", integer(records.len()))
                .param("rows", BoltType::from_iter(rows));
            self.0.write_known(OPERATION, space, query).await?;
        }
        Ok(())
    }

    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()> {
        // Responses are deleted first: if the erasure stops halfway, the records are still there for the next attempt.
        idempotency::forget(&self.0, "records.erase", space, ids).await?;
        let ids: BTreeSet<String> = ids.iter().map(|it| id(it.uuid())).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        let query = on(&self.0.keys(space), ERASE).param("ids", ids);
        self.0.write("records.erase", query).await.map(drop)
    }

    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>> {
        let ids: Vec<_> = ids.iter().map(|it| it.uuid()).collect();
        graph::by_id(&self.0, "records.get", space, (GET, &ids)).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)> {
        selected::select(&self.0, "records.select", space, selection, (after, room)).await
    }

    async fn session(
        &self,
        space: &SpaceId,
        session: SessionId,
        around: RecordId,
        before: usize,
        after: usize,
    ) -> Result<Vec<Record>> {
        const OPERATION: &str = "records.session";
        let keys = self.0.keys(space);
        let (from, until) = keys.session(session);
        let query = on(&keys, SESSION)
            .param("around", id(around.uuid()))
            .param("from", from)
            .param("until", until)
            .param("before", integer(before))
            .param("after", integer(after));
        let rows = self.0.read(OPERATION, query).await?;
        rows.iter().map(|it| body(OPERATION, it)).collect()
    }

    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()> {
        let query = on(&self.0.keys(space), MARK)
            .param("position", position.0.to_string())
            .param("number", integer(position.0));
        self.0.write_known("records.mark_written", space, query).await.map(drop)
    }

    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool> {
        let query = on(&self.0.keys(space), MARKED).param("position", position.0.to_string());
        Ok(!self.0.read("records.is_written", query).await?.is_empty())
    }

    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()> {
        curations::put(&self.0, "records.put_curations", space, (position, curations)).await
    }

    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()> {
        curations::redact(&self.0, "records.redact_curations", space, ids).await
    }

    async fn brought_by(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>> {
        curations::brought_by(&self.0, "records.brought_by", space, id).await
    }

    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
        curations::list(&self.0, "records.curations", space, (after, limit)).await
    }

    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()> {
        notes::put(&self.0, space, scope, notes).await?;
        notes::trim(&self.0, space, scope, most).await
    }

    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
        notes::of(&self.0, "records.notes", space, scope).await
    }

    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()> {
        notes::forget(&self.0, "records.forget_notes", space, scope).await
    }
}

impl NodeRecords {
    /// Claims ids, each once. Returns the digests of the ids that were claimed before.
    async fn taken(
        &self,
        operation: &'static str,
        space: &SpaceId,
        rows: Vec<BoltType>,
    ) -> Result<HashMap<RecordId, [u8; 32]>> {
        let keys = self.0.keys(space);
        if rows.is_empty() {
            self.0.write_known(operation, space, on(&keys, KNOWN)).await?;
            return Ok(HashMap::new());
        }
        let query = on(&keys, CLAIM).param("rows", BoltType::from_iter(rows));
        let found = self.0.write(operation, query).await?;
        if found.is_empty() {
            let detail = format!("there is no space {space}");
            return Err(PortError::new(operation, ErrorKind::NotFound, detail));
        }
        let mut known = HashMap::new();
        for row in &found {
            if row
                .get::<Option<&[u8]>>("digest")
                .map_err(|error| damaged(operation, error))?
                .is_some()
            {
                let record: String = column(operation, row, "id")?;
                let record = id_of(&record).map_err(|error| damaged(operation, error))?;
                known.insert(RecordId::from_uuid(record), digest(operation, row, "digest")?);
            }
        }
        Ok(known)
    }
}

fn info(operation: &'static str, row: &Row) -> Result<SpaceInfo> {
    let key: String = column(operation, row, "key")?;
    let name = key.rsplit('/').next().unwrap_or_default();
    let created_at: String = column(operation, row, "created_at")?;
    Ok(SpaceInfo {
        space: name
            .parse()
            .map_err(|error: domain::id::InvalidSpace| damaged(operation, error))?,
        created_at: created_at
            .parse()
            .map_err(|error: chrono::ParseError| damaged(operation, error))?,
        records: natural(operation, row, "records")?,
        units: natural(operation, row, "units")?,
        written: Position(natural(operation, row, "written")?),
        revision: Revision {
            units: natural(operation, row, "changes")?,
            derived: natural(operation, row, "derived")?,
            curations: natural(operation, row, "curated")?,
        },
    })
}

pub(super) fn bytes<'row>(operation: &'static str, row: &'row Row, name: &str) -> Result<&'row [u8]> {
    row.get(name).map_err(|error| damaged(operation, error))
}

pub(super) fn digest(operation: &'static str, row: &Row, name: &str) -> Result<[u8; 32]> {
    bytes(operation, row, name)?
        .try_into()
        .map_err(|error: std::array::TryFromSliceError| damaged(operation, error))
}

/// Returns the rows of records with their sizes in bytes; of several records with one id the first counts.
///
/// # Errors
///
/// `Invalid` if a record belongs to another space.
fn lines(operation: &'static str, keys: &Keys, space: &SpaceId, records: &[Record]) -> Result<Vec<(BoltType, usize)>> {
    let mut lines = Vec::with_capacity(records.len());
    let mut met = HashSet::with_capacity(records.len());
    for record in records {
        if record.space != *space {
            let detail = format!("record {} belongs to space {}", record.id, record.space);
            return Err(PortError::new(operation, ErrorKind::Invalid, detail));
        }
        if !met.insert(record.id) {
            continue;
        }
        let (place, actor, body) = (keys.place(record), folded(&record.actor), json(operation, record)?);
        let bytes = place.len() + actor.len() + body.len() + 80;
        let line = row([
            ("id", id(record.id.uuid()).into()),
            ("number", integer(lines.len() + 1)),
            ("place", place.into()),
            ("actor", actor.into()),
            ("body", body.into()),
        ]);
        lines.push((line, bytes));
    }
    Ok(lines)
}
