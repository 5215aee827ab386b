//! The queue of sessions that may have to be read. Looking through it is left to the readers, so that a long queue does
//! not hold up the writer; a lease only touches the rows that were found.

use chrono::{DateTime, Utc};
use domain::id::{SessionId, SpaceId};
use domain::reading::ScheduledSession;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::super::{Failure, Outcome};
use crate::store_rules::times_ahead::{latest_due_time, latest_lease_end};

/// Maximum number of due sessions found in one look; other workers may lease the first ones meanwhile.
const CANDIDATES: i64 = 8;
/// Condition under which a session can be leased. Its parameters are the time of the request and the latest times of
/// [`LeaseTimes`]. A time that lies further ahead than any may was stored while the clock was ahead, and has come.
const IS_DUE: &str = "(due <= ?1 OR due > ?2) AND (leased <= ?1 OR leased > ?3)";

/// The times of one request for a session, in milliseconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct LeaseTimes {
    now: i64,
    lease: i64,
    latest_due: i64,
    latest_lease: i64,
}

/// Due sessions of one space, the one that was due first at the front.
pub(super) struct DueSessions {
    space: SpaceId,
    row: i64,
    sessions: Vec<[u8; 16]>,
}

impl LeaseTimes {
    /// Returns the times of a request at `now` for a lease until `lease`.
    pub(super) fn new(now: DateTime<Utc>, lease: DateTime<Utc>) -> LeaseTimes {
        LeaseTimes {
            now: now.timestamp_millis(),
            lease: lease.timestamp_millis(),
            latest_due: latest_due_time(now),
            latest_lease: latest_lease_end(now, lease),
        }
    }
}

/// Returns due sessions of the next space after `after` that has any, by name and in a circle; `None` if no session is
/// due.
pub(super) fn find_due_sessions(db: &Connection, times: LeaseTimes, after: &str) -> Outcome<Option<DueSessions>> {
    let mut found = None;
    for side in ["name >", "name <="] {
        let text = format!(
            "SELECT row, name FROM spaces WHERE {side} ?4
               AND EXISTS (SELECT 1 FROM wanted_sessions WHERE space = spaces.row AND {IS_DUE})
             ORDER BY name LIMIT 1"
        );
        let mut select = db.prepare_cached(&text)?;
        let own = params![times.now, times.latest_due, times.latest_lease, after];
        let line = select.query_row(own, |it| Ok((it.get::<_, i64>(0)?, it.get::<_, String>(1)?)));
        found = line.optional()?;
        if found.is_some() {
            break;
        }
    }
    let Some((row, name)) = found else {
        return Ok(None);
    };
    let text =
        format!("SELECT session FROM wanted_sessions WHERE space = ?4 AND {IS_DUE} ORDER BY due, session LIMIT ?5");
    let mut select = db.prepare_cached(&text)?;
    let own = params![times.now, times.latest_due, times.latest_lease, row, CANDIDATES];
    let sessions = select.query_map(own, |it| it.get(0))?;
    Ok(Some(DueSessions {
        space: name.parse().map_err(Failure::unreadable_body)?,
        row,
        sessions: sessions.collect::<rusqlite::Result<Vec<[u8; 16]>>>()?,
    }))
}

/// Leases the first of some sessions that is still due; `None` if all were leased or removed, or their space was deleted,
/// meanwhile.
pub(super) fn lease_first_due(
    db: &Connection,
    times: LeaseTimes,
    found: &DueSessions,
) -> Outcome<Option<ScheduledSession>> {
    let text = format!(
        "UPDATE wanted_sessions SET leased = ?4 WHERE space = ?5 AND session = ?6 AND {IS_DUE}
           AND EXISTS (SELECT 1 FROM spaces WHERE row = ?5)
         RETURNING due, wanted"
    );
    let mut lease = db.prepare_cached(&text)?;
    for session in &found.sessions {
        let own = params![
            times.now,
            times.latest_due,
            times.latest_lease,
            times.lease,
            found.row,
            session
        ];
        let line = lease.query_row(own, |it| Ok((it.get::<_, i64>(0)?, it.get::<_, i64>(1)?)));
        if let Some((due, wanted)) = line.optional()? {
            return Ok(Some(ScheduledSession {
                space: found.space.clone(),
                session: SessionId::from_uuid(Uuid::from_bytes(*session)),
                due: time_from_millis(due),
                wanted_at: time_from_millis(wanted),
                leased_until: time_from_millis(times.lease),
            }));
        }
    }
    Ok(None)
}

/// Ends the lease of a session that the caller still holds. The session is due at `next`, or leaves the queue without
/// it; if it was scheduled again during the lease, that schedule stays.
pub(super) fn return_lease(
    db: &Connection,
    space: i64,
    it: &ScheduledSession,
    next: Option<DateTime<Utc>>,
) -> Outcome<()> {
    let session = it.session.uuid().into_bytes();
    let (due, wanted_at) = (it.due.timestamp_millis(), it.wanted_at.timestamp_millis());
    let leased = it.leased_until.timestamp_millis();
    let own = "WHERE space = ?1 AND session = ?2 AND leased = ?3";
    let since = format!("UPDATE wanted_sessions SET leased = 0 {own} AND (due <> ?4 OR wanted <> ?5)");
    let mut wanted = db.prepare_cached(&since)?;
    if wanted.execute(params![space, session, leased, due, wanted_at])? > 0 {
        return Ok(());
    }
    match next {
        Some(next) => {
            let text = format!("UPDATE wanted_sessions SET leased = 0, due = ?4 {own}");
            let mut later = db.prepare_cached(&text)?;
            later.execute(params![space, session, leased, next.timestamp_millis()])?;
        }
        None => {
            let mut done = db.prepare_cached(&format!("DELETE FROM wanted_sessions {own}"))?;
            done.execute(params![space, session, leased])?;
        }
    }
    Ok(())
}

/// Returns the time of a number of milliseconds since 1970.
pub(super) fn time_from_millis(milliseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(milliseconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use chrono::TimeDelta;
    use domain::id::{SessionId, SpaceId};
    use domain::port::{Readings, Records};
    use rusqlite::Connection;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::super::super::{Durability, Store, StoredRecords, space_erasure};
    use super::super::StoredReadings;
    use super::{LeaseTimes, find_due_sessions, lease_first_due};
    use crate::Options;
    use crate::process::clock;

    /// Every worker looks each second, and mostly nothing is due.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_look_at_a_queue_without_due_sessions_does_not_wait_for_the_writer() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), "model", &Options::default()).unwrap());
        let (begin, begun) = oneshot::channel::<()>();
        let (end, ended) = mpsc::channel::<()>();
        let writer = Arc::clone(&store);
        let busy = tokio::spawn(async move {
            let job = move |_: &Connection| {
                begin.send(()).ok();
                ended.recv().ok();
                Ok(())
            };
            writer.run_write("test", Durability::Process, job).await
        });
        begun.await.unwrap();
        let readings = StoredReadings(store);
        let now = clock::now();
        let look = readings.lease_session(now, now + TimeDelta::minutes(30), None);
        let leased = timeout(Duration::from_secs(60), look).await;
        assert_eq!(leased.expect("the look ends while the writer is busy").unwrap(), None);
        end.send(()).unwrap();
        busy.await.unwrap().unwrap();
    }

    /// The rows of a deleted space remain until they are erased, and a worker may have found them before.
    #[tokio::test]
    async fn no_session_of_a_deleted_space_is_leased() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), "model", &Options::default()).unwrap());
        let (space, now): (SpaceId, _) = ("a".parse().unwrap(), clock::now());
        let records = StoredRecords(Arc::clone(&store));
        records.create_space(&space, now).await.unwrap();
        let sessions = ["one", "two"].map(|it| SessionId::from_name(&space, it));
        let readings = StoredReadings(Arc::clone(&store));
        readings.schedule_sessions(&space, &sessions, now, now).await.unwrap();
        let times = LeaseTimes::new(now, now + TimeDelta::minutes(30));
        let look = move |db: &Connection| find_due_sessions(db, times, "");
        let found = Arc::new(store.run_read("test", look).await.unwrap().unwrap());
        let lease = async || {
            let found = Arc::clone(&found);
            let job = move |db: &Connection| lease_first_due(db, times, &found);
            store.run_write("test", Durability::Process, job).await.unwrap()
        };
        assert!(lease().await.is_some(), "the space exists");
        let row = found.row;
        let hide = move |db: &Connection| space_erasure::hide_space(db, row);
        store.run_write("test", Durability::Process, hide).await.unwrap();
        assert_eq!(lease().await, None);
    }
}
