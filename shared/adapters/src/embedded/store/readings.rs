//! Readings as rows, and the queue of sessions that may have to be read.

mod session_queue;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
use domain::port::{ModelCost, Readings, Result, Usage};
use domain::reading::{Reading, ReadingTally, ReadingVersion, ScheduledSession};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};
use uuid::Uuid;

use super::{Durability, Failure, Outcome, Store, digest, from_sql_integer, known_space, space_row, to_sql_integer};
use crate::process::clock;
use crate::store_rules::times_ahead::{day_number, end_of_tally};
use session_queue::{LeaseTimes, find_due_sessions, lease_first_due, return_lease, time_from_millis};

/// Readings in the file.
pub(crate) struct StoredReadings(pub(crate) Arc<Store>);

#[async_trait]
impl Readings for StoredReadings {
    async fn put(&self, space: &SpaceId, readings: &[Reading]) -> Result<Vec<ReadingId>> {
        let (space, readings) = (space.clone(), readings.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let mut stored = Vec::with_capacity(readings.len());
            for reading in &readings {
                if has_all_records(db, row, reading)? {
                    put_reading(db, row, reading)?;
                    stored.push(reading.id);
                }
            }
            Ok(stored)
        };
        self.0.run_write("readings.put", Durability::Power, job).await
    }

    async fn get(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<Vec<Reading>> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut select = db.prepare_cached("SELECT body, digest FROM readings WHERE space = ?1 AND id = ?2")?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.extend(read_bodies(&mut select, params![row, id.uuid().as_bytes()])?);
            }
            Ok(found)
        };
        self.0.run_read("readings.get", job).await
    }

    async fn of_records(&self, space: &SpaceId, records: &[RecordId]) -> Result<Vec<Reading>> {
        let (space, records) = (space.clone(), records.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut select = db.prepare_cached(
                "SELECT body, digest FROM readings WHERE space = ?1
                   AND id IN (SELECT reading FROM read_records WHERE space = ?1 AND record = ?2)",
            )?;
            let mut found: Vec<Reading> = Vec::new();
            for record in records {
                found.extend(read_bodies(&mut select, params![row, record.uuid().as_bytes()])?);
            }
            found.sort_by_key(|it| it.id);
            found.dedup_by_key(|it| it.id);
            Ok(found)
        };
        self.0.run_read("readings.of_records", job).await
    }

    async fn of_session(&self, space: &SpaceId, session: SessionId) -> Result<Vec<Reading>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut select =
                db.prepare_cached("SELECT body, digest FROM readings WHERE space = ?1 AND session = ?2 ORDER BY id")?;
            read_bodies(&mut select, params![row, session.uuid().as_bytes()])
        };
        self.0.run_read("readings.of_session", job).await
    }

    async fn versions(&self, space: &SpaceId, session: SessionId) -> Result<Vec<ReadingVersion>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut select =
                db.prepare_cached("SELECT id, at FROM readings WHERE space = ?1 AND session = ?2 ORDER BY id")?;
            let version = |it: &Row<'_>| {
                Ok(ReadingVersion {
                    id: ReadingId::from_uuid(Uuid::from_bytes(it.get(0)?)),
                    at: time_from_millis(it.get(1)?),
                })
            };
            let found = select.query_map(params![row, session.uuid().as_bytes()], version)?;
            Ok(found.collect::<rusqlite::Result<Vec<ReadingVersion>>>()?)
        };
        self.0.run_read("readings.versions", job).await
    }

    async fn list(&self, space: &SpaceId, after: Option<ReadingId>, limit: usize) -> Result<Vec<Reading>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(Vec::new());
            };
            let mut select = db.prepare_cached(
                "SELECT body, digest FROM readings WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )?;
            // The empty blob sorts before every id.
            let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
            read_bodies(&mut select, params![row, after, to_sql_integer(limit)])
        };
        self.0.run_read("readings.list", job).await
    }

    async fn remove(&self, space: &SpaceId, ids: &[ReadingId]) -> Result<()> {
        let (space, ids) = (space.clone(), ids.to_vec());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(());
            };
            for id in ids {
                keep_cost(db, row, &id.uuid().into_bytes())?;
                remove_reading(db, row, &id.uuid().into_bytes())?;
            }
            Ok(())
        };
        self.0.run_erasure("readings.remove", job).await
    }

    async fn tally(&self, space: &SpaceId, since: Option<DateTime<Utc>>) -> Result<ReadingTally> {
        let space = space.clone();
        let end = end_of_tally(since);
        let since = since.map_or(i64::MIN, |it| it.timestamp_millis());
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(ReadingTally::default());
            };
            let mut select = db.prepare_cached(
                "SELECT count(*) - coalesce(sum(failed), 0), coalesce(sum(failed), 0), coalesce(sum(calls), 0),
                   coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), coalesce(sum(ms), 0.0)
                 FROM readings WHERE space = ?1 AND at >= ?2 AND at < ?3",
            )?;
            let mut tally = select.query_row((row, since, end), tally_from_row)?;
            let mut select = db.prepare_cached(
                "SELECT 0, 0, removed_calls, removed_prompt_tokens, removed_completion_tokens, removed_ms FROM spaces
                 WHERE row = ?1 AND removed_day * 86400000 >= ?2 AND removed_day * 86400000 < ?3",
            )?;
            let removed = select.query_row((row, since, end), tally_from_row).optional()?;
            tally.spent.add_cost(removed.unwrap_or_default().spent);
            Ok(tally)
        };
        self.0.run_read("readings.tally", job).await
    }

    async fn schedule_sessions(
        &self,
        space: &SpaceId,
        sessions: &[SessionId],
        at: DateTime<Utc>,
        due: DateTime<Utc>,
    ) -> Result<()> {
        let (space, sessions) = (space.clone(), sessions.to_vec());
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let mut upsert = db.prepare_cached(
                "INSERT INTO wanted_sessions VALUES (?1, ?2, ?3, ?4, 0)
                 ON CONFLICT DO UPDATE SET due = excluded.due, wanted = excluded.wanted",
            )?;
            for session in sessions {
                let times = (at.timestamp_millis(), due.timestamp_millis());
                upsert.execute(params![row, session.uuid().as_bytes(), times.1, times.0])?;
            }
            Ok(())
        };
        self.0.run_write("readings.want", Durability::Power, job).await
    }

    async fn lease_session(
        &self,
        now: DateTime<Utc>,
        lease: DateTime<Utc>,
        after: Option<&SpaceId>,
    ) -> Result<Option<ScheduledSession>> {
        let after = after.map_or_else(String::new, SpaceId::to_string);
        let times = LeaseTimes::new(now, lease);
        loop {
            let last = after.clone();
            let look = move |db: &Connection| find_due_sessions(db, times, &last);
            let Some(found) = self.0.run_read("readings.due", look).await? else {
                return Ok(None);
            };
            let job = move |db: &Connection| lease_first_due(db, times, &found);
            let leased = self.0.run_write("readings.take", Durability::Process, job).await?;
            // Without one, others have leased all that were found, and there may be more.
            if leased.is_some() {
                return Ok(leased);
            }
        }
    }

    async fn settle(&self, session: &ScheduledSession, next: Option<DateTime<Utc>>) -> Result<()> {
        let session = session.clone();
        let job = move |db: &Connection| match space_row(db, &session.space)? {
            Some(row) => return_lease(db, row, &session, next),
            None => Ok(()),
        };
        self.0.run_write("readings.settle", Durability::Process, job).await
    }

    async fn count_scheduled_sessions(&self, space: &SpaceId) -> Result<u64> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(0);
            };
            let mut select = db.prepare_cached("SELECT count(*) FROM wanted_sessions WHERE space = ?1")?;
            Ok(from_sql_integer(select.query_row([row], |it| it.get(0))?))
        };
        self.0.run_read("readings.wanted", job).await
    }
}

fn has_all_records(db: &Connection, space: i64, reading: &Reading) -> Outcome<bool> {
    let mut known = db.prepare_cached("SELECT 1 FROM records WHERE space = ?1 AND id = ?2")?;
    for record in reading.records_seen_by_model() {
        if !known.exists(params![space, record.uuid().as_bytes()])? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn put_reading(db: &Connection, space: i64, reading: &Reading) -> Outcome<()> {
    let id = reading.id.uuid().into_bytes();
    remove_reading(db, space, &id)?;
    let body = serde_json::to_vec(reading).map_err(|error| Failure::invalid(error.to_string()))?;
    let spent = reading.spent;
    let mut insert = db.prepare_cached("INSERT INTO readings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?;
    insert.execute(params![
        space,
        id,
        reading.session.uuid().as_bytes(),
        reading.at.timestamp_millis(),
        reading.failure.is_some(),
        spent.calls,
        spent.usage.prompt_tokens,
        spent.usage.completion_tokens,
        f64::from(spent.ms),
        body,
        digest::digest_of_body(&body)
    ])?;
    let mut shown = db.prepare_cached("INSERT INTO read_records VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    for record in reading.records_seen_by_model() {
        shown.execute(params![space, record.uuid().as_bytes(), id])?;
    }
    Ok(())
}

fn remove_reading(db: &Connection, space: i64, id: &[u8; 16]) -> Outcome<()> {
    let mut shown = db.prepare_cached("DELETE FROM read_records WHERE space = ?1 AND reading = ?2")?;
    shown.execute(params![space, id])?;
    let mut reading = db.prepare_cached("DELETE FROM readings WHERE space = ?1 AND id = ?2")?;
    reading.execute(params![space, id])?;
    Ok(())
}

/// Keeps the cost of a reading that is about to be deleted, for the budget of the day on which it was made. An earlier
/// day is forgotten, and so is a later one than today, which was set while the clock was ahead.
fn keep_cost(db: &Connection, space: i64, id: &[u8; 16]) -> Outcome<()> {
    let mut update = db.prepare_cached(
        "UPDATE spaces SET
           removed_calls = it.calls + iif(removed_day = it.day, removed_calls, 0),
           removed_prompt_tokens = it.prompt_tokens + iif(removed_day = it.day, removed_prompt_tokens, 0),
           removed_completion_tokens = it.completion_tokens + iif(removed_day = it.day, removed_completion_tokens, 0),
           removed_ms = it.ms + iif(removed_day = it.day, removed_ms, 0.0),
           removed_day = it.day
         FROM (SELECT at / 86400000 AS day, calls, prompt_tokens, completion_tokens, ms FROM readings
           WHERE space = ?1 AND id = ?2) AS it
         WHERE spaces.row = ?1 AND it.day <= ?3 AND (it.day >= removed_day OR removed_day > ?3)",
    )?;
    update.execute(params![space, id, day_number(clock::now())])?;
    Ok(())
}

/// Deletes the readings whose models saw one of `records`.
pub(super) fn remove_of_records(db: &Connection, space: i64, records: &[RecordId]) -> Outcome<()> {
    let mut select = db.prepare_cached("SELECT reading FROM read_records WHERE space = ?1 AND record = ?2")?;
    for record in records {
        let readings = select.query_map(params![space, record.uuid().as_bytes()], |it| it.get(0))?;
        for id in readings.collect::<rusqlite::Result<Vec<[u8; 16]>>>()? {
            keep_cost(db, space, &id)?;
            remove_reading(db, space, &id)?;
        }
    }
    Ok(())
}

fn tally_from_row(row: &Row<'_>) -> rusqlite::Result<ReadingTally> {
    let counts: [i64; 5] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
    let [done, failed, calls, prompt_tokens, completion_tokens] = counts.map(from_sql_integer);
    let bounded = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let ms: f64 = row.get(5)?;
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds need no more digits")]
    let ms = ms as f32;
    Ok(ReadingTally {
        done,
        failed,
        spent: ModelCost {
            calls: bounded(calls),
            usage: Usage {
                prompt_tokens: bounded(prompt_tokens),
                completion_tokens: bounded(completion_tokens),
            },
            ms,
        },
    })
}

fn read_bodies(statement: &mut CachedStatement<'_>, key: impl Params) -> Outcome<Vec<Reading>> {
    let mut rows = statement.query(key)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(digest::verified_value(row, 0)?);
    }
    Ok(found)
}
