//! A copy replaces the memory only if it is sound and no process has locked the folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use adapters::{OpenError, UpkeepError, restore_backup, write_backup};
use chrono::DateTime;
use domain::{Classify, ErrorKind};
use rusqlite::Connection;

use super::{file, fill, open, space};

/// Creates a memory with the space `a` and a copy of it; then adds `b` to the memory. Returns the path of the copy.
async fn memory_and_copy(dir: &Path) -> PathBuf {
    let it = open(dir).await;
    fill(&it, "a", 3).await;
    let copy = dir.join("copy");
    write_backup(dir, &copy).unwrap();
    fill(&it, "b", 3).await;
    copy
}

/// Returns the numbers of points in the spaces `a` and `b` of a memory.
async fn counts(dir: &Path) -> [usize; 2] {
    let it = open(dir).await;
    [
        it.index.count(&space("a")).await.unwrap() as usize,
        it.index.count(&space("b")).await.unwrap() as usize,
    ]
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_copy_is_restored_and_the_old_file_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    assert_eq!(names(dir.path()), ["copy", "mnemic.lock", "mnemic.sqlite"], "closed");
    let at = DateTime::from_timestamp(1_780_000_000, 0).unwrap();
    let kept = restore_backup(dir.path(), &copy, at).unwrap().unwrap();
    assert_eq!(kept, dir.path().join("mnemic.sqlite.before-20260528T202640Z"));
    assert_eq!(
        names(dir.path()),
        [
            "copy",
            "mnemic.lock",
            "mnemic.sqlite",
            "mnemic.sqlite.before-20260528T202640Z"
        ]
    );
    let mode = fs::metadata(file(dir.path())).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(counts(dir.path()).await, [3, 0]);
    let again = restore_backup(dir.path(), &copy, at).unwrap_err();
    assert!(matches!(again, UpkeepError::Exists { .. }), "{again}");

    let before = tempfile::tempdir().unwrap();
    restore_backup(before.path(), &kept, at).unwrap();
    assert_eq!(
        counts(before.path()).await,
        [3, 3],
        "the memory before, in a folder that had none"
    );
}

#[tokio::test]
async fn a_locked_memory_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    let it = open(dir.path()).await;
    let error = restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap_err();
    assert!(
        matches!(error, UpkeepError::Folder(OpenError::Locked { .. })) && error.kind() == ErrorKind::Unavailable,
        "{error}"
    );
    drop(it);
    assert_eq!(counts(dir.path()).await, [3, 3]);
}

#[tokio::test]
async fn a_log_left_next_to_the_memory_or_the_copy_stops_a_restore() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    for name in ["mnemic.sqlite-wal", "mnemic.sqlite-journal", "copy-wal"] {
        let leftover = dir.path().join(name);
        fs::write(&leftover, [1; 64]).unwrap();
        let error = restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap_err();
        assert!(
            matches!(&error, UpkeepError::Leftover { path } if *path == leftover),
            "{error}"
        );
        fs::remove_file(leftover).unwrap();
    }
    assert_eq!(counts(dir.path()).await, [3, 3]);
    restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap();
}

/// SQLite leaves an empty log and its index when a read-only connection closes a memory that no process has open.
#[tokio::test]
async fn a_copy_of_a_stopped_memory_does_not_stop_the_next_restore() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    write_backup(dir.path(), &dir.path().join("copy-of-stopped")).unwrap();
    let [log, index] = ["mnemic.sqlite-wal", "mnemic.sqlite-shm"].map(|it| dir.path().join(it));
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    assert!(fs::metadata(&index).unwrap().len() > 0);
    restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap();
    assert!(!log.exists() && !index.exists());
    assert_eq!(counts(dir.path()).await, [3, 0]);

    fs::write(&index, [1; 64]).unwrap();
    restore_backup(dir.path(), &copy, DateTime::from_timestamp(1, 0).unwrap()).unwrap();
    assert!(!index.exists(), "an index without a log");
}

#[tokio::test]
async fn unsound_copies_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    let whole = fs::read(&copy).unwrap();
    let other = dir.path().join("other");
    Connection::open(&other)
        .unwrap()
        .execute("CREATE TABLE t (x)", [])
        .unwrap();
    let newer = dir.path().join("newer");
    fs::copy(&copy, &newer).unwrap();
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    for (name, bytes) in [
        ("empty", &[][..]),
        ("cut", &whole[..whole.len() - 8_192]),
        ("text", b"no database"),
    ] {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    for (name, words) in [
        ("empty", "is empty"),
        ("cut", "was not restored"),
        ("text", "was not restored"),
        ("other", "another program"),
        ("newer", "has schema 99"),
        ("missing", "there is no"),
    ] {
        let error = restore_backup(dir.path(), &dir.path().join(name), DateTime::UNIX_EPOCH).unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    assert!(
        !names(dir.path()).iter().any(|it| it.starts_with("mnemic.sqlite.")),
        "nothing is left"
    );
    assert_eq!(counts(dir.path()).await, [3, 3]);
}

#[tokio::test]
async fn an_empty_file_is_replaced_by_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let copy = memory_and_copy(dir.path()).await;
    fs::write(file(dir.path()), b"").unwrap();
    restore_backup(dir.path(), &copy, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(counts(dir.path()).await, [3, 0]);
}
