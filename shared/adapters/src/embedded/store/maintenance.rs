//! Maintenance of the file by an operator: check and copy. Both work while the service runs.

use std::path::{Path, PathBuf};

use domain::{Classify, ErrorKind};
use rusqlite::{Connection, OpenFlags};

use super::failure::kind_of;
use super::{BLOCKS_FOLDER, FILE, INDEX_FOLDER, digest};
use crate::OpenError;
use crate::process::private_files;

/// First schema in which bodies have digests.
const DIGESTS_SINCE: i64 = 13;
/// Maximum number of findings of a check.
const FINDINGS_MAX: usize = 100;

/// Why the file could not be checked or copied.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// There is no file in the data directory.
    #[error("there is no {path}")]
    Missing {
        /// The expected path.
        path: PathBuf,
    },
    /// The file is empty.
    #[error("{path} is empty and therefore not a memory")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The target already exists; nothing is overwritten.
    #[error("{path} exists already")]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The copy could not be written.
    #[error("cannot write {path}")]
    Target {
        /// The target.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Another process has locked the data folder, or it cannot be used.
    #[error(transparent)]
    Folder(#[from] OpenError),
    /// A log file of SQLite is left next to a database, and would be applied to the restored copy.
    #[error(
        "{path} has the last writes of a memory that was not stopped: start and stop that memory, which saves them, \
         or move the file away if it does not start"
    )]
    Leftover {
        /// The file.
        path: PathBuf,
    },
    /// The copy is not sound, so it was not restored.
    #[error("{path} was not restored, and the memory is unchanged: {}", findings.join("; "))]
    Unsound {
        /// The copy.
        path: PathBuf,
        /// The problems.
        findings: Vec<String>,
    },
    /// SQLite returned an error.
    #[error("cannot read {path}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The kind of the error.
        kind: ErrorKind,
        /// The error of SQLite.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Classify for UpkeepError {
    fn kind(&self) -> ErrorKind {
        match self {
            UpkeepError::Missing { .. } => ErrorKind::NotFound,
            UpkeepError::Empty { .. } | UpkeepError::Unsound { .. } => ErrorKind::Damaged,
            UpkeepError::Folder(error) => error.kind(),
            UpkeepError::Exists { .. } | UpkeepError::Leftover { .. } => ErrorKind::Conflict,
            UpkeepError::Target { .. } => ErrorKind::Unavailable,
            UpkeepError::Sqlite { kind, .. } => *kind,
        }
    }
}

/// Checks the whole file of a data directory and returns the problems: findings of SQLite, and rows (records, units and
/// others) whose content was changed in the file. Returns an empty list for a sound file. Blocks, for seconds on a
/// large file.
///
/// # Errors
///
/// `NotFound` if there is no file, `Unavailable` if it cannot be opened. A damaged file is a finding, not an error.
pub fn check_file(dir: &Path) -> Result<Vec<String>, UpkeepError> {
    let path = existing_database(dir)?;
    match findings_of_file(&path) {
        Ok(found) => Ok(found),
        Err(error) if kind_of(&error) == ErrorKind::Damaged => Ok(vec![error.to_string()]),
        Err(error) => Err(sqlite_error(&path, error)),
    }
}

/// Returns the size of the file of a data directory with its write-ahead log and all mapped files, in bytes; 0 if they
/// are missing.
pub fn file_bytes(dir: &Path) -> u64 {
    let size = |path: PathBuf| std::fs::metadata(path).map_or(0, |it| it.len());
    let folders = [INDEX_FOLDER, BLOCKS_FOLDER].map(|it| std::fs::read_dir(dir.join(it)));
    let entries = folders.into_iter().flatten().flatten().flatten();
    let mapped: u64 = entries.map(|it| size(it.path())).sum();
    size(dir.join(FILE)) + size(dir.join(format!("{FILE}-wal"))) + mapped
}

/// Returns true if opening the file of a data directory would migrate its schema, after which an older program can no
/// longer open it. Blocks.
///
/// # Errors
///
/// `NotFound` if there is no file, `Damaged` if it cannot be read.
pub fn needs_migration(dir: &Path) -> Result<bool, UpkeepError> {
    let path = existing_database(dir)?;
    let version = || open_read_only(&path)?.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    let version = version().map_err(|error| sqlite_error(&path, error))?;
    Ok(usize::try_from(version).is_ok_and(|it| it < super::connections::MIGRATIONS.len()))
}

/// Writes a consistent copy of the file of a data directory to `target`, which appears only when it is complete and on
/// disk. [`restore_backup`](super::restore_backup) restores it. After an error, no partial file is left. Blocks.
///
/// # Errors
///
/// `Conflict` if `target` exists, `NotFound` if there is no file, `Damaged` if it cannot be read.
pub fn write_backup(dir: &Path, target: &Path) -> Result<(), UpkeepError> {
    let path = existing_database(dir)?;
    if target.exists() {
        return Err(UpkeepError::Exists {
            path: target.to_owned(),
        });
    }
    let partial = target.with_added_extension("partial");
    let written = |source| UpkeepError::Target {
        path: target.to_owned(),
        source,
    };
    if partial.exists() {
        std::fs::remove_file(&partial).map_err(written)?;
    }
    // SQLite accepts an existing file as the target if it is empty, and keeps its mode.
    drop(private_files::create_private(&partial).map_err(written)?);
    let copied = copy_to_disk(&path, &partial, target);
    if copied.is_err() {
        // The error that made the copy fail is returned, not one of the removal.
        for unfinished in [super::connections::sibling_path(&partial, "-journal"), partial] {
            std::fs::remove_file(unfinished).ok();
        }
    }
    copied
}

/// Copies the database to `partial`, waits until the copy is on disk, and renames it to `target`.
fn copy_to_disk(path: &Path, partial: &Path, target: &Path) -> Result<(), UpkeepError> {
    let written = |source| UpkeepError::Target {
        path: target.to_owned(),
        source,
    };
    copy_database(path, partial).map_err(|error| sqlite_error(path, error))?;
    std::fs::File::open(partial)
        .and_then(|file| file.sync_all())
        .map_err(written)?;
    std::fs::rename(partial, target).map_err(written)?;
    private_files::sync_folder(target.parent().unwrap_or(Path::new("."))).map_err(written)
}

fn existing_database(dir: &Path) -> Result<PathBuf, UpkeepError> {
    let path = dir.join(FILE);
    match std::fs::metadata(&path) {
        Ok(it) if it.len() == 0 => Err(UpkeepError::Empty { path }),
        Ok(_) => Ok(path),
        Err(_) => Err(UpkeepError::Missing { path }),
    }
}

fn findings_of_file(path: &Path) -> rusqlite::Result<Vec<String>> {
    findings_of(&open_read_only(path)?)
}

/// Returns the problems of pages and indexes, then the rows whose content was changed.
pub(super) fn findings_of(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS_MAX})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut found = rows.collect::<rusqlite::Result<Vec<String>>>()?;
    found.retain(|it| it != "ok");
    let schema = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    if schema >= DIGESTS_SINCE {
        found.extend(digest::changed_rows(
            connection,
            FINDINGS_MAX.saturating_sub(found.len()),
        )?);
    }
    Ok(found)
}

fn copy_database(path: &Path, target: &Path) -> rusqlite::Result<()> {
    let connection = open_read_only(path)?;
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    Ok(connection)
}

pub(super) fn sqlite_error(path: &Path, source: rusqlite::Error) -> UpkeepError {
    UpkeepError::Sqlite {
        path: path.to_owned(),
        kind: kind_of(&source),
        source: source.into(),
    }
}
