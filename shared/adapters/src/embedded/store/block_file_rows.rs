//! The rows of the files with blocks: which blocks each file holds. A trigger deletes the row of a file as soon as one of
//! its blocks is deleted.

use rusqlite::Connection;

use super::{Outcome, from_sql_integer, to_sql_integer};
use crate::embedded::mapped_files::{FileDigest, FileNumber};

/// The most blocks in a file, as a multiple of the least number.
const MOST_FACTOR: usize = 4;

/// A complete file: its number, the interval of the feed that it holds, and its digest.
pub(super) struct StoredFile {
    pub(super) number: FileNumber,
    pub(super) after: u64,
    pub(super) last: u64,
    pub(super) digest: FileDigest,
}

/// A block that is written to a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedBlock {
    /// Its row.
    pub(super) row: i64,
    /// The sequence number before its interval.
    pub(super) after: u64,
    /// The last sequence number of its interval.
    pub(super) last: u64,
    /// Size of its body.
    pub(super) bytes: u64,
}

/// A file that is to be written, with its blocks in order.
pub(super) struct BegunFile {
    pub(super) number: FileNumber,
    pub(super) after: u64,
    pub(super) last: u64,
    pub(super) blocks: Vec<PlacedBlock>,
}

/// An interval of the feed: the sequence numbers above `after`, up to `last`.
struct Interval {
    after: u64,
    last: u64,
}

/// Returns the complete files of a space with blocks of this version, by number.
pub(super) fn complete_files(db: &Connection, space: i64, version: i64) -> Outcome<Vec<StoredFile>> {
    let mut select = db.prepare_cached(
        "SELECT id, start, last, digest FROM block_files
         WHERE space = ?1 AND version = ?2 AND digest IS NOT NULL ORDER BY id",
    )?;
    let files = select.query_map((space, version), |row| {
        Ok(StoredFile {
            number: FileNumber(row.get(0)?),
            after: from_sql_integer(row.get(1)?),
            last: from_sql_integer(row.get(2)?),
            digest: row.get(3)?,
        })
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}

/// Returns the files of all spaces, also those that are being written.
pub(super) fn live_files(db: &Connection) -> rusqlite::Result<Vec<FileNumber>> {
    let mut select = db.prepare_cached("SELECT id FROM block_files")?;
    let files = select.query_map([], |row| row.get(0).map(FileNumber))?;
    files.collect()
}

/// Returns the blocks of the next file in order: the first ones of this version that are in no complete file, with no
/// unit between them; `None` if there are fewer than `blocks_least`. A file has at most four times as many blocks. Must
/// not be called while a file is being written.
pub(super) fn find_next_blocks(
    db: &Connection,
    space: i64,
    version: i64,
    blocks_least: usize,
) -> Outcome<Option<Vec<PlacedBlock>>> {
    let Some(mut blocks) = find_run(db, space, version, blocks_least)? else {
        return Ok(None);
    };
    let mut size = db.prepare_cached("SELECT length(body) FROM unit_blocks WHERE row = ?1")?;
    for block in &mut blocks {
        block.bytes = from_sql_integer(size.query_row([block.row], |row| row.get(0))?);
    }
    Ok(Some(blocks))
}

/// Notes that a file is being written with the blocks of [`find_next_blocks`]; `None` if there are none. Deletes the rows
/// of files that were begun before and not completed.
pub(super) fn begin_file(db: &Connection, space: i64, version: i64, blocks_least: usize) -> Outcome<Option<BegunFile>> {
    db.execute("DELETE FROM block_files WHERE digest IS NULL", [])?;
    let Some(blocks) = find_next_blocks(db, space, version, blocks_least)? else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Ok(None);
    };
    let (after, last) = (first.after, last.last);
    let mut insert = db
        .prepare_cached("INSERT INTO block_files (space, start, last, version) VALUES (?1, ?2, ?3, ?4) RETURNING id")?;
    let key = (space, to_sql_integer(after), to_sql_integer(last), version);
    let number = FileNumber(insert.query_row(key, |row| row.get(0))?);
    Ok(Some(BegunFile {
        number,
        after,
        last,
        blocks,
    }))
}

/// Notes the digest of a file that was written. Returns false if one of its blocks was deleted meanwhile.
pub(super) fn complete_file(db: &Connection, number: FileNumber, digest: &FileDigest) -> Outcome<bool> {
    let changed = db.execute("UPDATE block_files SET digest = ?2 WHERE id = ?1", (number.0, digest))?;
    Ok(changed > 0)
}

/// Deletes the row of a file. Returns false if it was deleted before.
pub(super) fn delete_file(db: &Connection, number: FileNumber) -> Outcome<bool> {
    Ok(db.execute("DELETE FROM block_files WHERE id = ?1", [number.0])? > 0)
}

/// Returns the blocks of the next file, without their sizes.
fn find_run(db: &Connection, space: i64, version: i64, blocks_least: usize) -> Outcome<Option<Vec<PlacedBlock>>> {
    let (least, most) = (blocks_least.max(1), blocks_least.max(1).saturating_mul(MOST_FACTOR));
    let covered = covered_intervals(db, space)?;
    let mut select =
        db.prepare_cached("SELECT row, start, last FROM unit_blocks WHERE space = ?1 AND version = ?2 ORDER BY last")?;
    let mut rows = select.query((space, version))?;
    let mut run: Vec<PlacedBlock> = Vec::new();
    while run.len() < most
        && let Some(row) = rows.next()?
    {
        let block = PlacedBlock {
            row: row.get(0)?,
            after: from_sql_integer(row.get(1)?),
            last: from_sql_integer(row.get(2)?),
            bytes: 0,
        };
        if covered.iter().any(|it| it.after < block.last && block.last <= it.last) {
            continue;
        }
        let between = run.last().map(|it| Interval {
            after: it.last,
            last: block.after,
        });
        if let Some(between) = between
            && has_units(db, space, &between)?
        {
            if run.len() >= least {
                break;
            }
            run.clear();
        }
        run.push(block);
    }
    Ok((run.len() >= least).then_some(run))
}

/// Returns true if a unit of a space has a sequence number in an interval. A number that no unit has any more is not used
/// again.
fn has_units(db: &Connection, space: i64, within: &Interval) -> Outcome<bool> {
    let mut select = db.prepare_cached("SELECT 1 FROM units WHERE space = ?1 AND sequence > ?2 AND sequence <= ?3")?;
    let (after, last) = (to_sql_integer(within.after), to_sql_integer(within.last));
    Ok(after < last && select.exists((space, after, last))?)
}

/// Returns the intervals of the complete files of a space.
fn covered_intervals(db: &Connection, space: i64) -> Outcome<Vec<Interval>> {
    let mut select =
        db.prepare_cached("SELECT start, last FROM block_files WHERE space = ?1 AND digest IS NOT NULL")?;
    let found = select.query_map([space], |row| {
        Ok(Interval {
            after: from_sql_integer(row.get(0)?),
            last: from_sql_integer(row.get(1)?),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
