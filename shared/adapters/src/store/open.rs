use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use domain::ErrorKind;
use domain::id::SessionId;
use domain::port::folded;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::Deserialize;

use super::failure::kind_of;
use crate::{OpenError, Options};

/// `MNEM`: tells a file of Mnemic from any other database.
const APPLICATION_ID: i32 = 0x4d4e_454d;
/// Every schema change, oldest first; the number of a schema is its place in this list, from 1.
pub(super) const MIGRATIONS: [&str; 12] = [
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
];
/// Size of a page, bytes: what SQLite takes unless told otherwise.
const PAGE_BYTES: u64 = 4_096;
/// How long a connection waits for another one, e.g. for a backup that runs beside the service.
const BUSY: Duration = Duration::from_secs(10);
/// Size the write-ahead log is cut back to after a checkpoint, bytes.
const LOG_BYTES: i64 = 64 << 20;

/// Takes the data directory for this process; it is free again when the file is dropped.
pub(super) fn lock(dir: &Path) -> Result<File, OpenError> {
    std::fs::create_dir_all(dir).map_err(|source| OpenError::Directory {
        path: dir.to_owned(),
        source,
    })?;
    let path = dir.join("mnemic.lock");
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|source| OpenError::Directory {
        path: path.clone(),
        source,
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(OpenError::Directory { path, source }),
    }
}

/// Opens the connection that writes, and brings the schema up to date.
pub(super) fn writer(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    let refused = |error| refused(path, error);
    // SQLite takes a bound of no pages for none.
    if let Some(bytes) = options.file_bytes_max.filter(|it| *it < PAGE_BYTES) {
        let least = PAGE_BYTES;
        return Err(OpenError::Bound { bytes, least });
    }
    let mut connection = Connection::open(path).map_err(refused)?;
    prepare(&connection).map_err(refused)?;
    migrate(&mut connection, path)?;
    let pages = options.file_bytes_max.map(|bytes| bytes / PAGE_BYTES);
    let bound = |connection: &Connection| match pages {
        Some(pages) => connection.pragma_update_and_check(None, "max_page_count", super::integer(pages), |_| Ok(())),
        None => Ok(()),
    };
    bound(&connection).map_err(refused)?;
    Ok(connection)
}

/// Notes the model whose vectors the file holds; refuses to mix those of two.
pub(super) fn same_model(connection: &Connection, path: &Path, model: &str) -> Result<(), OpenError> {
    let noted = || -> rusqlite::Result<Option<String>> {
        let found = connection.query_row("SELECT value FROM meta WHERE key = 'model'", [], |row| row.get(0));
        let found: Option<String> = found.optional()?;
        if found.as_deref() == Some(model) {
            return Ok(None);
        }
        let vectors = connection.query_row("SELECT EXISTS (SELECT 1 FROM points)", [], |row| row.get(0))?;
        if found.is_some() && vectors {
            return Ok(found);
        }
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?1)", [model])?;
        Ok(None)
    };
    match noted().map_err(|error| refused(path, error))? {
        Some(found) => Err(OpenError::OtherModel {
            path: path.to_owned(),
            found,
            wanted: model.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Takes all vectors out of a file, and the note whose they are.
pub(super) fn forget_vectors(connection: &mut Connection) -> rusqlite::Result<()> {
    let change = connection.transaction()?;
    change.execute_batch("DELETE FROM points; DELETE FROM meta WHERE key = 'model'")?;
    change.commit()
}

/// Opens a connection that only reads.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(connection)
}

/// Turns an error of SQLite while opening into one that says what to do.
pub(super) fn refused(path: &Path, source: rusqlite::Error) -> OpenError {
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

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // Whatever is erased, and whatever is written anew without it: `fast` would leave the pages that become free as they are.
    connection.pragma_update_and_check(None, "secure_delete", "on", |_| Ok(()))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let refused = |error| refused(path, error);
    let number = |connection: &Connection, name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = number(connection, "application_id").map_err(refused)?;
    let found = number(connection, "user_version").map_err(refused)?;
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
    tell_whose(connection).map_err(refused)?;
    for (number, script) in (1..=known).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction().map_err(refused)?;
        let apply = || {
            transaction.execute_batch(script)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", number)
        };
        apply().map_err(refused)?;
        transaction.commit().map_err(refused)?;
        tracing::info!(schema = number, "schema brought up to date");
    }
    Ok(())
}

/// What migrations read from the bodies of records and units.
#[derive(Deserialize)]
struct Whose {
    session: SessionId,
    actor: String,
}

/// Gives migrations the functions `actor_of` and `session_of` of a body; of one that cannot be read they are null.
fn tell_whose(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let whose = |it: &Context<'_>| -> rusqlite::Result<Option<Whose>> {
        Ok(serde_json::from_slice(it.get_raw(0).as_blob()?).ok())
    };
    let actor = move |it: &Context<'_>| Ok(whose(it)?.map(|it| folded(&it.actor)));
    let session = move |it: &Context<'_>| Ok(whose(it)?.map(|it| it.session.uuid().into_bytes()));
    connection.create_scalar_function("actor_of", 1, flags, actor)?;
    connection.create_scalar_function("session_of", 1, flags, session)
}
