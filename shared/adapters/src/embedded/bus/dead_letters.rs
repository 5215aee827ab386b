use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use domain::ErrorKind;
use domain::port::{DeadLetter, DeadLetterId, DeadLetters, Position, Result};
use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::{QueueBus, queue};
use crate::embedded::store::{Durability, Failure, Outcome, from_sql_integer, to_sql_integer};

const SELECT: &str = "SELECT d.id, d.subject, g.name, d.space, d.position, d.reason, d.attempts, d.at, d.payload
    FROM dead_letters d JOIN consumer_groups g ON g.row = d.consumer_group";

/// The destination of a replayed message.
struct Replayed {
    subject: String,
    group: String,
    space: String,
    position: u64,
}

#[async_trait]
impl DeadLetters for QueueBus {
    async fn list(&self, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let job = move |db: &Connection| {
            let mut statement = db.prepare_cached(&format!("{SELECT} WHERE d.id > ?1 ORDER BY d.id LIMIT ?2"))?;
            collect_dead_letters(statement.query((to_sql_integer(after), to_sql_integer(limit)))?)
        };
        self.queue.store.run_read("dead_letters.list", job).await
    }

    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let space = space.to_owned();
        let job = move |db: &Connection| {
            let of_space = format!("{SELECT} WHERE d.space = ?1 AND d.id > ?2 ORDER BY d.id LIMIT ?3");
            let mut statement = db.prepare_cached(&of_space)?;
            collect_dead_letters(statement.query((space, to_sql_integer(after), to_sql_integer(limit)))?)
        };
        self.queue.store.run_read("dead_letters.of_space", job).await
    }

    async fn count(&self) -> Result<u64> {
        let job = |db: &Connection| {
            let count = db.query_row("SELECT count(*) FROM dead_letters", [], |row| row.get(0))?;
            Ok(from_sql_integer(count))
        };
        self.queue.store.run_read("dead_letters.count", job).await
    }

    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()> {
        let payload = payload.to_vec();
        let job = move |db: &Connection| {
            let amend = "UPDATE dead_letters SET payload = ?2 WHERE id = ?1";
            match db.execute(amend, (to_sql_integer(id), payload))? {
                0 => Err(not_found_failure(id)),
                _ => Ok(()),
            }
        };
        self.queue.store.run_erasure("dead_letters.amend", job).await
    }

    async fn replay(&self, id: DeadLetterId) -> Result<()> {
        let queue = Arc::clone(&self.queue);
        let then = move |it: &Replayed| {
            if let Some(lane) = queue.find_lane(&it.subject, &it.group) {
                lane.add_ready_message(it.position, &it.space);
            }
        };
        let job = move |db: &Connection| replay_dead_letter(db, id);
        self.queue
            .store
            .write_then("dead_letters.replay", Durability::Power, job, then)
            .await
            .map(drop)
    }

    async fn discard(&self, id: DeadLetterId) -> Result<()> {
        let job = move |db: &Connection| {
            queue::free_key(db, id)?;
            delete_dead_letter(db, id)
        };
        self.queue.store.run_erasure("dead_letters.discard", job).await
    }
}

fn replay_dead_letter(db: &Connection, id: DeadLetterId) -> Outcome<Replayed> {
    let key = [to_sql_integer(id)];
    let found = db.query_row(&format!("{SELECT} WHERE d.id = ?1"), key, |row| {
        Ok(Replayed {
            subject: row.get(1)?,
            group: row.get(2)?,
            space: row.get(3)?,
            position: from_sql_integer(row.get(4)?),
        })
    });
    let replayed = found.optional()?.ok_or_else(|| not_found_failure(id))?;
    db.execute(
        "INSERT OR IGNORE INTO messages (position, subject, space, dedup_key, headers, payload)
         SELECT position, subject, space, dedup_key, headers, payload FROM dead_letters WHERE id = ?1",
        key,
    )?;
    db.execute(
        "INSERT OR REPLACE INTO pending (consumer_group, position, space)
         SELECT consumer_group, position, space FROM dead_letters WHERE id = ?1",
        key,
    )?;
    delete_dead_letter(db, id)?;
    Ok(replayed)
}

fn delete_dead_letter(db: &Connection, id: DeadLetterId) -> Outcome<()> {
    match db.execute("DELETE FROM dead_letters WHERE id = ?1", [to_sql_integer(id)])? {
        0 => Err(not_found_failure(id)),
        _ => Ok(()),
    }
}

fn not_found_failure(id: DeadLetterId) -> Failure {
    Failure::Refused(ErrorKind::NotFound, format!("there is no dead letter {id}"))
}

fn collect_dead_letters(mut rows: Rows<'_>) -> Outcome<Vec<DeadLetter>> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(dead_letter(row)?);
    }
    Ok(found)
}

fn dead_letter(row: &Row<'_>) -> Outcome<DeadLetter> {
    let at = DateTime::from_timestamp_millis(row.get(7)?)
        .ok_or_else(|| Failure::unreadable_body("a time is out of range"))?;
    let payload = row.get_ref(8)?.as_blob().map_err(Failure::unreadable_body)?;
    Ok(DeadLetter {
        id: from_sql_integer(row.get(0)?),
        subject: row.get(1)?,
        group: row.get(2)?,
        space: row.get(3)?,
        position: Position(from_sql_integer(row.get(4)?)),
        reason: row.get(5)?,
        attempts: row.get(6)?,
        at,
        payload: String::from_utf8_lossy(payload).into_owned(),
    })
}
