//! Blocks of units: data that a reader made of all units in an interval of the feed. Triggers delete a block as soon as
//! one of its units changes. Blocks never overlap.

use bytes::Bytes;
use domain::port::{BlockGap, Change, UnitBlock, UnitDigest, UnitFeed};
use rusqlite::{Connection, OptionalExtension, params};

use super::block_files::{BlockFiles, FeedFiles, UnusableFile};
use super::{Outcome, digest, from_sql_integer, to_sql_integer};

/// Maximum number of blocks in a part of the feed. A block of 256 short units takes about 300 KB.
const BLOCKS_MAX: usize = 16;

/// The place of a block.
struct BlockPlace {
    row: i64,
    after: u64,
    last: u64,
    version: i64,
}

/// An interval of the feed: the sequence numbers above `after`, up to `last`.
#[derive(Clone, Copy)]
struct Interval {
    after: u64,
    last: u64,
}

/// A unit as it is stored, with its digest.
struct StoredChange {
    change: Change,
    digest: UnitDigest,
}

/// A part of the feed, and what could not be used for it.
#[derive(Default)]
pub(super) struct ReadFeed {
    pub(super) feed: UnitFeed,
    /// The rows of blocks that do not match their digest.
    pub(super) damaged: Vec<i64>,
    /// Files that could not be mapped.
    pub(super) unusable: Vec<UnusableFile>,
}

/// Returns the part of the feed after `sequence`, in blocks as far as there are any of this version. The bodies of blocks
/// that are in a file are parts of the mapped file.
pub(super) fn unit_feed(
    db: &Connection,
    space: i64,
    sequence: u64,
    limit: usize,
    version: i64,
    files: &BlockFiles,
) -> Outcome<ReadFeed> {
    let mut files = FeedFiles::of_space(db, space, version, files)?;
    let (mut feed, mut damaged, mut at) = (UnitFeed::default(), Vec::new(), sequence);
    feed.has_more = true;
    while feed.blocks.len() < BLOCKS_MAX {
        if let Some(block) = files.block_after(at) {
            at = block.last;
            feed.blocks.push(block);
            continue;
        }
        let Some(place) = next_block(db, space, at)? else {
            feed.changes = read_changes(
                db,
                space,
                Interval {
                    after: at,
                    last: u64::MAX,
                },
                limit,
            )?;
            feed.has_more = feed.changes.len() == limit;
            break;
        };
        if place.after == at && place.version == version {
            if let Some(body) = read_body(db, place.row)? {
                at = place.last;
                feed.blocks.push(UnitBlock {
                    after: place.after,
                    last: place.last,
                    body: Bytes::from(body),
                    file: None,
                });
                continue;
            }
            damaged.push(place.row);
        }
        // The units before the block, or those of a block that cannot be used or begins earlier.
        let end = if place.after > at { place.after } else { place.last };
        feed.changes = read_changes(db, space, Interval { after: at, last: end }, limit)?;
        if !feed.changes.is_empty() {
            break;
        }
        at = end;
    }
    feed.files = files.ids();
    Ok(ReadFeed {
        feed,
        damaged,
        unusable: files.into_unusable(),
    })
}

/// Deletes blocks by their rows.
pub(super) fn delete_blocks(db: &Connection, rows: &[i64]) -> Outcome<()> {
    let mut delete = db.prepare_cached("DELETE FROM unit_blocks WHERE row = ?1")?;
    rows.iter().try_for_each(|it| delete.execute([it]).map(drop))?;
    Ok(())
}

/// Deletes the block in a row if it does not match its digest.
pub(super) fn delete_unreadable_block(db: &Connection, row: i64) -> Outcome<()> {
    match read_body(db, row)? {
        Some(_) => Ok(()),
        None => delete_blocks(db, &[row]),
    }
}

/// Returns the first units after `sequence` that are in no block of this version, up to `limit`.
pub(super) fn block_gap(
    db: &Connection,
    space: i64,
    sequence: u64,
    limit: usize,
    version: i64,
) -> Outcome<Option<BlockGap>> {
    let mut select = db.prepare_cached(
        "SELECT start, last FROM unit_blocks WHERE space = ?1 AND last > ?2 AND version = ?3 ORDER BY last",
    )?;
    let mut blocks = select.query((space, to_sql_integer(sequence), version))?;
    let mut at = sequence;
    loop {
        let block: Option<(i64, i64)> = match blocks.next()? {
            Some(row) => Some((row.get(0)?, row.get(1)?)),
            None => None,
        };
        let (start, last) = block.map_or((u64::MAX, u64::MAX), |it| {
            (from_sql_integer(it.0), from_sql_integer(it.1))
        });
        if start > at {
            let found = read_stored_changes(db, space, Interval { after: at, last: start }, limit)?;
            if !found.is_empty() {
                return Ok(Some(BlockGap {
                    after: at,
                    digests: found.iter().map(|it| it.digest).collect(),
                    changes: found.into_iter().map(|it| it.change).collect(),
                    is_end: block.is_none(),
                }));
            }
        }
        if block.is_none() {
            return Ok(None);
        }
        at = last;
    }
}

/// Stores a block in place of all that overlap it. Returns false, and changes nothing, if the units of its interval do
/// not have these digests.
pub(super) fn put_block(
    db: &Connection,
    space: i64,
    version: i64,
    block: &UnitBlock,
    digests: &[UnitDigest],
) -> Outcome<bool> {
    let (after, last) = (to_sql_integer(block.after), to_sql_integer(block.last));
    let mut select = db.prepare_cached(
        "SELECT digest FROM units WHERE space = ?1 AND sequence > ?2 AND sequence <= ?3 ORDER BY sequence",
    )?;
    let stored = select.query_map((space, after, last), |row| row.get::<_, Option<UnitDigest>>(0))?;
    let stored: Vec<Option<UnitDigest>> = stored.collect::<rusqlite::Result<_>>()?;
    if !stored.iter().map(Option::as_ref).eq(digests.iter().map(Some)) {
        return Ok(false);
    }
    while let Some(other) = next_block(db, space, block.after)?.filter(|it| it.after < block.last) {
        delete_blocks(db, &[other.row])?;
    }
    let mut put = db.prepare_cached(
        "INSERT INTO unit_blocks (space, start, last, version, body, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    put.execute(params![
        space,
        after,
        last,
        version,
        &block.body[..],
        digest::digest_of_body(&block.body)
    ])?;
    Ok(true)
}

/// Returns the first block that ends after `sequence`.
fn next_block(db: &Connection, space: i64, sequence: u64) -> Outcome<Option<BlockPlace>> {
    let mut select = db.prepare_cached(
        "SELECT row, start, last, version FROM unit_blocks WHERE space = ?1 AND last > ?2 ORDER BY last LIMIT 1",
    )?;
    let place = select.query_row((space, to_sql_integer(sequence)), |row| {
        Ok(BlockPlace {
            row: row.get(0)?,
            after: from_sql_integer(row.get(1)?),
            last: from_sql_integer(row.get(2)?),
            version: row.get(3)?,
        })
    });
    Ok(place.optional()?)
}

/// Returns the body of the block in a row; `None` if there is none, or if it does not match its digest.
pub(super) fn read_body(db: &Connection, row: i64) -> Outcome<Option<Vec<u8>>> {
    let mut select = db.prepare_cached("SELECT body, digest FROM unit_blocks WHERE row = ?1")?;
    let mut rows = select.query([row])?;
    let Some(found) = rows.next()? else { return Ok(None) };
    Ok(digest::verified_body(found, 0).ok().map(<[u8]>::to_vec))
}

fn read_changes(db: &Connection, space: i64, within: Interval, limit: usize) -> Outcome<Vec<Change>> {
    let found = read_stored_changes(db, space, within, limit)?;
    Ok(found.into_iter().map(|it| it.change).collect())
}

/// Returns up to `limit` units of an interval, by sequence number.
fn read_stored_changes(db: &Connection, space: i64, within: Interval, limit: usize) -> Outcome<Vec<StoredChange>> {
    let mut select = db.prepare_cached(
        "SELECT sequence, body, digest FROM units WHERE space = ?1 AND sequence > ?2 AND sequence <= ?3
         ORDER BY sequence LIMIT ?4",
    )?;
    let key = (
        space,
        to_sql_integer(within.after),
        to_sql_integer(within.last),
        to_sql_integer(limit),
    );
    let mut rows = select.query(key)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(StoredChange {
            change: Change {
                sequence: from_sql_integer(row.get(0)?),
                unit: digest::verified_value(row, 1)?,
            },
            digest: row.get(2)?,
        });
    }
    Ok(found)
}
