//! The tables of the queue, with the fan-out of each message to the consumer groups of its subject.

use std::time::Duration;

use domain::ErrorKind;
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Frame, Position};
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::time::Instant;

use super::lane::Lane;
use crate::embedded::store::{Failure, Outcome, from_sql_integer, to_sql_integer};
use crate::process::clock;
use crate::store_rules::space_deliveries::deliveries_of_space_max;

/// Limits of the stored deduplication keys: number of keys, and age in seconds.
const KEYS_MAX: i64 = 1_000_000;
const KEY_SECONDS: i64 = 7 * 24 * 3_600;
/// Maximum number of keys deleted when one is added. It is more than one, so that their number can also shrink.
const KEYS_AT_ONCE: i64 = 2;
/// Longest time for which a message that waits for a retry stays hidden after a restart. The services use no delay that
/// is longer. Without this limit, a clock that is set back would hide the message for that much longer.
const RETRY_MAX: Duration = Duration::from_secs(120);
/// Maximum length of the reason of a dead letter, in characters.
const REASON_MAX: usize = 2_000;

/// The position of a published frame, and whether this publish stored it.
pub(super) struct PublishedFrame {
    pub(super) position: u64,
    pub(super) fresh: bool,
}

/// Stores a frame for every known group of its subject. The size limit applies only to messages from outside. Messages
/// that follow from others must always find room, otherwise a full queue could never be emptied; there are at most two
/// for each message from outside.
pub(super) fn publish_frame(db: &Connection, frame: &Frame, frames_max: u64) -> Outcome<PublishedFrame> {
    if let Some(position) = first_of_key(db, frame)? {
        return Ok(PublishedFrame { position, fresh: false });
    }
    check_room(db, &frame.subject, frames_max)?;
    let headers = serde_json::to_vec(&frame.headers).map_err(|error| Failure::invalid(error.to_string()))?;
    let mut insert = db.prepare_cached(
        "INSERT INTO messages (subject, space, dedup_key, headers, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let position = insert.insert(params![
        frame.subject,
        frame.space,
        frame.dedup_key,
        headers,
        frame.payload
    ])?;
    let mut fan_out = db.prepare_cached(
        "INSERT INTO pending (consumer_group, position, space) SELECT row, ?1, ?2 FROM consumer_groups WHERE subject = ?3",
    )?;
    fan_out.execute(params![position, frame.space, frame.subject])?;
    if !frame.dedup_key.is_empty() {
        keep_key(db, frame, position)?;
    }
    Ok(PublishedFrame {
        position: from_sql_integer(position),
        fresh: true,
    })
}

/// Fails with `Exhausted` if the queue cannot store another message of a subject.
pub(super) fn check_room(db: &Connection, subject: &str, frames_max: u64) -> Outcome<()> {
    if subject != RecordsAcceptedV1::SUBJECT {
        return Ok(());
    }
    let frame_count: i64 = db
        .prepare_cached("SELECT kept FROM frames")?
        .query_row([], |row| row.get(0))?;
    if from_sql_integer(frame_count) < frames_max {
        return Ok(());
    }
    Err(Failure::Refused(
        ErrorKind::Exhausted,
        format!("the queue holds {frame_count} messages, its bound"),
    ))
}

/// Returns the lane of a group. A new group is registered and receives all stored messages.
pub(super) fn join_group(db: &Connection, subject: &str, group: &str) -> Outcome<Lane> {
    let added = db.execute(
        "INSERT INTO consumer_groups (subject, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        [subject, group],
    )?;
    let row = group_row(db, subject, group)?.ok_or_else(|| Failure::unreadable_body("a consumer group is missing"))?;
    if added > 0 {
        db.execute(
            "INSERT INTO pending (consumer_group, position, space) SELECT ?1, position, space FROM messages
             WHERE subject = ?2",
            params![row, subject],
        )?;
    }
    let (now, clock) = (Instant::now(), clock::now().timestamp_millis());
    let mut select = db.prepare("SELECT position, space, visible_at FROM pending WHERE consumer_group = ?1")?;
    let lines = select.query_map([row], |row| {
        let until = remaining_delay(row.get(2)?, clock).map(|it| now + it);
        Ok((from_sql_integer(row.get(0)?), row.get::<_, String>(1)?, until))
    })?;
    let pending = lines.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Lane::new(row, deliveries_of_space_max(subject), pending))
}

/// Returns how long a message stays hidden, at most [`RETRY_MAX`], or `None` if it is visible. Both times are in
/// milliseconds since 1970.
fn remaining_delay(visible_at: i64, now: i64) -> Option<Duration> {
    let millis = from_sql_integer(visible_at.saturating_sub(now));
    (millis > 0).then(|| Duration::from_millis(millis).min(RETRY_MAX))
}

/// Counts a delivery. Returns the frame and the number of attempts, or `None` if the group has settled the message.
pub(super) fn begin_delivery(db: &Connection, group: i64, position: u64) -> Outcome<Option<(Frame, u32)>> {
    let mut count = db.prepare_cached(
        "UPDATE pending SET attempts = attempts + 1 WHERE consumer_group = ?1 AND position = ?2 RETURNING attempts",
    )?;
    let attempts = count
        .query_row((group, to_sql_integer(position)), |row| row.get(0))
        .optional()?;
    let Some(attempts) = attempts else { return Ok(None) };
    let mut select =
        db.prepare_cached("SELECT subject, space, dedup_key, headers, payload FROM messages WHERE position = ?1")?;
    let mut rows = select.query([to_sql_integer(position)])?;
    match rows.next()? {
        Some(row) => Ok(Some((frame_from_row(row)?, attempts))),
        None => Ok(None),
    }
}

/// Settles a message for a group, and deletes it if no other group needs it.
pub(super) fn settle_message(db: &Connection, group: i64, position: u64) -> Outcome<()> {
    let position = to_sql_integer(position);
    let mut settle = db.prepare_cached("DELETE FROM pending WHERE consumer_group = ?1 AND position = ?2")?;
    settle.execute((group, position))?;
    let mut forget = db.prepare_cached(
        "DELETE FROM messages WHERE position = ?1 AND NOT EXISTS (SELECT 1 FROM pending WHERE position = ?1)",
    )?;
    forget.execute([position])?;
    Ok(())
}

/// Stores when the message may be redelivered to the group, so that a restart does not deliver it earlier.
pub(super) fn retry_after(db: &Connection, group: i64, position: u64, delay: Duration) -> Outcome<()> {
    let at = clock::now()
        .timestamp_millis()
        .saturating_add(to_sql_integer(delay.as_millis()));
    let mut update =
        db.prepare_cached("UPDATE pending SET visible_at = ?3 WHERE consumer_group = ?1 AND position = ?2")?;
    update.execute((group, to_sql_integer(position), at))?;
    Ok(())
}

/// Moves a message of a group to the dead letters and returns its id there, or `None` if the group has settled it.
pub(super) fn move_to_dead_letters(db: &Connection, group: i64, position: u64, reason: &str) -> Outcome<Option<u64>> {
    let reason: String = reason.chars().take(REASON_MAX).collect();
    let mut copy = db.prepare_cached(
        "INSERT INTO dead_letters
           (consumer_group, position, subject, space, dedup_key, headers, payload, reason, attempts, at)
         SELECT p.consumer_group, m.position, m.subject, m.space, m.dedup_key, m.headers, m.payload, ?3, p.attempts, ?4
         FROM pending p JOIN messages m ON m.position = p.position WHERE p.consumer_group = ?1 AND p.position = ?2",
    )?;
    let copied = copy.execute(params![
        group,
        to_sql_integer(position),
        reason,
        clock::now().timestamp_millis()
    ])?;
    let id = (copied > 0).then(|| from_sql_integer(db.last_insert_rowid()));
    settle_message(db, group, position)?;
    Ok(id)
}

/// Counts the messages that a group has not settled; an unknown group has settled none.
pub(super) fn count_backlog(db: &Connection, subject: &str, group: &str) -> Outcome<u64> {
    let count: i64 = match group_row(db, subject, group)? {
        Some(row) => db.query_row("SELECT count(*) FROM pending WHERE consumer_group = ?1", [row], |row| {
            row.get(0)
        })?,
        None => db.query_row("SELECT count(*) FROM messages WHERE subject = ?1", [subject], |row| {
            row.get(0)
        })?,
    };
    Ok(from_sql_integer(count))
}

/// Counts the stored messages of one space. A message is deleted when every group has settled it.
pub(super) fn backlog_of_space(db: &Connection, subject: &str, space: &str) -> Outcome<u64> {
    let mut count = db.prepare_cached("SELECT count(*) FROM messages WHERE space = ?1 AND subject = ?2")?;
    Ok(from_sql_integer(count.query_row([space, subject], |row| row.get(0))?))
}

/// Returns the positions of the stored messages of a subject and space. A message that every group has settled or given
/// up is no longer stored.
pub(super) fn unsettled_positions(db: &Connection, subject: &str, space: &str, limit: usize) -> Outcome<Vec<Position>> {
    let mut select = db
        .prepare_cached("SELECT position FROM messages WHERE space = ?1 AND subject = ?2 ORDER BY position LIMIT ?3")?;
    let positions = select.query_map(params![space, subject, to_sql_integer(limit)], |row| row.get(0))?;
    let positions: rusqlite::Result<Vec<i64>> = positions.collect();
    Ok(positions?
        .into_iter()
        .map(|it| Position(from_sql_integer(it)))
        .collect())
}

/// Deletes all data of a space, including deduplication keys: if the space is created again, it may publish the same
/// messages.
pub(super) fn erase_space(db: &Connection, space: &str) -> Outcome<()> {
    for table in ["pending", "messages", "dead_letters", "dedup_keys"] {
        db.execute(&format!("DELETE FROM {table} WHERE space = ?1"), [space])?;
    }
    Ok(())
}

/// Deletes the deduplication key of a dead letter, so that a discarded message may be published again.
pub(super) fn free_key(db: &Connection, letter: u64) -> Outcome<()> {
    let mut free = db.prepare_cached(
        "DELETE FROM dedup_keys WHERE (subject, key) = (SELECT subject, dedup_key FROM dead_letters WHERE id = ?1)",
    )?;
    free.execute([to_sql_integer(letter)])?;
    Ok(())
}

fn first_of_key(db: &Connection, frame: &Frame) -> Outcome<Option<u64>> {
    if frame.dedup_key.is_empty() {
        return Ok(None);
    }
    let mut select = db.prepare_cached("SELECT position FROM dedup_keys WHERE subject = ?1 AND key = ?2")?;
    let position = select
        .query_row((&frame.subject, &frame.dedup_key), |row| row.get(0))
        .optional()?;
    Ok(position.map(from_sql_integer))
}

fn keep_key(db: &Connection, frame: &Frame, position: i64) -> Outcome<()> {
    let now = clock::now().timestamp();
    let mut insert = db.prepare_cached("INSERT INTO dedup_keys VALUES (?1, ?2, ?3, ?4, ?5)")?;
    insert.execute(params![frame.subject, frame.dedup_key, position, frame.space, now])?;
    let mut forget = db.prepare_cached(
        "DELETE FROM dedup_keys WHERE position IN (SELECT position FROM dedup_keys ORDER BY position LIMIT ?1)
         AND (position <= ?2 OR at < ?3)",
    )?;
    forget.execute((KEYS_AT_ONCE, position - KEYS_MAX, now - KEY_SECONDS))?;
    Ok(())
}

fn group_row(db: &Connection, subject: &str, group: &str) -> Outcome<Option<i64>> {
    let mut select = db.prepare_cached("SELECT row FROM consumer_groups WHERE subject = ?1 AND name = ?2")?;
    Ok(select.query_row([subject, group], |row| row.get(0)).optional()?)
}

fn frame_from_row(row: &Row<'_>) -> Outcome<Frame> {
    let headers = row.get_ref(3)?.as_blob().map_err(Failure::unreadable_body)?;
    Ok(Frame {
        subject: row.get(0)?,
        space: row.get(1)?,
        dedup_key: row.get(2)?,
        headers: serde_json::from_slice(headers).map_err(Failure::unreadable_body)?,
        payload: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_hides_no_message_for_longer_than_a_retry() {
        let now = 1_772_366_400_000;
        for (visible_at, expected) in [
            (0, None),
            (now, None),
            (now + 1_500, Some(Duration::from_millis(1_500))),
            (now + 120_000, Some(RETRY_MAX)),
            (now + 365 * 24 * 3_600_000, Some(RETRY_MAX)),
            (i64::MAX, Some(RETRY_MAX)),
        ] {
            assert_eq!(remaining_delay(visible_at, now), expected, "{visible_at}");
        }
    }
}
