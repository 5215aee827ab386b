//! A deleted space disappears at once. Its rows are erased in steps, between which the writer runs other jobs.

use std::fs;
use std::path::Path;
use std::task::Poll;

use adapters::{Embedded, OpenError};
use chrono::{DateTime, Utc};
use domain::erasure::Erased;
use domain::id::RecordId;
use domain::port::{Position, Search, UnfinishedErasure};
use rusqlite::Connection;

use super::erased::holds;
use super::{file, fill, open, refusal, space};

/// Number of points of a space whose erasure takes at least five steps.
const POINTS: u64 = 5_000;
/// The digest of a claim in the space `a`.
const SECRET: [u8; 32] = [7; 32];

/// The state of the stores after a step of an erasure, and a job that ran after it.
struct Progress {
    /// Number of points of the space in the file.
    points: u64,
    /// Size of the write-ahead log.
    log_bytes: u64,
}

/// Creates the space `a` with this many points and a claim, and an empty space `b`.
async fn fill_spaces(it: &Embedded, points: u64) {
    fill(it, "a", usize::try_from(points).unwrap()).await;
    fill(it, "b", 0).await;
    let claim = (RecordId::from_external_id(&space("a"), "1"), SECRET);
    it.records.claim(&space("a"), &[claim]).await.unwrap();
}

/// Returns the number of points that the file holds of the space `a` that was created at this time.
async fn count_points(it: &Embedded, created_at: DateTime<Utc>) -> u64 {
    let erased = Erased::Space { created_at };
    let counts = it.receipts.count_remaining_data(&space("a"), &erased).await;
    counts.unwrap()["points"]
}

/// Deletes the space `a`, but stops after this number of jobs. Between two jobs of the deletion, the writer runs a job
/// in the space `b`: it runs its jobs in the order in which they are submitted.
async fn delete_step_by_step(it: &Embedded, dir: &Path, jobs_max: u64) -> Vec<Progress> {
    let (a, b) = (space("a"), space("b"));
    let mut deletion = it.records.delete_space(&a);
    let mut progress = Vec::new();
    for number in 1..=jobs_max {
        if let Poll::Ready(deleted) = futures::poll!(&mut deletion) {
            assert!(deleted.unwrap());
            break;
        }
        it.records.mark_written(&b, Position(number)).await.unwrap();
        assert_eq!(it.records.space(&a).await.unwrap(), None, "job {number}");
        progress.push(Progress {
            points: count_points(it, DateTime::UNIX_EPOCH).await,
            log_bytes: fs::metadata(dir.join("mnemic.sqlite-wal")).unwrap().len(),
        });
    }
    progress
}

/// Returns the unfinished erasures of the space `a`.
async fn unfinished(it: &Embedded) -> Vec<UnfinishedErasure> {
    it.records.unfinished_erasures(Some(&space("a")), 9).await.unwrap()
}

#[tokio::test]
async fn other_jobs_run_between_the_steps_of_a_deletion() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill_spaces(&it, POINTS).await;
    let progress = delete_step_by_step(&it, dir.path(), 1_000).await;
    let mut points: Vec<u64> = progress.iter().map(|it| it.points).collect();
    points.dedup();
    // Usually six; fewer if the writer answers while a job is being submitted.
    assert!(points.len() >= 4 && points.is_sorted_by(|a, b| a > b), "{points:?}");
    assert_eq!(points.last(), Some(&0));
}

#[tokio::test]
async fn the_log_does_not_grow_with_the_size_of_a_deleted_space() {
    const MANY: u64 = 60_000;
    const LOG_BYTES_MAX: u64 = 20 << 20;
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill_spaces(&it, MANY).await;
    let progress = delete_step_by_step(&it, dir.path(), 10_000).await;
    assert!(
        fs::metadata(file(dir.path())).unwrap().len() > LOG_BYTES_MAX * 3 / 2,
        "the space is larger"
    );
    // The log still holds the points until the space is gone.
    let in_steps = progress.iter().filter(|it| it.points < MANY);
    let log_bytes = in_steps.map(|it| it.log_bytes).max().unwrap();
    assert!(log_bytes < LOG_BYTES_MAX, "{log_bytes}");
}

#[tokio::test]
async fn an_interrupted_deletion_is_finished_after_the_next_start() {
    // Before the first step, and between two steps.
    for jobs in [1, 4] {
        let dir = tempfile::tempdir().unwrap();
        let it = open(dir.path()).await;
        fill_spaces(&it, POINTS).await;
        let progress = delete_step_by_step(&it, dir.path(), jobs).await;
        let points = progress.last().unwrap().points;
        assert!(points > 0 && (points < POINTS || jobs == 1), "{points}");
        drop(it);
        assert!(holds(dir.path(), &SECRET));

        let it = open(dir.path()).await;
        assert_eq!(it.records.space(&space("a")).await.unwrap(), None);
        assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, points);
        let erasures = unfinished(&it).await;
        assert_eq!(erasures.len(), 1);
        it.records.finish_erasure(&erasures[0]).await.unwrap();
        assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, 0);
        assert_eq!(unfinished(&it).await, []);
        drop(it);
        assert!(!holds(dir.path(), &SECRET));
    }
}

#[tokio::test]
async fn a_new_space_of_the_name_sees_nothing_of_the_one_that_is_being_erased() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill_spaces(&it, POINTS).await;
    let a = space("a");
    it.records.mark_written(&a, Position(3)).await.unwrap();
    let find = async || {
        let search = Search {
            words: Some((0..9).map(|term| (term, 1.0)).collect()),
            limit: 100,
            ..Search::default()
        };
        it.index.search(&a, &search).await.unwrap().words.len()
    };
    assert_eq!(find().await, 9);

    let mut deletion = it.records.delete_space(&a);
    assert!(futures::poll!(&mut deletion).is_pending());
    assert!(it.records.create_space(&a, DateTime::UNIX_EPOCH).await.unwrap());
    let created_at = it.records.space(&a).await.unwrap().unwrap().created_at;
    assert!(!it.records.is_written(&a, Position(3)).await.unwrap());
    assert_eq!((it.index.count(&a).await.unwrap(), find().await), (0, 0));
    assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, POINTS);
    assert_eq!(count_points(&it, created_at).await, 0);

    fill(&it, "a", 4).await;
    assert!(deletion.await.unwrap());
    assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, 0);
    assert_eq!(count_points(&it, created_at).await, 4);
    assert_eq!((it.index.count(&a).await.unwrap(), find().await), (4, 4));
}

#[tokio::test]
async fn interrupted_deletions_of_two_spaces_with_one_name_are_finished_together() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill_spaces(&it, POINTS).await;
    delete_step_by_step(&it, dir.path(), 2).await;
    fill_spaces(&it, POINTS).await;
    let later = it.records.space(&space("a")).await.unwrap().unwrap().created_at;
    delete_step_by_step(&it, dir.path(), 2).await;
    let erasures = unfinished(&it).await;
    let times: Vec<DateTime<Utc>> = erasures.iter().map(|it| it.created_at).collect();
    assert_eq!(times, [later]);
    for created_at in [DateTime::UNIX_EPOCH, later] {
        assert!(count_points(&it, created_at).await > 0, "{created_at}");
    }

    it.records.finish_erasure(&erasures[0]).await.unwrap();
    for created_at in [DateTime::UNIX_EPOCH, later] {
        assert_eq!(count_points(&it, created_at).await, 0, "{created_at}");
    }
    assert_eq!(unfinished(&it).await, []);
}

#[tokio::test]
async fn an_erasure_is_not_finished_while_a_step_fails() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill_spaces(&it, 3).await;
    let change = |text| Connection::open(file(dir.path())).unwrap().execute_batch(text).unwrap();
    change("CREATE TRIGGER refused BEFORE DELETE ON points BEGIN SELECT RAISE(ABORT, 'refused'); END");
    it.records.delete_space(&space("a")).await.unwrap_err();
    assert_eq!(it.records.space(&space("a")).await.unwrap(), None);
    let erasures = unfinished(&it).await;
    it.records.finish_erasure(&erasures[0]).await.unwrap_err();
    assert_eq!(unfinished(&it).await, erasures);
    assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, 3);

    change("DROP TRIGGER refused");
    it.records.finish_erasure(&erasures[0]).await.unwrap();
    assert_eq!(unfinished(&it).await, []);
    assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, 0);
}

#[tokio::test]
async fn points_of_a_deleted_space_do_not_prevent_the_use_of_another_model() {
    let dir = tempfile::tempdir().unwrap();
    let name_another_model = || {
        let database = Connection::open(file(dir.path())).unwrap();
        let change = "UPDATE meta SET value = 'another/1' WHERE key = 'model'";
        assert_eq!(database.execute(change, []).unwrap(), 1);
    };
    let it = open(dir.path()).await;
    fill_spaces(&it, 3).await;
    delete_step_by_step(&it, dir.path(), 1).await;
    assert_eq!(count_points(&it, DateTime::UNIX_EPOCH).await, 3);
    drop(it);
    name_another_model();
    let it = open(dir.path()).await;
    fill(&it, "c", 1).await;
    drop(it);
    name_another_model();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, OpenError::OtherModel { .. }), "{error}");
}
