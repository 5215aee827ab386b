//! Readings as nodes, connected to the records that their models saw; and the queue of sessions that may have to be
//! read.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::id::{InvalidSpace, ReadingId, RecordId, SessionId, SpaceId};
use domain::port::{ModelCost, Readings, Result, Usage};
use domain::reading::{Reading, ReadingTally, ReadingVersion, ScheduledSession};
use neo4rs::{BoltType, Row};

use crate::process::clock;
use crate::servers::neo4j::client::{
    Client, locked, parameter_row, query_for_space, read_body, read_column, read_natural, readings_removed, seen,
    split_into_parts, to_bolt_integer, to_json,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::{id_of, id_to_hex, key_range_of_namespace, record_ids_to_hex};
use crate::servers::neo4j::space_nodes::graph;
use crate::store_rules::times_ahead::{day_number, end_of_tally, latest_due_time, latest_lease_end};

/// Number of due sessions that one call tries to lease, because other processes may lease the first ones meanwhile.
const CANDIDATES: i64 = 8;

const PUT: &str = locked!(
    "CALL () {
       UNWIND $rows AS row
       CALL (row) { UNWIND row.shown AS record MATCH (r:Record {key: $prefix + record}) RETURN count(r) AS known }
       WITH row WHERE known = size(row.shown)
       MERGE (x:Reading {key: $prefix + row.id})
       SET x.space = $space, x.session = row.session, x.at = row.at, x.failed = row.failed, x.calls = row.calls,
         x.prompt_tokens = row.prompt_tokens, x.completion_tokens = row.completion_tokens, x.ms = row.ms,
         x.body = row.body
       WITH row, x
       CALL (x) { MATCH (x)-[former:SHOWN]->() DELETE former }
       CALL (row, x) { UNWIND row.shown AS record MATCH (r:Record {key: $prefix + record}) MERGE (x)-[:SHOWN]->(r) }
       RETURN collect(row.id) AS ids
     }
     RETURN ids"
);
const GET: &str = seen!("UNWIND $ids AS id MATCH (x:Reading {key: $prefix + id}) RETURN x.key AS key, x.body AS body");
const OF_RECORDS: &str = seen!(
    "UNWIND $ids AS id MATCH (:Record {key: $prefix + id})<-[:SHOWN]-(x:Reading)
     WITH DISTINCT x RETURN x.body AS body ORDER BY x.key"
);
const OF_SESSION: &str =
    seen!("MATCH (x:Reading) WHERE x.space = $space AND x.session = $session RETURN x.body AS body ORDER BY x.key");
const VERSIONS: &str = seen!(
    "MATCH (x:Reading) WHERE x.space = $space AND x.session = $session RETURN x.key AS key, x.at AS at ORDER BY x.key"
);
const LIST: &str = seen!(
    "CALL () {
       MATCH (x:Reading) WHERE x.key > $prefix + $after AND x.key < $until
       RETURN x.key AS key, x.body AS body ORDER BY key LIMIT $limit
     }
     RETURN body ORDER BY key"
);
const REMOVE: &str = locked!(concat!(
    "CALL (s) { UNWIND $ids AS id MATCH (x:Reading {key: $prefix + id}) ",
    readings_removed!(),
    " }
     RETURN 1 AS known"
));
const TALLY: &str = seen!(
    "CALL () {
       MATCH (x:Reading) WHERE x.space = $space AND x.at >= $since AND x.at < $end
       RETURN count(*) AS readings, sum(CASE WHEN x.failed THEN 1 ELSE 0 END) AS failed, sum(x.calls) AS calls,
         sum(x.prompt_tokens) AS prompt_tokens, sum(x.completion_tokens) AS completion_tokens, toFloat(sum(x.ms)) AS ms
     }
     WITH *, s.removed_day * 86400000 AS removed_at
     WITH *, CASE WHEN removed_at >= $since AND removed_at < $end THEN 1 ELSE 0 END AS removed
     RETURN readings, failed, calls + removed * coalesce(s.removed_calls, 0) AS calls,
       prompt_tokens + removed * coalesce(s.removed_prompt_tokens, 0) AS prompt_tokens,
       completion_tokens + removed * coalesce(s.removed_completion_tokens, 0) AS completion_tokens,
       ms + removed * coalesce(s.removed_ms, 0.0) AS ms"
);
const WANT: &str = locked!(
    "CALL () {
       UNWIND $ids AS id MERGE (w:Wanted {key: $prefix + id})
       ON CREATE SET w.space = $space, w.leased = 0
       SET w.due = $due, w.wanted = $wanted
     }
     RETURN 1 AS known"
);
/// A time that lies further ahead than any may was stored while a clock was ahead, and has come.
const DUE: &str = "MATCH (w:Wanted) WHERE (w.due <= $now OR w.due > $latest_due)
      AND (w.leased <= $now OR w.leased > $latest_lease) AND w.key > $from AND w.key < $until
    RETURN w.key AS key ORDER BY CASE WHEN w.space > $after THEN 0 ELSE 1 END, w.space, w.due, w.key LIMIT $limit";
const TAKE: &str = locked!(
    "MATCH (w:Wanted {key: $prefix + $session}) WHERE (w.due <= $now OR w.due > $latest_due)
       AND (w.leased <= $now OR w.leased > $latest_lease)
     SET w.leased = $lease RETURN w.due AS due, w.wanted AS wanted"
);
const SETTLE: &str = locked!(
    "MATCH (w:Wanted {key: $prefix + $session}) WHERE w.leased = $leased
     WITH w, w.due = $due AND w.wanted = $wanted AS same
     SET w.leased = 0
     FOREACH (_ IN CASE WHEN same AND $next IS NOT NULL THEN [1] ELSE [] END | SET w.due = $next)
     FOREACH (_ IN CASE WHEN same AND $next IS NULL THEN [1] ELSE [] END | DELETE w)"
);
const WANTED: &str = seen!("MATCH (w:Wanted) WHERE w.key > $prefix AND w.key < $until RETURN count(w) AS count");

/// Readings as nodes.
pub(crate) struct NodeReadings(pub(crate) Arc<Client>);

#[async_trait]
impl Readings for NodeReadings {
    async fn put(&self, space: &SpaceId, readings: &[Reading]) -> Result<Vec<ReadingId>> {
        const OPERATION: &str = "readings.put";
        let keys = self.0.keys_of_space(space);
        let lines: Result<Vec<(BoltType, usize)>> = readings.iter().map(|it| reading_row(OPERATION, it)).collect();
        let mut stored = Vec::new();
        for rows in split_into_parts(lines?) {
            let query = query_for_space(&keys, PUT).param("rows", BoltType::from_iter(rows));
            let row = self.0.write_known(OPERATION, space, query).await?;
            for id in read_column::<Vec<String>>(OPERATION, &row, "ids")? {
                let id = id_of(&id).map_err(|error| damaged_error(OPERATION, error))?;
                stored.push(ReadingId::from_uuid(id));
            }
        }
        Ok(stored)
    }

    async fn get(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<Vec<Reading>> {
        let ids: Vec<_> = ids.iter().map(|it| it.uuid()).collect();
        graph::by_id(&self.0, "readings.get", space, GET, &ids).await
    }

    async fn of_records(&self, space: &SpaceId, records: &[RecordId]) -> Result<Vec<Reading>> {
        let query = query_for_space(&self.0.keys_of_space(space), OF_RECORDS).param("ids", record_ids_to_hex(records));
        self.read_bodies("readings.of_records", query).await
    }

    async fn of_session(&self, space: &SpaceId, session: SessionId) -> Result<Vec<Reading>> {
        let query =
            query_for_space(&self.0.keys_of_space(space), OF_SESSION).param("session", id_to_hex(session.uuid()));
        self.read_bodies("readings.of_session", query).await
    }

    async fn versions(&self, space: &SpaceId, session: SessionId) -> Result<Vec<ReadingVersion>> {
        const OPERATION: &str = "readings.versions";
        let query = query_for_space(&self.0.keys_of_space(space), VERSIONS).param("session", id_to_hex(session.uuid()));
        let rows = self.0.run_read(OPERATION, query).await?;
        let version = |row: &Row| {
            let key: String = read_column(OPERATION, row, "key")?;
            let id = id_of(&key).map_err(|error| damaged_error(OPERATION, error))?;
            Ok(ReadingVersion {
                id: ReadingId::from_uuid(id),
                at: read_time(OPERATION, row, "at")?,
            })
        };
        rows.iter().map(version).collect()
    }

    async fn list(&self, space: &SpaceId, after: Option<ReadingId>, limit: usize) -> Result<Vec<Reading>> {
        let keys = self.0.keys_of_space(space);
        let query = query_for_space(&keys, LIST)
            .param("after", after.map(|it| id_to_hex(it.uuid())).unwrap_or_default())
            .param("until", keys.key_range_end())
            .param("limit", to_bolt_integer(limit));
        self.read_bodies("readings.list", query).await
    }

    async fn remove(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<()> {
        let ids: Vec<String> = ids.iter().map(|it| id_to_hex(it.uuid())).collect();
        let query = query_for_space(&self.0.keys_of_space(space), REMOVE)
            .param("ids", ids)
            .param("today", day_number(clock::now()));
        self.0.run_write("readings.remove", query).await.map(drop)
    }

    async fn tally(&self, space: &SpaceId, since: Option<DateTime<Utc>>) -> Result<ReadingTally> {
        const OPERATION: &str = "readings.tally";
        let query = query_for_space(&self.0.keys_of_space(space), TALLY)
            .param("since", since.map_or(i64::MIN, |it| it.timestamp_millis()))
            .param("end", end_of_tally(since));
        let rows = self.0.run_read(OPERATION, query).await?;
        let Some(row) = rows.first() else {
            return Ok(ReadingTally::default());
        };
        let number = |name: &str| read_natural(OPERATION, row, name);
        let bounded = |name: &str| number(name).map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let failed = number("failed")?;
        Ok(ReadingTally {
            done: number("readings")?.saturating_sub(failed),
            failed,
            spent: ModelCost {
                calls: bounded("calls")?,
                usage: Usage {
                    prompt_tokens: bounded("prompt_tokens")?,
                    completion_tokens: bounded("completion_tokens")?,
                },
                ms: read_column(OPERATION, row, "ms")?,
            },
        })
    }

    async fn schedule_sessions(
        &self,
        space: &SpaceId,
        sessions: &[SessionId],
        at: DateTime<Utc>,
        due: DateTime<Utc>,
    ) -> Result<()> {
        let ids: Vec<String> = sessions.iter().map(|it| id_to_hex(it.uuid())).collect();
        let query = query_for_space(&self.0.keys_of_space(space), WANT)
            .param("ids", ids)
            .param("wanted", at.timestamp_millis())
            .param("due", due.timestamp_millis());
        self.0.write_known("readings.want", space, query).await.map(drop)
    }

    async fn lease_session(
        &self,
        now: DateTime<Utc>,
        lease: DateTime<Utc>,
        after: Option<&SpaceId>,
    ) -> Result<Option<ScheduledSession>> {
        const OPERATION: &str = "readings.take";
        let (from, until) = key_range_of_namespace(&self.0.namespace);
        let after = after.map(|it| self.0.keys_of_space(it).space_key().to_owned());
        let query = neo4rs::query(DUE)
            .param("now", now.timestamp_millis())
            .param("latest_due", latest_due_time(now))
            .param("latest_lease", latest_lease_end(now, lease))
            .param("from", from)
            .param("until", until)
            .param("after", after.unwrap_or_default())
            .param("limit", CANDIDATES);
        for row in self.0.run_read(OPERATION, query).await? {
            let key: String = read_column(OPERATION, &row, "key")?;
            if let Some(taken) = self.take_one(&key, now, lease).await? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    }

    async fn settle(&self, session: &ScheduledSession, next: Option<DateTime<Utc>>) -> Result<()> {
        let query = query_for_space(&self.0.keys_of_space(&session.space), SETTLE)
            .param("session", id_to_hex(session.session.uuid()))
            .param("leased", session.leased_until.timestamp_millis())
            .param("due", session.due.timestamp_millis())
            .param("wanted", session.wanted_at.timestamp_millis())
            .param("next", next.map(|it| it.timestamp_millis()));
        self.0.run_write("readings.settle", query).await.map(drop)
    }

    async fn count_scheduled_sessions(&self, space: &SpaceId) -> Result<u64> {
        const OPERATION: &str = "readings.wanted";
        let keys = self.0.keys_of_space(space);
        let query = query_for_space(&keys, WANTED).param("until", keys.key_range_end());
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.first().map_or(Ok(0), |it| read_natural(OPERATION, it, "count"))
    }
}

impl NodeReadings {
    async fn read_bodies(&self, operation: &'static str, query: neo4rs::Query) -> Result<Vec<Reading>> {
        let rows = self.0.run_read(operation, query).await?;
        rows.iter().map(|it| read_body(operation, it)).collect()
    }

    /// Leases the session of a key. Returns `None` if another process leased it meanwhile or its space is being erased.
    async fn take_one(&self, key: &str, now: DateTime<Utc>, lease: DateTime<Utc>) -> Result<Option<ScheduledSession>> {
        const OPERATION: &str = "readings.take";
        let session = id_of(key).map_err(|error| damaged_error(OPERATION, error))?;
        let name = key.rsplit('/').nth(1).unwrap_or_default();
        let space: SpaceId = name
            .parse()
            .map_err(|error: InvalidSpace| damaged_error(OPERATION, error))?;
        let query = query_for_space(&self.0.keys_of_space(&space), TAKE)
            .param("session", id_to_hex(session))
            .param("now", now.timestamp_millis())
            .param("latest_due", latest_due_time(now))
            .param("latest_lease", latest_lease_end(now, lease))
            .param("lease", lease.timestamp_millis());
        let rows = self.0.run_write(OPERATION, query).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some(ScheduledSession {
            space,
            session: SessionId::from_uuid(session),
            due: read_time(OPERATION, row, "due")?,
            wanted_at: read_time(OPERATION, row, "wanted")?,
            leased_until: DateTime::from_timestamp_millis(lease.timestamp_millis()).unwrap_or_default(),
        }))
    }
}

fn reading_row(operation: &'static str, it: &Reading) -> Result<(BoltType, usize)> {
    let body = to_json(operation, it)?;
    let shown: BTreeSet<RecordId> = it.records_seen_by_model().collect();
    let shown: Vec<RecordId> = shown.into_iter().collect();
    let bytes = body.len() + 40 * shown.len() + 200;
    let row = parameter_row([
        ("id", id_to_hex(it.id.uuid()).into()),
        ("session", id_to_hex(it.session.uuid()).into()),
        ("at", it.at.timestamp_millis().into()),
        ("failed", it.failure.is_some().into()),
        ("calls", to_bolt_integer(it.spent.calls)),
        ("prompt_tokens", to_bolt_integer(it.spent.usage.prompt_tokens)),
        ("completion_tokens", to_bolt_integer(it.spent.usage.completion_tokens)),
        ("ms", f64::from(it.spent.ms).into()),
        ("shown", record_ids_to_hex(&shown).into()),
        ("body", body.into()),
    ]);
    Ok((row, bytes))
}

fn read_time(operation: &'static str, row: &Row, name: &str) -> Result<DateTime<Utc>> {
    let milliseconds: i64 = read_column(operation, row, name)?;
    Ok(DateTime::from_timestamp_millis(milliseconds).unwrap_or_default())
}
