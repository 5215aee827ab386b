//! The SQLite file: the lock on it, the writer, the readers, and the meaning of its failures.

mod api_keys;
mod block_file_format;
mod block_file_rows;
mod block_file_writer;
mod block_files;
mod codec;
mod connections;
mod curations;
mod derived_objects;
mod digest;
mod failure;
mod graph;
mod idempotency;
mod listing;
mod lock;
mod maintenance;
mod notes;
mod page_scrubber;
mod readers;
mod readings;
mod receipts;
mod records;
mod relations;
mod restore;
mod secrets;
mod space_erasure;
mod spaces;
mod unit_blocks;
mod webhooks;
mod write_ahead_log;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::PortError;
use domain::id::SpaceId;
use rusqlite::{Connection, OptionalExtension};
use tracing::Instrument;

pub(crate) use api_keys::StoredKeys;
pub(crate) use codec::{dense_blob, dense_of, sparse_blob, sparse_of};
pub(crate) use failure::{Failure, Outcome};
pub(crate) use graph::StoredGraph;
pub use lock::is_held;
pub use maintenance::{UpkeepError, check_file, file_bytes, needs_migration, write_backup};
pub(crate) use readings::StoredReadings;
pub(crate) use receipts::StoredReceipts;
pub(crate) use records::StoredRecords;
pub use restore::restore_backup;
pub(crate) use webhooks::StoredWebhooks;
pub(crate) use writer::Durability;

use crate::{OpenError, Options};
use block_files::BlockFiles;
use readers::Readers;
use writer::Writer;

/// Name of the file inside a data directory.
const FILE: &str = "mnemic.sqlite";
/// Name of the folder of the index inside a data directory.
pub(crate) const INDEX_FOLDER: &str = "mnemic.index";
/// Name of the folder with the files of blocks inside a data directory.
const BLOCKS_FOLDER: &str = "mnemic.blocks";

/// The open file. Dropping the last handle waits for the writer and releases the directory.
pub(crate) struct Store {
    path: PathBuf,
    /// Closed before the writer, which locks the folder: it changes files only while the folder is locked.
    block_files: Arc<BlockFiles>,
    /// Closed before the writer, so that the writer closes last and removes the log.
    readers: Arc<Readers>,
    writer: Writer,
}

/// Deletes all vectors in a data directory, so that another model can make new ones. The texts that they are made from
/// stay. Blocks.
///
/// # Errors
///
/// Like [`crate::Embedded::open`], except vectors of another model.
pub fn forget_vectors(dir: &Path) -> Result<(), OpenError> {
    let _lock = lock::lock_database(dir)?;
    let path = dir.join(FILE);
    let mut connection = connections::open_writer(&path, &Options::default())?;
    connections::forget_vectors(&mut connection).map_err(|error| connections::to_open_error(&path, error))
}

impl Store {
    /// Opens or creates the file in `dir`, whose vectors come from `model`. Blocks.
    pub(crate) fn open(dir: &Path, model: &str, options: &Options) -> Result<Store, OpenError> {
        let lock = lock::lock_database(dir)?;
        let path = dir.join(FILE);
        let connection = connections::open_writer(&path, options)?;
        connections::same_model(&connection, &path, model)?;
        connections::forget_unfinished_files(&connection).map_err(|error| connections::to_open_error(&path, error))?;
        let block_files = Arc::new(BlockFiles::open(&connection, &path, options)?);
        let writer = Writer::start_thread(connection, &path, lock).map_err(|source| OpenError::Directory {
            path: path.clone(),
            source,
        })?;
        let readers = Arc::new(Readers::new(path.clone(), options.readers));
        Ok(Store {
            path,
            block_files,
            readers,
            writer,
        })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `job` in a transaction of the writer. Returns after its commit.
    pub(crate) async fn run_write<T, F>(
        &self,
        operation: &'static str,
        durability: Durability,
        job: F,
    ) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        self.write_then(operation, durability, job, |_| ()).await
    }

    /// Does the same as [`Self::run_write`], for a job that erases data: immediately after the job, the write-ahead log
    /// is emptied, because it contains the old pages. The commit survives a loss of power.
    pub(crate) async fn run_erasure<T, F>(&self, operation: &'static str, job: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        self.erase_if(operation, job, |_| true).await
    }

    /// Does the same as [`Self::run_erasure`], but empties the log only if `erased` returns true for the result of the
    /// job.
    pub(crate) async fn erase_if<T, F>(
        &self,
        operation: &'static str,
        job: F,
        erased: fn(&T) -> bool,
    ) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let log = self.writer.log_handle();
        let then = move |value: &T| {
            if erased(value) {
                log.request_emptying();
            }
        };
        self.write_then(operation, Durability::Power, job, then).await
    }

    /// Does the same as [`Self::run_write`]. After the commit, `then` runs on the writer's thread, in the order of
    /// commits, even if the caller no longer waits.
    pub(crate) async fn write_then<T, F, A>(
        &self,
        operation: &'static str,
        durability: Durability,
        job: F,
        then: A,
    ) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        A: FnOnce(&T) + Send + 'static,
    {
        self.writer
            .submit_job(durability, job, then)
            .instrument(tracing::info_span!("store.write", operation))
            .await
            .map_err(|it| it.of_port(operation, &self.path))
    }

    /// Runs `job` on a consistent snapshot of the file, off the async runtime.
    pub(crate) async fn run_read<T, F>(&self, operation: &'static str, job: F) -> Result<T, PortError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        self.readers
            .run_off_runtime(job)
            .instrument(tracing::info_span!("store.read", operation))
            .await
            .map_err(|it| it.of_port(operation, &self.path))
    }

    /// Does the same as [`Self::run_read`], for callers that may block.
    pub(crate) fn read_here<T>(
        &self,
        operation: &'static str,
        job: impl FnOnce(&Connection) -> Outcome<T>,
    ) -> Result<T, PortError> {
        self.readers
            .run_here(job)
            .map_err(|it| it.of_port(operation, &self.path))
    }
}

/// Returns the row of a space, or `None` if it is unknown.
pub(crate) fn space_row(connection: &Connection, space: &SpaceId) -> Outcome<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT row FROM spaces WHERE name = ?1")?;
    Ok(statement.query_row([space.as_str()], |row| row.get(0)).optional()?)
}

/// Returns the row of a space, or `NotFound`.
pub(crate) fn known_space(connection: &Connection, space: &SpaceId) -> Outcome<i64> {
    space_row(connection, space)?.ok_or_else(|| Failure::unknown_space(space))
}

/// Converts a number into a signed integer of SQLite; a number that does not fit becomes the maximum.
pub(crate) fn to_sql_integer<N: TryInto<i64>>(number: N) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts a number from SQLite; a negative one becomes 0.
pub(crate) fn from_sql_integer(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
