//! Opens the file and its connections, and applies the schema migrations.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::ErrorKind;
use domain::id::SessionId;
use domain::port::case_folded_actor;
use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::Deserialize;

use super::digest;
use super::failure::kind_of;
use crate::process::private_files;
use crate::{OpenError, Options};

/// `MNEM`: marks a file as a database of Mnemic.
const APPLICATION_ID: i32 = 0x4d4e_454d;
/// All schema changes, oldest first; the number of a schema is its position in this list, from 1.
pub(super) const MIGRATIONS: [&str; 23] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_derived.sql"),
    include_str!("migrations/0003_generation.sql"),
    include_str!("migrations/0004_curated.sql"),
    include_str!("migrations/0005_turn.sql"),
    include_str!("migrations/0006_sessions.sql"),
    include_str!("migrations/0007_rows.sql"),
    include_str!("migrations/0008_brought.sql"),
    include_str!("migrations/0009_whose.sql"),
    include_str!("migrations/0010_erasures.sql"),
    include_str!("migrations/0011_held.sql"),
    include_str!("migrations/0012_images.sql"),
    include_str!("migrations/0013_digests.sql"),
    include_str!("migrations/0014_positions.sql"),
    include_str!("migrations/0015_receipts.sql"),
    include_str!("migrations/0016_readings.sql"),
    include_str!("migrations/0017_keys.sql"),
    include_str!("migrations/0018_webhooks.sql"),
    include_str!("migrations/0019_blocks.sql"),
    include_str!("migrations/0020_point_images.sql"),
    include_str!("migrations/0021_block_files.sql"),
    include_str!("migrations/0022_deleted_spaces.sql"),
    include_str!("migrations/0023_removed_costs.sql"),
];
/// Size of a page in bytes: the default of SQLite.
const PAGE_BYTES: u64 = 4_096;
/// How long a connection waits for another one, such as a backup of the running service.
pub(super) const BUSY: Duration = Duration::from_secs(10);
/// Size to which the write-ahead log is truncated after a checkpoint, in bytes.
const LOG_BYTES: i64 = 64 << 20;

/// Creates an empty memory, completely or not at all: it is written under another name first.
///
/// # Errors
///
/// `LogAlone` if the write-ahead log of a missing memory exists.
pub(super) fn create_database(path: &Path) -> Result<(), OpenError> {
    let log = sibling_path(path, "-wal");
    if std::fs::metadata(&log).is_ok_and(|it| it.len() > 0) {
        let path = path.to_owned();
        return Err(OpenError::LogAlone { path, log });
    }
    let failed = |source| OpenError::Directory {
        path: path.to_owned(),
        source,
    };
    let fresh = path.with_added_extension("new");
    for leftover in [sibling_path(&fresh, "-journal"), fresh.clone()] {
        if leftover.exists() {
            std::fs::remove_file(leftover).map_err(failed)?;
        }
    }
    drop(private_files::create_private(&fresh).map_err(failed)?);
    let marked = || Connection::open(&fresh)?.pragma_update(None, "application_id", APPLICATION_ID);
    marked().map_err(|error| to_open_error(&fresh, error))?;
    let moved = File::open(&fresh).and_then(|it| it.sync_all());
    let moved = moved.and_then(|()| std::fs::rename(&fresh, path));
    moved
        .and_then(|()| private_files::sync_folder(path.parent().unwrap_or(Path::new("."))))
        .map_err(failed)
}

/// Returns the path of a file that SQLite keeps next to the database.
pub(super) fn sibling_path(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens the connection for writing, and migrates the schema.
pub(super) fn open_writer(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    let refused = |error| to_open_error(path, error);
    // SQLite would read a limit of zero pages as no limit.
    if let Some(bytes) = options.file_bytes_max.filter(|it| *it < PAGE_BYTES) {
        let least = PAGE_BYTES;
        return Err(OpenError::Bound { bytes, least });
    }
    let mut connection = Connection::open(path).map_err(refused)?;
    configure_writer(&connection).map_err(refused)?;
    migrate_schema(&mut connection, path)?;
    let pages = options.file_bytes_max.map(|bytes| bytes / PAGE_BYTES);
    let bound = |connection: &Connection| match pages {
        Some(pages) => {
            connection.pragma_update_and_check(None, "max_page_count", super::to_sql_integer(pages), |_| Ok(()))
        }
        None => Ok(()),
    };
    bound(&connection).map_err(refused)?;
    Ok(connection)
}

/// Stores the name of the model whose vectors the file holds. Returns an error if the file already has vectors of
/// another model. Vectors of a deleted space that is still being erased do not count: no search reads them.
pub(super) fn same_model(connection: &Connection, path: &Path, model: &str) -> Result<(), OpenError> {
    let noted = || -> rusqlite::Result<Option<String>> {
        let found = connection.query_row("SELECT value FROM meta WHERE key = 'model'", [], |row| row.get(0));
        let found: Option<String> = found.optional()?;
        if found.as_deref() == Some(model) {
            return Ok(None);
        }
        let of_spaces =
            "SELECT EXISTS (SELECT 1 FROM spaces WHERE EXISTS (SELECT 1 FROM points WHERE space = spaces.row))";
        let vectors = connection.query_row(of_spaces, [], |row| row.get(0))?;
        if found.is_some() && vectors {
            return Ok(found);
        }
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?1)", [model])?;
        Ok(None)
    };
    match noted().map_err(|error| to_open_error(path, error))? {
        Some(found) => Err(OpenError::OtherModel {
            path: path.to_owned(),
            found,
            wanted: model.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Deletes the notes of mapped files that a process which was killed did not complete.
pub(super) fn forget_unfinished_files(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM point_images WHERE digest IS NULL OR space NOT IN (SELECT row FROM spaces);
         DELETE FROM block_files WHERE digest IS NULL OR space NOT IN (SELECT row FROM spaces);",
    )
}

/// Deletes all vectors in a file, and the name of their model.
pub(super) fn forget_vectors(connection: &mut Connection) -> rusqlite::Result<()> {
    let change = connection.transaction()?;
    change.execute_batch("DELETE FROM points; DELETE FROM meta WHERE key = 'model'")?;
    change.commit()
}

/// Opens a read-only connection.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cache_size", -4_096)?;
    plan_once(&connection)?;
    // Sorting must not use temporary files, which an erasure would not reach.
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}

/// Converts an SQLite error during opening into one that says what to do.
pub(super) fn to_open_error(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    if kind_of(&source) == ErrorKind::Damaged {
        return OpenError::Damaged {
            path,
            source: source.into(),
        };
    }
    OpenError::Unavailable {
        path,
        source: source.into(),
    }
}

/// Makes prepared statements keep their plans. By default SQLite plans a statement again whenever another value is
/// bound to a parameter for which it has statistics, which took a twentieth of the time of a question.
fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn configure_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    plan_once(connection)?;
    // Overwrites erased content, and the old content of updated rows: `fast` would leave freed pages unchanged.
    connection.pragma_update_and_check(None, "secure_delete", "on", |_| Ok(()))
}

fn migrate_schema(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let refused = |error| to_open_error(path, error);
    let application = pragma_number(connection, "application_id").map_err(refused)?;
    let found = pragma_number(connection, "user_version").map_err(refused)?;
    let objects = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    if application != APPLICATION_ID && (application != 0 || objects.map_err(refused)? > 0) {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    let known = MIGRATIONS.len() as u32;
    if found > known {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    add_functions(connection).map_err(refused)?;
    for (number, script) in (1..=known).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction().map_err(refused)?;
        let apply = || {
            transaction.execute_batch(script)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", number)
        };
        apply().map_err(refused)?;
        transaction.commit().map_err(refused)?;
    }
    if found < known {
        tracing::info!(from = found, to = known, "schema brought up to date");
    }
    Ok(())
}

fn pragma_number(connection: &Connection, name: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Returns why this program cannot open a database, or `None` if it can.
pub(super) fn foreign_or_newer(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if pragma_number(connection, "application_id")? != APPLICATION_ID {
        return Ok(Some("it is a database of another program".to_owned()));
    }
    let found = pragma_number(connection, "user_version")?;
    let known = MIGRATIONS.len();
    let newer = usize::try_from(found).is_ok_and(|it| it > known);
    Ok(
        newer
            .then(|| format!("it has schema {found}, this program supports schemas up to {known}: use a newer mnemic")),
    )
}

/// Fields that migrations read from the bodies of records and units.
#[derive(Deserialize)]
struct Whose {
    session: SessionId,
    actor: String,
}

/// Defines the functions `digest_of`, `actor_of` and `session_of` of a body, for migrations. The last two return null
/// for an unreadable body.
fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let whose = |it: &Context<'_>| -> rusqlite::Result<Option<Whose>> {
        Ok(serde_json::from_slice(it.get_raw(0).as_blob()?).ok())
    };
    let actor = move |it: &Context<'_>| Ok(whose(it)?.map(|it| case_folded_actor(&it.actor)));
    let session = move |it: &Context<'_>| Ok(whose(it)?.map(|it| it.session.uuid().into_bytes()));
    let digest = |it: &Context<'_>| Ok(digest::digest_of_body(it.get_raw(0).as_blob()?));
    connection.create_scalar_function("digest_of", 1, flags, digest)?;
    connection.create_scalar_function("actor_of", 1, flags, actor)?;
    connection.create_scalar_function("session_of", 1, flags, session)
}
