//! Files of blocks that cannot be used or written: damaged and missing ones, restored copies, failures, changes meanwhile,
//! and kills.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use adapters::{Embedded, OpenError, Options, restore_backup, write_backup};
use chrono::DateTime;
use domain::port::BlockFileId;
use domain::{Classify, ErrorKind};
use fixtures::wait_until;
use rusqlite::Connection;

use super::block_files::{VERSION, files, fill, noted, open, paths, put_blocks, put_units, read, write, written};
use super::{file, refusal, space};

/// Environment variable with the data directory, for the child process that writes until it is killed.
const CHILD: &str = "MNEMIC_BLOCK_FILES_DIR";

/// Closes the stores, and waits until a file that is being written is complete.
async fn close(it: Embedded, dir: &Path) {
    drop(it);
    wait_until("the directory is free", async || {
        !matches!(
            Embedded::open(dir, Options::default()).await,
            Err(OpenError::Locked { .. })
        )
    })
    .await;
}

/// Returns true if all blocks of the feed are in files, and there is at least one.
async fn is_mapped(it: &Embedded) -> bool {
    let seen = read(it).await;
    !seen.blocks.is_empty() && seen.blocks.iter().all(|it| it.file.is_some())
}

#[tokio::test]
async fn a_damaged_file_is_not_used_and_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    drop(it);
    let damages: [fn(&Path, Vec<u8>); 6] = [
        |path, mut bytes| {
            bytes[150] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path, mut bytes| {
            bytes[17] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path, bytes| fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        |path, _| fs::write(path, b"").unwrap(),
        |path, bytes| fs::write(path, [bytes, vec![0; 8]].concat()).unwrap(),
        |path, _| fs::remove_file(path).unwrap(),
    ];
    for (number, damage) in (1..).zip(damages) {
        let damaged = files(dir.path()).remove(0);
        damage(&damaged, fs::read(&damaged).unwrap());
        let it = open(dir.path()).await;
        assert_eq!(noted(dir.path()), [number]);
        let seen = read(&it).await;
        assert_eq!(
            (seen.places(), seen.files),
            (vec![(0, 2, None), (2, 4, None), (4, 6, None)], vec![]),
            "damage {number}"
        );
        assert_eq!(
            (noted(dir.path()), files(dir.path())),
            (vec![], vec![]),
            "damage {number}"
        );
        assert_eq!(write(&it, VERSION).await, written(number + 1, 0, 6), "damage {number}");
        assert!(is_mapped(&it).await, "damage {number}");
    }
}

/// A digest that matches does not make a file of other blocks usable.
#[tokio::test]
async fn a_file_of_other_blocks_than_its_row_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    drop(it);
    Connection::open(file(dir.path()))
        .unwrap()
        .execute("UPDATE block_files SET last = 4", [])
        .unwrap();
    let it = open(dir.path()).await;
    let seen = read(&it).await;
    assert_eq!(seen.places(), [(0, 2, None), (2, 4, None), (4, 6, None)]);
    assert!(noted(dir.path()).is_empty() && files(dir.path()).is_empty());
}

#[tokio::test]
async fn a_file_that_cannot_be_written_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    let occupied = dir.path().join("mnemic.blocks/1.partial");
    fs::create_dir_all(&occupied).unwrap();
    let error = it.graph.write_block_file(&space("a"), VERSION).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(noted(dir.path()).is_empty());
    assert_eq!(files(dir.path()), std::slice::from_ref(&occupied));
    assert_eq!(write(&it, VERSION).await, written(2, 0, 6));
    assert!(is_mapped(&it).await);
}

/// A note that could not be removed does not keep its blocks from being written.
#[tokio::test]
async fn a_file_that_was_begun_and_given_up_is_destroyed_before_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    let [left] = paths(dir.path(), [1]);
    fs::create_dir(left.parent().unwrap()).unwrap();
    fs::write(&left, b"old words").unwrap();
    Connection::open(file(dir.path()))
        .unwrap()
        .execute_batch("INSERT INTO block_files (space, start, last, version) VALUES (1, 0, 6, 7)")
        .unwrap();
    assert_eq!(write(&it, VERSION).await, written(2, 0, 6));
    assert_eq!(
        (files(dir.path()), noted(dir.path())),
        (paths(dir.path(), [2]).to_vec(), vec![2])
    );
    assert!(is_mapped(&it).await);
}

/// The note of an erasure stays until no outdated file without readers is left.
#[tokio::test]
async fn an_erasure_is_not_finished_while_an_outdated_file_remains() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    // A folder in place of the file cannot be overwritten.
    let [stuck] = paths(dir.path(), [1]);
    fs::remove_file(&stuck).unwrap();
    fs::create_dir(&stuck).unwrap();
    let error = it.records.delete_space(&space("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let unfinished = it.records.unfinished_erasures(None, 9).await.unwrap();
    assert_eq!(unfinished.len(), 1);
    let error = it.records.finish_erasure(&unfinished[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(it.records.unfinished_erasures(None, 9).await.unwrap(), unfinished);

    fs::remove_dir(&stuck).unwrap();
    it.records.finish_erasure(&unfinished[0]).await.unwrap();
    assert!(it.records.unfinished_erasures(None, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_damaged_block_stops_the_file_and_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    let changed =
        "UPDATE unit_blocks SET body = CAST(replace(CAST(body AS TEXT), 'block', 'clock') AS BLOB) WHERE start = 2";
    let database = Connection::open(file(dir.path())).unwrap();
    assert_eq!(database.execute(changed, []).unwrap(), 1);
    assert_eq!(write(&it, VERSION).await, None);
    assert!(noted(dir.path()).is_empty() && files(dir.path()).is_empty());
    assert_eq!(read(&it).await.places(), [(0, 2, None), (4, 6, None)]);
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await, written(2, 0, 6));
}

#[tokio::test]
async fn a_file_in_place_of_the_folder_is_named_and_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mnemic.blocks"), b"not a folder").unwrap();
    let error = refusal(dir.path()).await.to_string();
    assert!(error.contains("mnemic.blocks"), "{error}");
}

#[tokio::test]
async fn only_own_files_that_the_database_does_not_know_are_destroyed_at_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    write(&it, VERSION).await.unwrap();
    drop(it);
    let folder = dir.path().join("mnemic.blocks");
    for name in ["1.partial", "7.units", "x.units", "9.txt"] {
        fs::write(folder.join(name), b"old words").unwrap();
    }
    Connection::open(file(dir.path()))
        .unwrap()
        .execute_batch(
            "INSERT INTO block_files (space, start, last, version, digest)
             VALUES (1, 6, 8, 7, NULL), (99, 0, 2, 7, zeroblob(32))",
        )
        .unwrap();
    let it = open(dir.path()).await;
    let left = ["1.units", "9.txt", "x.units"].map(|it| folder.join(it));
    assert_eq!((files(dir.path()), noted(dir.path())), (left.to_vec(), vec![1]));
    assert!(is_mapped(&it).await);
}

#[tokio::test]
async fn a_restored_copy_uses_no_file_of_other_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let [before, copy, foreign] = ["before", "copy", "foreign"].map(|it| dir.path().join(it));
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    write_backup(dir.path(), &before).unwrap();
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    write_backup(dir.path(), &copy).unwrap();
    drop(it);
    restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap();
    let it = open(dir.path()).await;
    assert!(is_mapped(&it).await, "the same file");

    put_units(&it, [1], "changed").await;
    put_blocks(&it, VERSION).await;
    assert_eq!(write(&it, VERSION).await.map(|it| it.id), Some(BlockFileId(2)));
    drop(it);
    restore_backup(dir.path(), &copy, DateTime::from_timestamp(1, 0).unwrap()).unwrap();
    let it = open(dir.path()).await;
    assert_eq!(
        files(dir.path()),
        [] as [std::path::PathBuf; 0],
        "the copy has no second file"
    );
    let seen = read(&it).await;
    assert_eq!(seen.places(), [(0, 2, None), (2, 4, None), (4, 6, None)]);
    assert!(noted(dir.path()).is_empty(), "the first one was destroyed");
    assert_eq!(write(&it, VERSION).await, written(2, 0, 6));
    drop(it);

    // The first file of another memory has the same number.
    let other = tempfile::tempdir().unwrap();
    let it = open(other.path()).await;
    fill(&it, 8).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 8));
    write_backup(other.path(), &foreign).unwrap();
    drop(it);
    restore_backup(dir.path(), &before, DateTime::from_timestamp(2, 0).unwrap()).unwrap();
    let it = open(dir.path()).await;
    assert_eq!(write(&it, VERSION).await, written(1, 0, 6));
    drop(it);
    restore_backup(dir.path(), &foreign, DateTime::from_timestamp(3, 0).unwrap()).unwrap();
    let it = open(dir.path()).await;
    let seen = read(&it).await;
    assert!(seen.blocks.len() == 4 && seen.blocks.iter().all(|it| it.file.is_none()));
    assert!(noted(dir.path()).is_empty() && files(dir.path()).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_write_each_block_once() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 32).await;
    let calls = (0..6).map(|_| write(&it, VERSION));
    let mut found: Vec<_> = futures::future::join_all(calls).await.into_iter().flatten().collect();
    found.sort_by_key(|it| it.id);
    assert_eq!(found, [written(1, 0, 16).unwrap(), written(2, 16, 32).unwrap()]);
    assert!(is_mapped(&it).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_completed_even_if_its_caller_stops_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 6).await;
    let _ = futures::poll!(Box::pin(write(&it, VERSION)));
    wait_until("the file is in use", async || is_mapped(&it).await).await;
    close(it, dir.path()).await;
    assert_eq!(noted(dir.path()), [1]);
}

/// Files are written while their units change. Each file that is left is one that the database knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_written_while_units_change_are_complete_or_gone() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, 40).await;
    let change = async {
        for round in 0_u32..60 {
            let number = 1 + u128::from(round * 7 % 40);
            put_units(&it, [number], &format!("changed {round}")).await;
            put_blocks(&it, VERSION).await;
        }
    };
    let write_files = async {
        for _ in 0..60 {
            write(&it, VERSION).await;
        }
    };
    let look = async {
        for _ in 0..30 {
            drop(read(&it).await);
        }
    };
    futures::join!(change, write_files, look);
    while write(&it, VERSION).await.is_some() {}
    let seen = read(&it).await;
    let ids: Vec<i64> = seen.files.iter().map(|it| it.0).collect();
    assert_eq!(noted(dir.path()), ids);
    let mut names: Vec<String> = ids.iter().map(|it| format!("{it}.units")).collect();
    names.sort();
    // The last reader of an outdated file may just have dropped it.
    wait_until("only the files that the database knows are left", async || {
        let found = files(dir.path());
        let found: Vec<_> = found
            .iter()
            .map(|it| it.file_name().unwrap().to_string_lossy())
            .collect();
        found == names
    })
    .await;
}

/// Returns the number of the last file that was begun.
fn last_number(dir: &Path) -> i64 {
    let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'block_files'";
    let database = Connection::open(file(dir)).unwrap();
    database.query_row(last, [], |row| row.get(0)).unwrap()
}

/// Puts units and blocks, changes units and writes files in an endless loop.
async fn write_until_killed(dir: &Path) {
    let it = open(dir).await;
    fill(&it, 20).await;
    fs::write(dir.join("ready"), b"").unwrap();
    for round in 0_u128.. {
        put_units(&it, [1 + round % 20, 21 + round % 100], &round.to_string()).await;
        put_blocks(&it, VERSION).await;
        while write(&it, VERSION).await.is_some() {}
    }
}

fn start_child(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "block_file_failures::a_kill_at_any_moment_leaves_only_files_that_can_be_used",
        ])
        .env(CHILD, dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_moment_leaves_only_files_that_can_be_used() {
    if let Ok(dir) = std::env::var(CHILD) {
        return write_until_killed(Path::new(&dir)).await;
    }
    let dir = tempfile::tempdir().unwrap();
    for round in 1_i64..9 {
        let mut child = start_child(dir.path());
        wait_until("the child writes", async || dir.path().join("ready").exists()).await;
        fs::remove_file(dir.path().join("ready")).unwrap();
        let begun = last_number(dir.path());
        wait_until("the child writes files", async || {
            last_number(dir.path()) >= begun + round
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();

        let it = open(dir.path()).await;
        let noted_files = noted(dir.path());
        drop(read(&it).await);
        assert_eq!(
            noted(dir.path()),
            noted_files,
            "each of them can be used, round {round}"
        );
        put_blocks(&it, VERSION).await;
        while write(&it, VERSION).await.is_some() {}
        assert_eq!(noted(dir.path()).len(), files(dir.path()).len(), "round {round}");
        close(it, dir.path()).await;
    }
}
