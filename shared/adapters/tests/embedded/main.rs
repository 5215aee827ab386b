//! Guarantees that only the embedded adapters give: one process per directory, clear errors, limits, copies.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

mod block_file_failures;
mod block_files;
mod blocks;
mod digests;
mod erased;
mod files;
mod images;
mod pace;
mod restore;
mod space_erasure;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::{Embedded, OpenError, Options, UpkeepError, check_file, write_backup};
use chrono::DateTime;
use domain::id::{SpaceId, UnitId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Frame, Point, Position, Search};
use domain::{Classify, ErrorKind, PortError};
use futures::StreamExt;
use rusqlite::Connection;
use uuid::Uuid;

fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

fn file(dir: &Path) -> PathBuf {
    dir.join("mnemic.sqlite")
}

fn frame(payload: impl Into<Vec<u8>>) -> Frame {
    Frame {
        subject: "s".to_owned(),
        space: "a".to_owned(),
        payload: payload.into(),
        ..Frame::default()
    }
}

async fn open(dir: &Path) -> Embedded {
    Embedded::open(dir, Options::default()).await.unwrap()
}

async fn refusal(dir: &Path) -> OpenError {
    Embedded::open(dir, Options::default()).await.map(drop).unwrap_err()
}

fn check_error(error: &PortError, kind: ErrorKind, words: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.detail().contains(words), "{error}");
}

/// Creates a space with `points` points on the axes, all observed at time 0.
async fn fill(it: &Embedded, name: &str, points: usize) {
    it.records
        .create_space(&space(name), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    let point = |number: usize| {
        let mut dense = vec![0.0; it.embedder.dimension()];
        dense[number % it.embedder.dimension()] = 1.0;
        let unit = UnitId::from_uuid(Uuid::from_u128(number as u128));
        Point {
            unit,
            part: 0,
            dense,
            words: vec![(number as u32, 1.0)],
            pieces: Vec::new(),
            observed_at: 0,
        }
    };
    it.index
        .put(&space(name), &(0..points).map(point).collect::<Vec<_>>(), &[])
        .await
        .unwrap();
}

#[tokio::test]
async fn a_second_process_is_refused_until_the_first_has_closed() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).await;
    let error = refusal(dir.path()).await;
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(
        error.to_string().contains("in use by another mnemic process"),
        "{error}"
    );
    let port = first.records.clone();
    drop(first);
    assert!(
        matches!(refusal(dir.path()).await, OpenError::Locked { .. }),
        "a port is still held"
    );
    drop(port);
    open(dir.path()).await;
}

#[tokio::test]
async fn files_of_other_programs_newer_versions_and_other_models_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).await);
    let database = Connection::open(file(dir.path())).unwrap();
    let own: i32 = database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    database.pragma_update(None, "user_version", own + 7).unwrap();
    let error = refusal(dir.path()).await;
    assert!(
        matches!(error, OpenError::Newer { found, known, .. } if found == known + 7)
            && error.kind() == ErrorKind::Conflict,
        "{error}"
    );
    database.pragma_update(None, "user_version", own).unwrap();

    database
        .execute("UPDATE meta SET value = 'another/1' WHERE key = 'model'", [])
        .unwrap();
    fill(&open(dir.path()).await, "a", 1).await;
    database
        .execute("UPDATE meta SET value = 'another/1' WHERE key = 'model'", [])
        .unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, OpenError::OtherModel { .. }), "{error}");

    let other = tempfile::tempdir().unwrap();
    Connection::open(file(other.path()))
        .unwrap()
        .execute("CREATE TABLE t (x)", [])
        .unwrap();
    assert!(matches!(refusal(other.path()).await, OpenError::Foreign { .. }));
}

#[tokio::test]
async fn errors_about_damage_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    fill(&open(dir.path()).await, "a", 1_000).await;
    assert_eq!(check_file(dir.path()).unwrap(), Vec::<String>::new());
    let copy = dir.path().join("copy");
    write_backup(dir.path(), &copy).unwrap();

    let database = fs::File::options().write(true).open(file(dir.path())).unwrap();
    let length = database.metadata().unwrap().len();
    // The later half of the points: opening succeeds, reading fails.
    for page in 100..length / 4_096 {
        database.write_all_at(&[0xAB; 4_096], page * 4_096).unwrap();
    }
    let it = open(dir.path()).await;
    let search = Search {
        words: Some(vec![(1, 1.0)]),
        limit: 1,
        ..Search::default()
    };
    let error = it.index.search(&space("a"), &search).await.unwrap_err();
    check_error(
        &error,
        ErrorKind::Damaged,
        "mnemic.sqlite is damaged: run `mnemic doctor`",
    );
    check_error(&error, ErrorKind::Damaged, "`mnemic backup`");
    drop(it);
    assert!(!check_file(dir.path()).unwrap().is_empty());

    database.write_all_at(b"not a database, surely", 0).unwrap();
    let error = refusal(dir.path()).await;
    assert!(
        matches!(error, OpenError::Damaged { .. }) && error.kind() == ErrorKind::Damaged,
        "{error}"
    );
    assert!(!check_file(dir.path()).unwrap().is_empty());

    fs::copy(&copy, file(dir.path())).unwrap();
    let it = open(dir.path()).await;
    assert_eq!(
        it.index.search(&space("a"), &search).await.unwrap().words.len(),
        1,
        "restored"
    );
}

#[tokio::test]
async fn a_copy_is_made_while_the_service_runs() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 3).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let target = file(elsewhere.path());
    write_backup(dir.path(), &target).unwrap();
    assert!(matches!(
        write_backup(dir.path(), &target),
        Err(UpkeepError::Exists { .. })
    ));
    assert!(matches!(
        check_file(&dir.path().join("nowhere")),
        Err(UpkeepError::Missing { .. })
    ));
    fill(&it, "b", 3).await;
    assert_eq!(check_file(dir.path()).unwrap(), Vec::<String>::new());
    let copy = open(elsewhere.path()).await;
    assert_eq!(copy.index.count(&space("a")).await.unwrap(), 3);
    assert_eq!(
        copy.records.space(&space("b")).await.unwrap(),
        None,
        "made after the copy"
    );
}

/// A full disk refuses what does not fit and acknowledges none of it, and keeps everything that was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        file_bytes_max: Some(1 << 20),
        ..Options::default()
    };
    let it = Embedded::open(dir.path(), options).await.unwrap();
    let payload = |number: u64| format!("{number} {}", "x".repeat(20_000));
    let publish = |number| {
        let bus = it.bus.clone();
        async move { (number, bus.publish(frame(payload(number))).await) }
    };
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    for (number, result) in futures::future::join_all((0..90).map(publish)).await {
        match result {
            Ok(position) => acknowledged.push((position, payload(number))),
            Err(error) => refused.push(error),
        }
    }
    assert!(
        !refused.is_empty() && !acknowledged.is_empty(),
        "{} {}",
        refused.len(),
        acknowledged.len()
    );
    for error in &refused {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    drop(it);

    let it = open(dir.path()).await;
    assert_eq!(it.bus.backlog("s", "g").await.unwrap(), acknowledged.len() as u64);
    acknowledged.sort();
    let mut deliveries = it.bus.subscribe("s", "g").await.unwrap();
    for (position, payload) in acknowledged {
        let delivery = deliveries.next().await.unwrap().unwrap();
        assert_eq!(
            (delivery.position, delivery.frame.payload),
            (position, payload.into_bytes())
        );
    }
}

#[tokio::test]
async fn a_message_that_is_published_twice_is_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let keyed = |key: &str| Frame {
        dedup_key: key.to_owned(),
        ..frame("x")
    };
    let first = it.bus.publish(keyed("one")).await.unwrap();
    assert_eq!(it.bus.publish(keyed("one")).await.unwrap(), first);
    assert_eq!(it.bus.backlog("s", "g").await.unwrap(), 1);
    assert_ne!(it.bus.publish(keyed("two")).await.unwrap(), first);
    assert_eq!(it.bus.backlog("s", "g").await.unwrap(), 2);
}

#[tokio::test]
async fn a_full_queue_refuses_records_until_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        queue_frames_max: 3,
        ..Options::default()
    };
    let it = Embedded::open(dir.path(), options).await.unwrap();
    let mut deliveries = it.bus.subscribe(RecordsAcceptedV1::SUBJECT, "g").await.unwrap();
    let accepted = |payload: Vec<u8>| Frame {
        subject: RecordsAcceptedV1::SUBJECT.to_owned(),
        ..frame(payload)
    };
    let room = async |subject: &str| it.bus.check_room(subject).await.map_err(|error| error.kind());
    for number in 0..3 {
        assert_eq!(room(RecordsAcceptedV1::SUBJECT).await, Ok(()));
        it.bus.publish(accepted(vec![number])).await.unwrap();
    }
    check_error(
        &it.bus.publish(accepted(vec![4])).await.unwrap_err(),
        ErrorKind::Exhausted,
        "3 messages",
    );
    assert_eq!(room(RecordsAcceptedV1::SUBJECT).await, Err(ErrorKind::Exhausted));
    assert_eq!(room("s").await, Ok(()));
    deliveries
        .next()
        .await
        .unwrap()
        .unwrap()
        .settler
        .dead_letter("kept, so it counts")
        .await
        .unwrap();
    assert_eq!(
        it.bus.publish(accepted(vec![4])).await.unwrap_err().kind(),
        ErrorKind::Exhausted
    );
    deliveries.next().await.unwrap().unwrap().settler.done().await.unwrap();
    assert_eq!(room(RecordsAcceptedV1::SUBJECT).await, Ok(()));
    it.bus.publish(accepted(vec![4])).await.unwrap();
    it.bus.publish(frame("what follows has room")).await.unwrap();
}

/// Jobs of one group commit are independent: a failed job does not affect the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_job_does_not_affect_its_group() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    it.records
        .create_space(&space("a"), DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    let mark = |number: u64| {
        let records = it.records.clone();
        let name = space(if number.is_multiple_of(2) { "a" } else { "unknown" });
        async move { records.mark_written(&name, Position(number)).await }
    };
    let results = futures::future::join_all((1..=200).map(mark)).await;
    for (number, result) in (1..=200).zip(results) {
        let even = u64::is_multiple_of(number, 2);
        assert_eq!(result.is_ok(), even, "{number}");
        assert_eq!(
            it.records.is_written(&space("a"), Position(number)).await.unwrap(),
            even,
            "{number}"
        );
    }
}

/// If a caller stops waiting after its write was accepted, the message is still delivered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_delivered_even_if_its_publisher_stops_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    let mut deliveries = it.bus.subscribe("s", "g").await.unwrap();
    drop(futures::poll!(it.bus.publish(frame("1"))));
    let delivery = tokio::time::timeout(Duration::from_secs(60), deliveries.next()).await;
    assert_eq!(delivery.unwrap().unwrap().unwrap().frame.payload, b"1");
}

/// Spaces that are evicted from memory are loaded again from the file, with everything that was put meanwhile.
#[tokio::test]
async fn evicted_spaces_are_loaded_again() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        index_bytes_max: 1,
        ..Options::default()
    };
    let it = Embedded::open(dir.path(), options).await.unwrap();
    let names = ["a", "b", "c"];
    for round in 1..4_usize {
        for name in names {
            fill(&it, name, round * 10).await;
        }
        for name in names {
            let words = Some((0..round as u32 * 10).map(|term| (term, 1.0)).collect());
            let search = Search {
                words,
                limit: 100,
                ..Search::default()
            };
            let found = it.index.search(&space(name), &search).await.unwrap();
            assert_eq!(found.words.len(), round * 10, "{name}");
        }
    }
}

/// A limit below the minimum size of the file is refused; it is not read as "no limit".
#[tokio::test]
async fn a_limit_smaller_than_any_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in [1, 4_095] {
        let options = Options {
            file_bytes_max: Some(bytes),
            ..Options::default()
        };
        let error = Embedded::open(dir.path(), options).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{bytes}");
        assert!(error.to_string().contains("file_bytes_max"), "{error}");
    }
}
