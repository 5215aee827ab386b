//! Files with the bodies of blocks that follow each other in the feed. They are mapped into memory, so that a reader can
//! keep parts of them without a copy. The database holds the same bodies; a file that cannot be used is written again.

use std::io;
use std::path::Path;
use std::sync::Arc;

use domain::port::{BlockFileId, Result, UnitBlock};
use domain::{ErrorKind, PortError};
use rusqlite::Connection;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::block_file_format::MappedBlocks;
use super::block_file_rows::{self, StoredFile};
use super::{BLOCKS_FOLDER, Durability, Outcome, Store, connections};
use crate::embedded::mapped_files::{FileFolder, FileNumber};
use crate::{OpenError, Options};

/// Ending of the name of a file with blocks.
const ENDING: &str = "units";

/// The files with blocks of all spaces.
pub(super) struct BlockFiles {
    pub(super) folder: FileFolder,
    /// Least number of blocks in a file.
    pub(super) blocks_least: usize,
    /// Held while a file is written, so that concurrent calls do not write the same blocks.
    pub(super) turn: Mutex<()>,
}

/// The result of a job that may delete blocks.
pub(super) struct Changed<T> {
    pub(super) value: T,
    /// The files that the job made outdated.
    pub(super) outdated: Vec<FileNumber>,
}

/// The files with blocks of one space and version, for one read of its feed.
pub(super) struct FeedFiles<'a> {
    folder: &'a FileFolder,
    /// The files that are not known to be unusable, by number.
    stored: Vec<StoredFile>,
    /// The file that was used last.
    mapped: Option<MappedBlocks>,
    unusable: Vec<UnusableFile>,
}

/// A file that could not be mapped.
pub(super) struct UnusableFile {
    number: FileNumber,
    error: io::Error,
}

impl BlockFiles {
    /// Destroys the files that the database does not know.
    ///
    /// # Errors
    ///
    /// `Directory` if a file cannot be destroyed, otherwise the error of the database.
    pub(super) fn open(
        connection: &Connection,
        database: &Path,
        options: &Options,
    ) -> std::result::Result<BlockFiles, OpenError> {
        let folder = FileFolder::next_to(database, BLOCKS_FOLDER, ENDING);
        let live = block_file_rows::live_files(connection);
        let live = live.map_err(|error| connections::to_open_error(database, error))?;
        folder.keep_only(&live).map_err(|source| OpenError::Directory {
            path: folder.path().to_owned(),
            source,
        })?;
        Ok(BlockFiles {
            folder,
            blocks_least: options.unit_file_blocks_least,
            turn: Mutex::default(),
        })
    }
}

/// Runs `change`, which may delete blocks or the rows of files, and also returns the files that it made outdated.
pub(super) fn note_outdated<T>(db: &Connection, change: impl FnOnce() -> Outcome<T>) -> Outcome<Changed<T>> {
    let mut outdated = block_file_rows::live_files(db)?;
    let value = change()?;
    if !outdated.is_empty() {
        let live = block_file_rows::live_files(db)?;
        outdated.retain(|it| !live.contains(it));
    }
    Ok(Changed { value, outdated })
}

impl Drop for Store {
    /// Reads whose callers stopped waiting may hold the files of blocks for longer. No file may be destroyed after the directory
    /// is unlocked.
    fn drop(&mut self) {
        self.block_files.folder.close();
    }
}

impl Store {
    /// Does the same as [`Store::run_write`], for a job that may delete blocks. Returns when the files that it made
    /// outdated are destroyed; a file that is still read is destroyed as soon as its last reader has dropped it.
    ///
    /// # Errors
    ///
    /// Also `Unavailable` if the change is committed, but one of these files could not be destroyed.
    pub(super) async fn write_blocks<T, F>(&self, operation: &'static str, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<Changed<T>> + Send + 'static,
    {
        let files = Arc::clone(&self.block_files);
        // Another call destroys the files if this caller stops waiting.
        let then = move |changed: &Changed<T>| files.folder.set_outdated(&changed.outdated);
        let changed = self.write_then(operation, Durability::Process, job, then).await?;
        if !changed.outdated.is_empty() {
            self.destroy_outdated_files(operation).await?;
        }
        Ok(changed.value)
    }

    /// Does the same as [`Store::run_erasure`], for a job that may delete blocks. Returns when all outdated files are
    /// destroyed; a file that is still read is destroyed as soon as its last reader has dropped it.
    ///
    /// # Errors
    ///
    /// Also `Unavailable` if the change is committed, but an outdated file could not be destroyed.
    pub(super) async fn erase_blocks<T, F>(&self, operation: &'static str, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<Changed<T>> + Send + 'static,
    {
        let (files, log) = (Arc::clone(&self.block_files), self.writer.log_handle());
        let then = move |changed: &Changed<T>| {
            files.folder.set_outdated(&changed.outdated);
            log.request_emptying();
        };
        let changed = self.write_then(operation, Durability::Power, job, then).await?;
        self.destroy_outdated_files(operation).await?;
        Ok(changed.value)
    }

    /// Destroys the outdated files without readers, also those that an earlier call could not destroy.
    ///
    /// # Errors
    ///
    /// `Unavailable` if one of them could not be destroyed.
    pub(super) async fn destroy_outdated_files(&self, operation: &'static str) -> Result<()> {
        // The file that is being written may hold a block that was deleted. Its writer stops at such a block.
        if self.block_files.folder.is_writing() {
            drop(self.block_files.turn.lock().await);
        }
        self.destroy_written_files(operation).await
    }

    /// Does the same as [`Store::destroy_outdated_files`], without a file that is being written.
    ///
    /// # Errors
    ///
    /// `Unavailable` if a file could not be destroyed.
    pub(super) async fn destroy_written_files(&self, operation: &'static str) -> Result<()> {
        if !self.block_files.folder.has_outdated() {
            return Ok(());
        }
        let files = Arc::clone(&self.block_files);
        let destroyed = spawn_blocking(move || files.folder.destroy_outdated()).await;
        let remains = |error: io::Error| {
            let detail = "an outdated file with blocks of units could not be destroyed";
            PortError::new(operation, ErrorKind::Unavailable, detail).caused_by(error)
        };
        destroyed
            .unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(remains)
    }

    /// Destroys files that could not be used, so that they are written again. Files that could not be read for another
    /// reason, such as too many open files, stay.
    pub(super) async fn remove_unusable_files(&self, operation: &'static str, unusable: Vec<UnusableFile>) {
        let mut damaged = Vec::new();
        for it in unusable {
            let (number, error) = (it.number.0, &it.error);
            if [io::ErrorKind::NotFound, io::ErrorKind::InvalidData].contains(&error.kind()) {
                damaged.push(it.number);
            } else {
                tracing::warn!(number, %error, "a file with blocks of units cannot be mapped");
            }
        }
        if damaged.is_empty() {
            return;
        }
        let job = move |db: &Connection| {
            let mut removed = Vec::new();
            for number in damaged {
                if block_file_rows::delete_file(db, number)? {
                    removed.push(number);
                }
            }
            Ok(Changed {
                value: removed.len(),
                outdated: removed,
            })
        };
        match self.write_blocks(operation, job).await {
            // The files became outdated after the feed was read.
            Ok(0) => {}
            Ok(files) => tracing::warn!(
                files,
                "files with blocks of units were missing or damaged and are written again"
            ),
            Err(error) => tracing::warn!(%error, "damaged files with blocks of units could not be removed"),
        }
    }
}

impl<'a> FeedFiles<'a> {
    /// Finds the files of a space with blocks of this version.
    pub(super) fn of_space(db: &Connection, space: i64, version: i64, files: &'a BlockFiles) -> Outcome<FeedFiles<'a>> {
        Ok(FeedFiles {
            folder: &files.folder,
            stored: block_file_rows::complete_files(db, space, version)?,
            mapped: None,
            unusable: Vec::new(),
        })
    }

    /// Returns the block that begins right after `sequence`, if it is in a file that can be used. Between two blocks of
    /// a file there may be numbers that no unit has; none begins right after the first of these.
    pub(super) fn block_after(&mut self, sequence: u64) -> Option<UnitBlock> {
        let position = self
            .stored
            .iter()
            .position(|it| it.after <= sequence && sequence < it.last)?;
        let stored = self.stored.get(position)?;
        let number = stored.number;
        if self.mapped.as_ref().is_none_or(|it| it.id() != file_id(number)) {
            match map_blocks(self.folder, stored) {
                Ok(mapped) => self.mapped = Some(mapped),
                Err(error) => {
                    self.stored.remove(position);
                    self.unusable.push(UnusableFile { number, error });
                    return None;
                }
            }
        }
        self.mapped.as_ref()?.block_after(sequence)
    }

    /// Returns the files that can be used as far as is known, ascending.
    pub(super) fn ids(&self) -> Vec<BlockFileId> {
        self.stored.iter().map(|it| file_id(it.number)).collect()
    }

    /// Returns the files that could not be used.
    pub(super) fn into_unusable(self) -> Vec<UnusableFile> {
        self.unusable
    }
}

/// Returns the number of a file as readers of the feed see it.
pub(super) fn file_id(number: FileNumber) -> BlockFileId {
    BlockFileId(number.0)
}

/// Maps a file.
///
/// # Errors
///
/// `InvalidData` if it is damaged or holds other blocks than its row says, `NotFound` if it is missing or outdated;
/// otherwise the error of the system.
fn map_blocks(folder: &FileFolder, stored: &StoredFile) -> io::Result<MappedBlocks> {
    let file = folder.map_verified(stored.number, &stored.digest)?;
    let blocks = MappedBlocks::of_file(file_id(stored.number), file);
    let blocks = blocks.filter(|it| it.holds_interval(stored.after, stored.last));
    blocks.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
