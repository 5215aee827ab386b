//! Restores a copy that `backup` made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use domain::ErrorKind;
use rusqlite::Connection;

use super::failure::kind_of;
use super::upkeep::{UpkeepError, findings_of, refused};
use super::{FILE, lock, open};
use crate::private;

/// Replaces the file of a data folder by the copy `source`; the folder is created if needed. The copy is verified
/// first: integrity of the file, and digests of its content. Returns the path where the old file is kept; its name ends
/// with `at`. If this fails, the folder stays unchanged. Blocks.
///
/// # Errors
///
/// `Folder` if another process has locked the data folder, `Leftover` if there is a log next to the file or the copy,
/// `Unsound` if the copy is damaged, was changed, or is of another program or a newer Mnemic.
pub fn restore(dir: &Path, source: &Path, at: DateTime<Utc>) -> Result<Option<PathBuf>, UpkeepError> {
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
    let _lock = lock::hold(dir)?;
    refuse_leftovers(&path, source)?;
    let kept = path.with_added_extension(format!("before-{}", at.format("%Y%m%dT%H%M%SZ")));
    if kept.exists() {
        return Err(UpkeepError::Exists { path: kept });
    }
    let partial = path.with_added_extension("restored");
    let outcome = copied(source, &partial)
        .map_err(written)
        .and_then(|()| verify(source, &partial))
        .and_then(|()| replace(&path, &partial, &kept).map_err(written));
    if outcome.is_err() && partial.exists() {
        fs::remove_file(&partial).map_err(written)?;
    }
    outcome
}

/// Returns an error if there are log files next to the database or the copy. SQLite would use a log of the old memory
/// for the restored copy, and the content of the copy's own log would be lost.
fn refuse_leftovers(path: &Path, source: &Path) -> Result<(), UpkeepError> {
    let log_of_source = open::beside(source, "-wal");
    let log_of_source = fs::metadata(&log_of_source)
        .is_ok_and(|it| it.len() > 0)
        .then_some(log_of_source);
    let files = [
        open::beside(path, "-wal"),
        open::beside(path, "-shm"),
        open::beside(path, "-journal"),
    ];
    match files.into_iter().filter(|it| it.exists()).chain(log_of_source).next() {
        Some(path) => Err(UpkeepError::Leftover { path }),
        None => Ok(()),
    }
}

/// Copies a file and waits until it is on disk.
fn copied(source: &Path, target: &Path) -> io::Result<()> {
    if target.exists() {
        fs::remove_file(target)?;
    }
    let mut to = private::create_private(target)?;
    io::copy(&mut fs::File::open(source)?, &mut to)?;
    to.sync_all()
}

/// Returns an error unless a copy is a sound memory that this program can open.
fn verify(source: &Path, copy: &Path) -> Result<(), UpkeepError> {
    let unsound = |findings| UpkeepError::Unsound {
        path: source.to_owned(),
        findings,
    };
    let look = || -> rusqlite::Result<Vec<String>> {
        let connection = Connection::open(copy)?;
        // No log must remain next to the copy.
        connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
        if let Some(finding) = open::foreign_or_newer(&connection)? {
            return Ok(vec![finding]);
        }
        findings_of(&connection)
    };
    match look() {
        Ok(found) if found.is_empty() => Ok(()),
        Ok(found) => Err(unsound(found)),
        Err(error) if kind_of(&error) == ErrorKind::Damaged => Err(unsound(vec![error.to_string()])),
        Err(error) => Err(refused(source, error)),
    }
}

/// Moves the copy into place, so that the file exists at any time. Returns the path of the old file.
fn replace(path: &Path, copy: &Path, kept: &Path) -> io::Result<Option<PathBuf>> {
    let had = path.exists();
    // If the file system has no hard links, the file is missing for a moment.
    if had && fs::hard_link(path, kept).is_err() {
        fs::rename(path, kept)?;
    }
    fs::File::open(copy)?.sync_all()?;
    fs::rename(copy, path)?;
    private::sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    Ok(had.then(|| kept.to_owned()))
}
