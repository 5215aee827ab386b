//! The rows of the images: which points each of them holds. A trigger deletes the row when one of these points changes.

use rusqlite::{Connection, OptionalExtension};

use crate::embedded::mapped_files::{FileDigest, FileNumber};
use crate::embedded::store::Outcome;

/// An image that was written.
pub(super) struct StoredImage {
    pub(super) id: FileNumber,
    /// The last row of a point in it.
    pub(super) last_row: i64,
    pub(super) digest: FileDigest,
}

/// Notes that an image of all points of a space is being written; `None` if the space was deleted or has no points.
pub(super) fn begin_image(db: &Connection, space: i64) -> Outcome<Option<FileNumber>> {
    let mut insert = db.prepare_cached(
        "INSERT INTO point_images (space, last_row)
         SELECT spaces.row, max(points.row) FROM spaces JOIN points ON points.space = spaces.row
         WHERE spaces.row = ?1 GROUP BY spaces.row RETURNING id",
    )?;
    let id = insert.query_row([space], |row| row.get(0).map(FileNumber));
    Ok(id.optional()?)
}

/// Notes the digest of an image in place of the images before it, unless one of its points has changed meanwhile.
pub(super) fn complete_image(db: &Connection, id: FileNumber, digest: &FileDigest) -> Outcome<()> {
    let changed = db.execute("UPDATE point_images SET digest = ?2 WHERE id = ?1", (id.0, digest))?;
    if changed > 0 {
        db.execute(
            "DELETE FROM point_images WHERE id < ?1 AND space = (SELECT space FROM point_images WHERE id = ?1)",
            [id.0],
        )?;
    }
    Ok(())
}

/// Deletes the note of an image that was not written.
pub(super) fn delete_image(db: &Connection, id: FileNumber) -> Outcome<()> {
    db.execute("DELETE FROM point_images WHERE id = ?1", [id.0])?;
    Ok(())
}

/// Returns the newest complete image of a space.
pub(super) fn find_image(db: &Connection, space: i64) -> Outcome<Option<StoredImage>> {
    let mut select = db.prepare_cached(
        "SELECT id, last_row, digest FROM point_images WHERE space = ?1 AND digest IS NOT NULL
         ORDER BY id DESC LIMIT 1",
    )?;
    let image = select.query_row([space], |row| {
        Ok(StoredImage {
            id: FileNumber(row.get(0)?),
            last_row: row.get(1)?,
            digest: row.get(2)?,
        })
    });
    Ok(image.optional()?)
}

/// Returns the number of images of a space, also those that are being written.
pub(super) fn count_images(db: &Connection, space: i64) -> Outcome<i64> {
    let mut select = db.prepare_cached("SELECT count(*) FROM point_images WHERE space = ?1")?;
    Ok(select.query_row([space], |row| row.get(0))?)
}

/// Returns the images of all spaces, also those that are being written.
pub(super) fn live_images(db: &Connection) -> Outcome<Vec<FileNumber>> {
    let mut select = db.prepare_cached("SELECT id FROM point_images")?;
    let images = select.query_map([], |row| row.get(0).map(FileNumber))?;
    Ok(images.collect::<rusqlite::Result<_>>()?)
}
