//! The files of a data folder: permissions, locks, and files that are not a memory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use adapters::{Embedded, OpenError, Options, UpkeepError, check_file, is_held, needs_migration, write_backup};
use domain::{Classify, ErrorKind};

use super::{file, fill, open, refusal, space};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns the names and modes of all files in a folder.
fn modes(dir: &Path) -> Vec<(String, u32)> {
    let entries = fs::read_dir(dir).unwrap().map(|it| it.unwrap());
    let mut found: Vec<(String, u32)> = entries
        .map(|it| (it.file_name().into_string().unwrap(), mode(&it.path())))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn files_and_folders_are_created_for_their_owner_only() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("new/memory");
    let it = Embedded::open(&dir, Options::default()).await.unwrap();
    fill(&it, "a", 3).await;
    assert_eq!((mode(&dir), mode(dir.parent().unwrap())), (0o700, 0o700));
    let names = ["mnemic.lock", "mnemic.sqlite", "mnemic.sqlite-shm", "mnemic.sqlite-wal"];
    assert_eq!(modes(&dir), names.map(|it| (it.to_owned(), 0o600)));
    let copy = parent.path().join("copy");
    write_backup(&dir, &copy).unwrap();
    assert_eq!(mode(&copy), 0o600);
}

#[tokio::test]
async fn permissions_of_files_of_an_older_release_are_restricted_at_open() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).await);
    fs::write(dir.path().join("mnemic.sqlite-wal"), b"").unwrap();
    for (name, _) in modes(dir.path()) {
        fs::set_permissions(dir.path().join(name), Permissions::from_mode(0o644)).unwrap();
    }
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 1).await;
    assert_eq!(mode(dir.path()), 0o700);
    for (name, mode) in modes(dir.path()) {
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[tokio::test]
async fn the_mode_of_a_folder_with_the_sticky_bit_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
    drop(open(dir.path()).await);
    assert_eq!(mode(dir.path()), 0o777);
    assert_eq!(mode(&file(dir.path())), 0o600);
}

#[tokio::test]
async fn a_folder_that_everybody_may_write_to_is_restricted_without_the_sticky_bit() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    drop(open(dir.path()).await);
    assert_eq!(mode(dir.path()), 0o700);
}

#[tokio::test]
async fn the_folder_stays_locked_after_its_lock_file_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_held(dir.path()).unwrap());
    let it = open(dir.path()).await;
    assert!(is_held(dir.path()).unwrap());
    fs::remove_file(dir.path().join("mnemic.lock")).unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    fill(&it, "a", 3).await;
    drop(it);
    let it = open(dir.path()).await;
    assert_eq!(it.index.count(&space("a")).await.unwrap(), 3);
    drop(it);
    assert!(!is_held(dir.path()).unwrap());
}

#[tokio::test]
async fn an_empty_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(file(dir.path()), b"").unwrap();
    let error = refusal(dir.path()).await;
    assert!(
        matches!(error, OpenError::Empty { .. }) && error.kind() == ErrorKind::Damaged,
        "{error}"
    );
    assert!(error.to_string().contains("is empty") && error.to_string().contains("mnemic restore"));
    let copy = dir.path().join("copy");
    assert!(matches!(
        write_backup(dir.path(), &copy),
        Err(UpkeepError::Empty { .. })
    ));
    assert!(matches!(check_file(dir.path()), Err(UpkeepError::Empty { .. })));
    assert!(matches!(needs_migration(dir.path()), Err(UpkeepError::Empty { .. })));
    assert_eq!(
        fs::metadata(file(dir.path())).unwrap().len(),
        0,
        "nothing was written into it"
    );
    fs::remove_file(file(dir.path())).unwrap();
    open(dir.path()).await;
}

#[tokio::test]
async fn the_log_of_a_missing_memory_is_not_applied_to_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("mnemic.sqlite-wal");
    fs::write(&log, [7; 4_096]).unwrap();
    let error = refusal(dir.path()).await;
    assert!(matches!(error, OpenError::LogAlone { .. }), "{error}");
    assert!(!file(dir.path()).exists());
    fs::remove_file(log).unwrap();
    open(dir.path()).await;
}

/// A start that is killed while it creates the file leaves it under another name; the next start replaces it.
#[tokio::test]
async fn an_unfinished_file_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mnemic.sqlite.new"), b"half of").unwrap();
    open(dir.path()).await;
    assert!(!dir.path().join("mnemic.sqlite.new").exists());
}

/// A copy of a damaged file fails, and what was written of it would keep its disk space for ever.
#[tokio::test]
async fn a_copy_that_fails_leaves_no_partial_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    fill(&it, "a", 100).await;
    drop(it);
    let mut bytes = fs::read(file(dir.path())).unwrap();
    bytes[8_192..].fill(0xff);
    fs::write(file(dir.path()), bytes).unwrap();
    let copies = tempfile::tempdir().unwrap();
    let error = write_backup(dir.path(), &copies.path().join("copy")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!(modes(copies.path()).is_empty(), "{:?}", modes(copies.path()));
}
