mod record_rows;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::id::{CurationId, RecordId, SessionId, SpaceId};
use domain::port::{
    Claim, Hold, Idempotent, KeyClaim, Position, Records, Result, Revision, Room, Selection, SpaceInfo,
    UnfinishedErasure,
};
use domain::recall::Note;
use domain::record::Record;
use domain::{ErrorKind, PortError};
use neo4rs::{BoltType, Row};

use crate::process::clock;
use crate::servers::neo4j::client::row_values::read_digest;
use crate::servers::neo4j::client::{
    Client, locked, parameter_row, query_for_space, read_body, read_column, read_natural, readings_removed, seen,
    split_into_parts, to_bolt_integer,
};
use crate::servers::neo4j::erasure;
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::installation_nodes::{idempotency, secrets};
use crate::servers::neo4j::node_keys::{id_of, id_to_hex, key_of_name};
use crate::servers::neo4j::space_nodes::{curations, graph, listing, notes};
use crate::store_rules::creation_times::creation_time;
use crate::store_rules::space_names;
use crate::store_rules::times_ahead::day_number;
use record_rows::record_rows;

/// `$at` depends on the creation time of a deleted space whose erasure is unfinished; `$deleted` is that time as far as
/// the caller knows it. If the caller is not up to date, nothing is created. The time is read after the node was
/// created, because the new node locks the name: no other space of the name can be created and deleted meanwhile.
const CREATE: &str = "MERGE (s:Space {key: $space})
    ON CREATE SET s.made = true, s.created_at = $at, s.records = 0, s.listed = 0, s.units = 0, s.changes = 0,
      s.derived_changes = 0, s.curated = 0, s.written = 0
    WITH s, s.made IS NOT NULL AS made, s.erasing IS NOT NULL AS erasing
    REMOVE s.made
    WITH s, made, erasing
    OPTIONAL MATCH (e:Erasure {key: $space})
    WITH s, made, erasing, e.created_at AS deleted
    WITH s, made, erasing, deleted, made AND deleted IS NOT NULL AND deleted <> $deleted AS outdated
    FOREACH (_ IN CASE WHEN outdated THEN [1] ELSE [] END | DELETE s)
    RETURN made, erasing, deleted, outdated";
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
const ERASE: &str = locked!(concat!(
    "CALL () { UNWIND $ids AS id MATCH (c:Claim {key: $prefix + id}) DELETE c }
     CALL (s) { UNWIND $ids AS id MATCH (:Record {key: $prefix + id})<-[:SHOWN]-(x:Reading) ",
    readings_removed!(),
    " }
     CALL () { UNWIND $ids AS id MATCH (r:Record {key: $prefix + id}) DETACH DELETE r RETURN count(*) AS gone }
     SET s.records = s.records - gone
     RETURN gone"
));
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
pub(crate) struct NodeRecords(pub(crate) Arc<Client>);

#[async_trait]
impl Records for NodeRecords {
    async fn create_space(&self, space: &SpaceId, at: DateTime<Utc>) -> Result<bool> {
        const OPERATION: &str = "records.create_space";
        let keys = self.0.keys_of_space(space);
        let (mut created_at, mut deleted) = (at, String::new());
        loop {
            let query = query_for_space(&keys, CREATE)
                .param("at", created_at.to_rfc3339())
                .param("deleted", deleted.as_str());
            let row = self.0.write_known(OPERATION, space, query).await?;
            if read_column(OPERATION, &row, "erasing")? {
                erasure::continue_erasure(&self.0, OPERATION, &keys).await?;
            } else if read_column(OPERATION, &row, "outdated")? {
                deleted = read_column(OPERATION, &row, "deleted")?;
                created_at = creation_time(at, Some(time_from_row(OPERATION, &row, "deleted")?));
            } else {
                return read_column(OPERATION, &row, "made");
            }
        }
    }

    async fn space(&self, space: &SpaceId) -> Result<Option<SpaceInfo>> {
        const OPERATION: &str = "records.space";
        let rows = self
            .0
            .run_read(OPERATION, query_for_space(&self.0.keys_of_space(space), INFO))
            .await?;
        rows.first().map(|it| info_from_row(OPERATION, it)).transpose()
    }

    async fn spaces_under(&self, prefix: &str, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceInfo>> {
        const OPERATION: &str = "records.spaces_under";
        let (from, until) = space_names::range_with_prefix(prefix, after);
        let query = neo4rs::query(INFOS)
            .param("from", key_of_name(&self.0.namespace, &from))
            .param("until", key_of_name(&self.0.namespace, &until))
            .param("limit", to_bolt_integer(limit));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| info_from_row(OPERATION, it)).collect()
    }

    async fn delete_space(&self, space: &SpaceId) -> Result<bool> {
        erasure::erase_space(&self.0, "records.delete_space", &self.0.keys_of_space(space)).await
    }

    async fn unfinished_erasures(&self, space: Option<&SpaceId>, limit: usize) -> Result<Vec<UnfinishedErasure>> {
        erasure::unfinished_erasures(&self.0, "records.unfinished_erasures", space, limit).await
    }

    async fn finish_erasure(&self, erasure: &UnfinishedErasure) -> Result<()> {
        erasure::finish_erasure(&self.0, "records.finish_erasure", erasure).await
    }

    async fn claim(&self, space: &SpaceId, claims: &[(RecordId, [u8; 32])]) -> Result<Vec<Claim>> {
        const OPERATION: &str = "records.claim";
        // The first claim of an id counts; later claims of the id in the same call are compared with it.
        let mut first: HashMap<RecordId, [u8; 32]> = HashMap::with_capacity(claims.len());
        let mut rows = Vec::with_capacity(claims.len());
        for (record, digest) in claims {
            first.entry(*record).or_insert_with(|| {
                rows.push(parameter_row([
                    ("id", id_to_hex(record.uuid()).into()),
                    ("digest", digest[..].into()),
                ]));
                *digest
            });
        }
        let known = self.claim_ids(OPERATION, space, rows).await?;
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
        let hex_ids: Vec<String> = ids.iter().map(|it| id_to_hex(it.uuid())).collect();
        let query = query_for_space(&self.0.keys_of_space(space), CLAIMED).param("ids", hex_ids);
        let found = self.0.run_read(OPERATION, query).await?;
        let found: Result<BTreeSet<String>> = found.iter().map(|row| read_column(OPERATION, row, "id")).collect();
        let found = found?;
        Ok(ids
            .iter()
            .copied()
            .filter(|it| found.contains(&id_to_hex(it.uuid())))
            .collect())
    }

    async fn hold_idempotency_key(&self, space: &SpaceId, key: &str, hold: &Hold) -> Result<KeyClaim> {
        idempotency::hold_key(&self.0, "records.hold", space, key, hold).await
    }

    async fn release(&self, space: &SpaceId, key: &str, hold: &Hold, bound: bool) -> Result<()> {
        idempotency::release_hold(&self.0, "records.release", space, key, hold, bound).await
    }

    async fn stored_response(&self, space: &SpaceId, key: &str) -> Result<Option<Idempotent>> {
        idempotency::remembered_response(&self.0, "records.remembered", space, key).await
    }

    async fn store_response(&self, space: &SpaceId, key: &str, outcome: &Idempotent, at: DateTime<Utc>) -> Result<()> {
        idempotency::remember_response(&self.0, "records.remember", space, key, outcome, at).await
    }

    async fn secret(&self, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
        secrets::get_or_store_secret(&self.0, "records.secret", name, fresh).await
    }

    async fn put(&self, space: &SpaceId, records: &[Record]) -> Result<()> {
        const OPERATION: &str = "records.put";
        let keys = self.0.keys_of_space(space);
        for rows in split_into_parts(record_rows(OPERATION, &keys, space, records)?) {
            let query = query_for_space(&keys, PUT)
                .param("steps", to_bolt_integer(records.len()))
                .param("rows", BoltType::from_iter(rows));
            self.0.write_known(OPERATION, space, query).await?;
        }
        Ok(())
    }

    async fn erase(&self, space: &SpaceId, ids: &[RecordId]) -> Result<()> {
        // Responses are deleted first: if the erasure stops halfway, the records are still there for the next attempt.
        idempotency::forget_records(&self.0, "records.erase", space, ids).await?;
        let ids: BTreeSet<String> = ids.iter().map(|it| id_to_hex(it.uuid())).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        let query = query_for_space(&self.0.keys_of_space(space), ERASE)
            .param("ids", ids)
            .param("today", day_number(clock::now()));
        self.0.run_write("records.erase", query).await.map(drop)
    }

    async fn get(&self, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<Record>> {
        let ids: Vec<_> = ids.iter().map(|it| it.uuid()).collect();
        graph::by_id(&self.0, "records.get", space, GET, &ids).await
    }

    async fn select(
        &self,
        space: &SpaceId,
        selection: &Selection,
        after: u64,
        room: Room,
    ) -> Result<(Vec<Record>, Option<u64>)> {
        listing::select_items(&self.0, "records.select", space, selection, after, room).await
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
        let keys = self.0.keys_of_space(space);
        let (from, until) = keys.session_range(session);
        let query = query_for_space(&keys, SESSION)
            .param("around", id_to_hex(around.uuid()))
            .param("from", from)
            .param("until", until)
            .param("before", to_bolt_integer(before))
            .param("after", to_bolt_integer(after));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| read_body(OPERATION, it)).collect()
    }

    async fn mark_written(&self, space: &SpaceId, position: Position) -> Result<()> {
        let query = query_for_space(&self.0.keys_of_space(space), MARK)
            .param("position", position.0.to_string())
            .param("number", to_bolt_integer(position.0));
        self.0.write_known("records.mark_written", space, query).await.map(drop)
    }

    async fn is_written(&self, space: &SpaceId, position: Position) -> Result<bool> {
        let query = query_for_space(&self.0.keys_of_space(space), MARKED).param("position", position.0.to_string());
        Ok(!self.0.run_read("records.is_written", query).await?.is_empty())
    }

    async fn put_curations(&self, space: &SpaceId, position: Position, curations: &[Curation]) -> Result<()> {
        curations::put_curations(&self.0, "records.put_curations", space, position, curations).await
    }

    async fn redact_curations(&self, space: &SpaceId, ids: &[CurationId]) -> Result<()> {
        curations::redact_curations(&self.0, "records.redact_curations", space, ids).await
    }

    async fn position_of_curation(&self, space: &SpaceId, id: CurationId) -> Result<Option<Position>> {
        curations::position_of_curation(&self.0, "records.brought_by", space, id).await
    }

    async fn curations(&self, space: &SpaceId, after: Option<CurationId>, limit: usize) -> Result<Vec<Curation>> {
        curations::list_curations(&self.0, "records.curations", space, after, limit).await
    }

    async fn note(&self, space: &SpaceId, scope: &str, notes: &[Note], most: usize) -> Result<()> {
        notes::put_notes(&self.0, space, scope, notes).await?;
        notes::trim_notes(&self.0, space, scope, most).await
    }

    async fn notes(&self, space: &SpaceId, scope: &str) -> Result<Vec<Note>> {
        notes::list_notes(&self.0, "records.notes", space, scope).await
    }

    async fn forget_notes(&self, space: &SpaceId, scope: &str) -> Result<()> {
        notes::forget_notes(&self.0, "records.forget_notes", space, scope).await
    }
}

impl NodeRecords {
    /// Claims ids, each once. Returns the digests of the ids that were claimed before.
    async fn claim_ids(
        &self,
        operation: &'static str,
        space: &SpaceId,
        rows: Vec<BoltType>,
    ) -> Result<HashMap<RecordId, [u8; 32]>> {
        let keys = self.0.keys_of_space(space);
        if rows.is_empty() {
            self.0
                .write_known(operation, space, query_for_space(&keys, KNOWN))
                .await?;
            return Ok(HashMap::new());
        }
        let query = query_for_space(&keys, CLAIM).param("rows", BoltType::from_iter(rows));
        let found = self.0.run_write(operation, query).await?;
        if found.is_empty() {
            let detail = format!("there is no space {space}");
            return Err(PortError::new(operation, ErrorKind::NotFound, detail));
        }
        let mut known = HashMap::new();
        for row in &found {
            if row
                .get::<Option<&[u8]>>("digest")
                .map_err(|error| damaged_error(operation, error))?
                .is_some()
            {
                let record: String = read_column(operation, row, "id")?;
                let record = id_of(&record).map_err(|error| damaged_error(operation, error))?;
                known.insert(RecordId::from_uuid(record), read_digest(operation, row, "digest")?);
            }
        }
        Ok(known)
    }
}

fn time_from_row(operation: &'static str, row: &Row, name: &str) -> Result<DateTime<Utc>> {
    let time: String = read_column(operation, row, name)?;
    time.parse()
        .map_err(|error: chrono::ParseError| damaged_error(operation, error))
}

fn info_from_row(operation: &'static str, row: &Row) -> Result<SpaceInfo> {
    let key: String = read_column(operation, row, "key")?;
    let name = key.rsplit('/').next().unwrap_or_default();
    Ok(SpaceInfo {
        space: name
            .parse()
            .map_err(|error: domain::id::InvalidSpace| damaged_error(operation, error))?,
        created_at: time_from_row(operation, row, "created_at")?,
        records: read_natural(operation, row, "records")?,
        units: read_natural(operation, row, "units")?,
        written: Position(read_natural(operation, row, "written")?),
        revision: Revision {
            units: read_natural(operation, row, "changes")?,
            derived: read_natural(operation, row, "derived")?,
            curations: read_natural(operation, row, "curated")?,
        },
    })
}
