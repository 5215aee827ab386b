use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use domain::ErrorKind;
use domain::port::{DeadLetter, DeadLetterId, DeadLetters, Position, Result};
use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::{QueueBus, queue};
use crate::store::{Durability, Failure, Outcome, integer, natural};

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
            collected(statement.query((integer(after), integer(limit)))?)
        };
        self.queue.store.read("dead_letters.list", job).await
    }

    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let space = space.to_owned();
        let job = move |db: &Connection| {
            let of_space = format!("{SELECT} WHERE d.space = ?1 AND d.id > ?2 ORDER BY d.id LIMIT ?3");
            let mut statement = db.prepare_cached(&of_space)?;
            collected(statement.query((space, integer(after), integer(limit)))?)
        };
        self.queue.store.read("dead_letters.of_space", job).await
    }

    async fn count(&self) -> Result<u64> {
        let job = |db: &Connection| {
            let count = db.query_row("SELECT count(*) FROM dead_letters", [], |row| row.get(0))?;
            Ok(natural(count))
        };
        self.queue.store.read("dead_letters.count", job).await
    }

    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()> {
        let payload = payload.to_vec();
        let job = move |db: &Connection| {
            let amend = "UPDATE dead_letters SET payload = ?2 WHERE id = ?1";
            match db.execute(amend, (integer(id), payload))? {
                0 => Err(unknown(id)),
                _ => Ok(()),
            }
        };
        self.queue.store.erase("dead_letters.amend", job).await
    }

    async fn replay(&self, id: DeadLetterId) -> Result<()> {
        let queue = Arc::clone(&self.queue);
        let then = move |it: &Replayed| {
            if let Some(lane) = queue.lane(&it.subject, &it.group) {
                lane.add(it.position, &it.space);
            }
        };
        let job = move |db: &Connection| replay(db, id);
        self.queue
            .store
            .write_then("dead_letters.replay", Durability::Power, job, then)
            .await
            .map(drop)
    }

    async fn discard(&self, id: DeadLetterId) -> Result<()> {
        let job = move |db: &Connection| {
            queue::free_key(db, id)?;
            discard(db, id)
        };
        self.queue.store.erase("dead_letters.discard", job).await
    }
}

fn replay(db: &Connection, id: DeadLetterId) -> Outcome<Replayed> {
    let key = [integer(id)];
    let found = db.query_row(&format!("{SELECT} WHERE d.id = ?1"), key, |row| {
        Ok(Replayed {
            subject: row.get(1)?,
            group: row.get(2)?,
            space: row.get(3)?,
            position: natural(row.get(4)?),
        })
    });
    let replayed = found.optional()?.ok_or_else(|| unknown(id))?;
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
    discard(db, id)?;
    Ok(replayed)
}

fn discard(db: &Connection, id: DeadLetterId) -> Outcome<()> {
    match db.execute("DELETE FROM dead_letters WHERE id = ?1", [integer(id)])? {
        0 => Err(unknown(id)),
        _ => Ok(()),
    }
}

fn unknown(id: DeadLetterId) -> Failure {
    Failure::Refused(ErrorKind::NotFound, format!("there is no dead letter {id}"))
}

fn collected(mut rows: Rows<'_>) -> Outcome<Vec<DeadLetter>> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(dead_letter(row)?);
    }
    Ok(found)
}

fn dead_letter(row: &Row<'_>) -> Outcome<DeadLetter> {
    let at = DateTime::from_timestamp_millis(row.get(7)?).ok_or_else(|| Failure::body("a time is out of range"))?;
    let payload = row.get_ref(8)?.as_blob().map_err(Failure::body)?;
    Ok(DeadLetter {
        id: natural(row.get(0)?),
        subject: row.get(1)?,
        group: row.get(2)?,
        space: row.get(3)?,
        position: Position(natural(row.get(4)?)),
        reason: row.get(5)?,
        attempts: row.get(6)?,
        at,
        payload: String::from_utf8_lossy(payload).into_owned(),
    })
}
