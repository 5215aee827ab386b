//! Restores a copy that `backup` made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use domain::ErrorKind;
use rusqlite::Connection;

use super::failure::kind_of;
use super::maintenance::{UpkeepError, findings_of, sqlite_error};
use super::{FILE, connections, lock};
use crate::process::private_files;

/// Replaces the file of a data folder by the copy `source`; the folder is created if needed. The copy is verified
/// first: integrity of the file, and digests of its content. Returns the path where the old file is kept; its name ends
/// with `at`. If this fails, the memory stays unchanged. Blocks.
///
/// # Errors
///
/// `Folder` if another process has locked the data folder, `Leftover` if a log next to the file or the copy has content,
/// `Unsound` if the copy is damaged, was changed, or is of another program or a newer Mnemic.
pub fn restore_backup(dir: &Path, source: &Path, at: DateTime<Utc>) -> Result<Option<PathBuf>, UpkeepError> {
    let path = dir.join(FILE);
    let written = |error| UpkeepError::Target {
        path: path.clone(),
        source: error,
    };
    match fs::metadata(source) {
        Ok(it) if it.len() == 0 => {
            return Err(UpkeepError::Empty {
                path: source.to_owned(),
            });
        }
        Ok(_) => {}
        Err(_) => {
            return Err(UpkeepError::Missing {
                path: source.to_owned(),
            });
        }
    }
    let _lock = lock::lock_folder(dir)?;
    refuse_leftovers(&path, source)?;
    let former_file = path.with_added_extension(format!("before-{}", at.format("%Y%m%dT%H%M%SZ")));
    if former_file.exists() {
        return Err(UpkeepError::Exists { path: former_file });
    }
    let partial = path.with_added_extension("restored");
    let outcome = copy_to_disk(source, &partial)
        .map_err(written)
        .and_then(|()| verify_copy(source, &partial))
        .and_then(|()| remove_empty_log(&path).map_err(written))
        .and_then(|()| replace_file(&path, &partial, &former_file).map_err(written));
    if outcome.is_err() && partial.exists() {
        fs::remove_file(&partial).map_err(written)?;
    }
    outcome
}

/// Returns an error if a log next to the database or the copy has content. SQLite would use a log of the old memory for
/// the restored copy, and the content of the copy's own log would be lost.
fn refuse_leftovers(path: &Path, source: &Path) -> Result<(), UpkeepError> {
    let logs = [
        connections::sibling_path(path, "-wal"),
        connections::sibling_path(path, "-journal"),
        connections::sibling_path(source, "-wal"),
    ];
    match logs
        .into_iter()
        .find(|it| fs::metadata(it).is_ok_and(|it| it.len() > 0))
    {
        Some(path) => Err(UpkeepError::Leftover { path }),
        None => Ok(()),
    }
}

/// Removes an empty log and its index. A read-only connection, such as that of `backup`, leaves both next to a memory
/// that is stopped.
fn remove_empty_log(path: &Path) -> io::Result<()> {
    for ending in ["-wal", "-shm"] {
        let file = connections::sibling_path(path, ending);
        if file.exists() {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// Copies a file and waits until it is on disk.
fn copy_to_disk(source: &Path, target: &Path) -> io::Result<()> {
    if target.exists() {
        fs::remove_file(target)?;
    }
    let mut to = private_files::create_private(target)?;
    io::copy(&mut fs::File::open(source)?, &mut to)?;
    to.sync_all()
}

/// Returns an error unless a copy is a sound memory that this program can open.
fn verify_copy(source: &Path, copy: &Path) -> Result<(), UpkeepError> {
    let unsound = |findings| UpkeepError::Unsound {
        path: source.to_owned(),
        findings,
    };
    let look = || -> rusqlite::Result<Vec<String>> {
        let connection = Connection::open(copy)?;
        // No log must remain next to the copy.
        connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
        if let Some(finding) = connections::foreign_or_newer(&connection)? {
            return Ok(vec![finding]);
        }
        findings_of(&connection)
    };
    match look() {
        Ok(found) if found.is_empty() => Ok(()),
        Ok(found) => Err(unsound(found)),
        Err(error) if kind_of(&error) == ErrorKind::Damaged => Err(unsound(vec![error.to_string()])),
        Err(error) => Err(sqlite_error(source, error)),
    }
}

/// Moves the copy into place, so that the file exists at any time. Returns the path of the old file.
fn replace_file(path: &Path, copy: &Path, former_file: &Path) -> io::Result<Option<PathBuf>> {
    let had = path.exists();
    // If the file system has no hard links, the file is missing for a moment.
    if had && fs::hard_link(path, former_file).is_err() {
        fs::rename(path, former_file)?;
    }
    fs::File::open(copy)?.sync_all()?;
    fs::rename(copy, path)?;
    private_files::sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    Ok(had.then(|| former_file.to_owned()))
}
