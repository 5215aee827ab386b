//! The rows of the points.

use std::io;

use domain::id::{SpaceId, UnitId};
use domain::port::{Generation, Point, PointsCursor, PointsPage};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::block::Block;
use super::image::Image;
use super::image_rows::{self, StoredImage};
use crate::embedded::mapped_files::FileFolder;
use crate::embedded::store::{
    Failure, Outcome, dense_blob, dense_of, from_sql_integer, known_space, sparse_blob, sparse_of,
};

pub(super) fn put_points(db: &Connection, space: i64, points: &[Point], retired: &[UnitId]) -> Outcome<()> {
    let mut remove = db.prepare_cached("DELETE FROM points WHERE space = ?1 AND unit = ?2")?;
    for unit in retired {
        remove.execute(params![space, unit.uuid().as_bytes()])?;
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO points (space, unit, part, observed_at, dense, words, pieces, generation)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, (SELECT generation FROM spaces WHERE row = ?1))
         ON CONFLICT (space, unit, part) DO UPDATE SET
           observed_at = ?4, dense = ?5, words = ?6, pieces = ?7, generation = excluded.generation",
    )?;
    for it in points {
        let (dense, words, pieces) = (dense_blob(&it.dense), sparse_blob(&it.words), sparse_blob(&it.pieces));
        insert.execute(params![
            space,
            it.unit.uuid().as_bytes(),
            it.part,
            it.observed_at,
            dense,
            words,
            pieces
        ])?;
    }
    Ok(())
}

/// Returns points in the order of their rows.
pub(super) fn list_points(
    db: &Connection,
    space: i64,
    after: Option<PointsCursor>,
    limit: usize,
) -> Outcome<PointsPage> {
    let after = after.map_or(0, |it| i64::try_from(it.0).unwrap_or(i64::MAX));
    let mut select =
        db.prepare_cached("SELECT row, unit, part FROM points WHERE space = ?1 AND row > ?2 ORDER BY row LIMIT ?3")?;
    let mut rows = select.query(params![space, after, i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let (mut found, mut last) = (Vec::new(), 0_i64);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        found.push((UnitId::from_uuid(Uuid::from_bytes(row.get(1)?)), row.get(2)?));
    }
    let more = found.len() == limit && limit > 0;
    Ok((found, more.then_some(PointsCursor(u128::from(from_sql_integer(last))))))
}

pub(super) fn switch_generation(db: &Connection, space: &SpaceId, generation: Generation) -> Outcome<()> {
    let row = known_space(db, space)?;
    let mut select = db.prepare_cached("SELECT generation, building FROM spaces WHERE row = ?1")?;
    let (last, building): (i64, bool) = select.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if last != generation.0 {
        return Err(Failure::conflict("another generation has begun since"));
    }
    if building {
        db.execute("DELETE FROM points WHERE space = ?1 AND generation < ?2", (row, last))?;
        db.execute("UPDATE spaces SET building = 0 WHERE row = ?1", [row])?;
    }
    Ok(())
}

/// Reads a space: its image, if it has one that is sound, and the points that were added since.
pub(super) fn read_block(db: &Connection, space: i64, dimension: usize, images: &FileFolder) -> Outcome<Block> {
    let saved = image_rows::find_image(db, space)?.and_then(|image| {
        let block = block_of_image(&image, dimension, images);
        let warn = |error: &io::Error| tracing::warn!(%error, "an image of the index cannot be used; it is made again");
        block.inspect_err(warn).ok().map(|it| (it, image.last_row))
    });
    let (mut block, last_row) = saved.unwrap_or_else(|| (Block::new(dimension), 0));
    let mut select = db.prepare_cached(
        "SELECT unit, part, observed_at, dense, words, pieces FROM points WHERE space = ?1 AND row > ?2 ORDER BY row",
    )?;
    let mut rows = select.query([space, last_row])?;
    while let Some(row) = rows.next()? {
        let point = point_from_row(row)?;
        if point.dense.len() != dimension {
            return Err(Failure::unreadable_body("a stored vector has another length"));
        }
        block.insert(&point);
    }
    block.release_spare_memory();
    tracing::debug!(
        points = block.len(),
        in_image = block.image_slots(),
        bytes = block.memory_bytes(),
        "space loaded into the index"
    );
    Ok(block)
}

fn block_of_image(stored: &StoredImage, dimension: usize, images: &FileFolder) -> io::Result<Block> {
    let file = images.map_verified(stored.id, &stored.digest)?;
    let image = Image::from_file(&file).filter(|it| it.head.dimension == dimension);
    image.map(Block::from_image).ok_or(io::ErrorKind::InvalidData.into())
}

fn point_from_row(row: &Row<'_>) -> Outcome<Point> {
    let blob = |column| {
        row.get_ref(column)
            .map_err(Failure::from)?
            .as_blob()
            .map_err(Failure::unreadable_body)
    };
    Ok(Point {
        unit: UnitId::from_uuid(Uuid::from_bytes(row.get(0)?)),
        part: row.get(1)?,
        observed_at: row.get(2)?,
        dense: dense_of(blob(3)?)?,
        words: sparse_of(blob(4)?)?,
        pieces: sparse_of(blob(5)?)?,
    })
}
