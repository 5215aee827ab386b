//! Writes files with blocks: notes the file in the database, writes it off the async runtime, then notes its digest. A
//! file without a digest is not used, and is destroyed before the next file is written or at the next start.

use std::io;
use std::sync::Arc;

use domain::id::SpaceId;
use domain::port::{Result, WrittenBlockFile};
use domain::{ErrorKind, PortError};
use rusqlite::Connection;
use tokio::task::{JoinError, spawn_blocking};
use tracing::Instrument;

use super::block_file_format::FileLayout;
use super::block_file_rows::{self, BegunFile};
use super::block_files::{self, Changed, file_id};
use super::{Durability, Store, space_row, unit_blocks};
use crate::embedded::mapped_files::{FileDigest, FileNumber};

const WRITE: &str = "graph.write_block_file";

/// The result of writing a file.
enum WrittenBodies {
    /// The file is complete on the disk.
    Complete { digest: FileDigest },
    /// The block in this row was deleted or replaced, or does not match its digest. Nothing remains of the file.
    Unreadable { row: i64 },
}

/// Writes the next file of a space; `None` if there are too few blocks for it, or if one of its blocks was deleted
/// meanwhile. Files are written one after the other. A file that was begun is completed even if the caller stops
/// waiting.
///
/// # Errors
///
/// `Unavailable` if the file cannot be written, for example because the disk is full; nothing remains of it.
pub(super) async fn write_block_file(
    store: &Arc<Store>,
    space: &SpaceId,
    version: i64,
) -> Result<Option<WrittenBlockFile>> {
    let (store, space) = (Arc::clone(store), space.clone());
    let writing = async move { write_next_file(&store, &space, version).await };
    let stopped = |error: JoinError| {
        PortError::new(
            WRITE,
            ErrorKind::Internal,
            "the writer of a file with blocks has stopped",
        )
        .caused_by(error)
    };
    let written = tokio::spawn(writing.in_current_span()).await;
    written.unwrap_or_else(|error| Err(stopped(error)))
}

async fn write_next_file(store: &Arc<Store>, space: &SpaceId, version: i64) -> Result<Option<WrittenBlockFile>> {
    let _turn = store.block_files.turn.lock().await;
    let Some(begun) = begin_file(store, space, version).await? else {
        return Ok(None);
    };
    let begun = Arc::new(begun);
    let completed = write_and_complete(store, &begun).await;
    if !matches!(completed, Ok(true)) {
        let abandoned = abandon_file(store, begun.number).await;
        completed?;
        abandoned?;
        return Ok(None);
    }
    tracing::debug!(
        number = begun.number.0,
        blocks = begun.blocks.len(),
        "file with blocks of units written"
    );
    Ok(Some(WrittenBlockFile {
        id: file_id(begun.number),
        after: begun.after,
        last: begun.last,
    }))
}

/// Notes that a file is being written; `None` if there are too few blocks for it. The caller holds the turn.
///
/// # Errors
///
/// `Unavailable` without any write if the file would leave little room on the disk.
async fn begin_file(store: &Store, space: &SpaceId, version: i64) -> Result<Option<BegunFile>> {
    let blocks_least = store.block_files.blocks_least;
    let name = space.clone();
    let find = move |db: &Connection| match space_row(db, &name)? {
        Some(row) => block_file_rows::find_next_blocks(db, row, version, blocks_least),
        None => Ok(None),
    };
    // Most calls end here, without a write.
    let Some(blocks) = store.run_read(WRITE, find).await? else {
        return Ok(None);
    };
    check_room(store, FileLayout::of_blocks(&blocks).file_bytes()).await?;
    let name = space.clone();
    let begin = move |db: &Connection| {
        block_files::note_outdated(db, || match space_row(db, &name)? {
            Some(row) => block_file_rows::begin_file(db, row, version, blocks_least),
            None => Ok(None),
        })
    };
    let files = Arc::clone(&store.block_files);
    let then = move |changed: &Changed<Option<BegunFile>>| files.folder.set_outdated(&changed.outdated);
    let begun = store.write_then(WRITE, Durability::Process, begin, then).await?;
    if !begun.outdated.is_empty() {
        store.destroy_written_files(WRITE).await?;
    }
    Ok(begun.value)
}

/// Checks that a file of `bytes` bytes leaves enough room on the disk.
async fn check_room(store: &Store, bytes: u64) -> Result<()> {
    let files = Arc::clone(&store.block_files);
    let checked = spawn_blocking(move || files.folder.check_room(bytes)).await;
    checked
        .unwrap_or_else(|error| Err(io::Error::other(error)))
        .map_err(unwritable)
}

fn unwritable(error: io::Error) -> PortError {
    let detail = "a file with blocks of units cannot be written";
    PortError::new(WRITE, ErrorKind::Unavailable, detail).caused_by(error)
}

/// Writes a file and notes its digest. Returns false if one of its blocks cannot be used any more.
async fn write_and_complete(store: &Arc<Store>, begun: &Arc<BegunFile>) -> Result<bool> {
    let (writer, file, number) = (Arc::clone(store), Arc::clone(begun), begun.number);
    let written = spawn_blocking(move || write_bodies(&writer, &file)).await;
    let written = written.unwrap_or_else(|error| Err(io::Error::other(error)));
    match written.map_err(unwritable)? {
        WrittenBodies::Complete { digest } => {
            let complete = move |db: &Connection| block_file_rows::complete_file(db, number, &digest);
            store.run_write(WRITE, Durability::Process, complete).await
        }
        WrittenBodies::Unreadable { row } => {
            let delete = move |db: &Connection| unit_blocks::delete_unreadable_block(db, row);
            store.run_write(WRITE, Durability::Process, delete).await?;
            Ok(false)
        }
    }
}

/// Writes a file. The bodies are read one by one, so that deletions do not wait for the whole file.
fn write_bodies(store: &Store, begun: &BegunFile) -> io::Result<WrittenBodies> {
    let layout = FileLayout::of_blocks(&begun.blocks);
    let mut unreadable = None;
    let read_body = |position: usize| {
        let block = &begun.blocks[position];
        let body = store.read_here(WRITE, |db| unit_blocks::read_body(db, block.row));
        let body = body.map_err(io::Error::other)?;
        let body = body.filter(|it| it.len() as u64 == block.bytes);
        if body.is_none() {
            unreadable = Some(block.row);
        }
        body.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    };
    let folder = &store.block_files.folder;
    let written = folder.write_file(begun.number, layout.file_bytes(), |out| layout.write(out, read_body));
    match (unreadable, written) {
        (Some(row), _) => Ok(WrittenBodies::Unreadable { row }),
        (None, written) => written.map(|digest| WrittenBodies::Complete { digest }),
    }
}

/// Deletes the row of a file that was not completed, and what is left of it on the disk.
async fn abandon_file(store: &Store, number: FileNumber) -> Result<()> {
    store.block_files.folder.set_outdated(&[number]);
    let delete = move |db: &Connection| block_file_rows::delete_file(db, number);
    let deleted = store.run_write(WRITE, Durability::Process, delete).await;
    store.destroy_written_files(WRITE).await?;
    deleted.map(drop)
}
