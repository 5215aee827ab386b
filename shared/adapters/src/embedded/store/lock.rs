//! The lock on a data folder: only one process may use it at a time.
//!
//! Two files are locked with `flock`: the database itself, which cannot be removed without removing the memory, and
//! `mnemic.lock`, the only file that releases before 0.2 lock. SQLite locks the database with `fcntl`; `flock` does not
//! interfere with these locks. But when a process closes any handle of a file, it drops all of its `fcntl` locks on the
//! file. So this handle is opened before SQLite opens the file, and closed after it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::{FILE, connections};
use crate::OpenError;
use crate::process::private_files;

/// The file that releases before 0.2 lock.
const LOCK: &str = "mnemic.lock";

/// A data folder that this process has locked, until this is dropped.
pub(super) struct Lock {
    files: Vec<File>,
}

/// Locks the data folder for this process. If there is no database, creates an empty one that only this user can read.
///
/// # Errors
///
/// `Locked` if another process has locked it, `Empty` or `LogAlone` if the database is incomplete.
pub(super) fn lock_database(dir: &Path) -> Result<Lock, OpenError> {
    let path = dir.join(FILE);
    let mut lock = lock_folder(dir)?;
    if !path.exists() {
        connections::create_database(&path)?;
        lock.files.push(lock_file(dir, FILE)?);
    }
    if std::fs::metadata(&path).is_ok_and(|it| it.len() == 0) {
        return Err(OpenError::Empty { path });
    }
    for name in [LOCK, FILE, "mnemic.sqlite-wal", "mnemic.sqlite-shm"] {
        private_files::restrict_permissions(&dir.join(name));
    }
    Ok(lock)
}

/// Locks the data folder for this process, whatever the state of its database.
///
/// # Errors
///
/// `Locked` if another process has locked it.
pub(super) fn lock_folder(dir: &Path) -> Result<Lock, OpenError> {
    private_files::create_private_folder(dir).map_err(|source| OpenError::Directory {
        path: dir.to_owned(),
        source,
    })?;
    let mut files = vec![lock_file(dir, LOCK)?];
    if dir.join(FILE).exists() {
        files.push(lock_file(dir, FILE)?);
    }
    Ok(Lock { files })
}

/// Returns true if a process has locked the data folder. Must not be called by a process that has it open itself: see
/// the module.
///
/// # Errors
///
/// A file that cannot be opened.
pub fn is_held(dir: &Path) -> io::Result<bool> {
    for name in [LOCK, FILE] {
        let path = dir.join(name);
        if !path.exists() {
            continue;
        }
        match File::options().append(true).open(path)?.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

fn lock_file(dir: &Path, name: &str) -> Result<File, OpenError> {
    let path = dir.join(name);
    let failed = |source| OpenError::Directory {
        path: path.clone(),
        source,
    };
    let file = private_files::private_file_options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
