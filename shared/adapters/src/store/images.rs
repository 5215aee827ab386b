//! Images of units: data that a reader computed from them. Triggers delete the image of a unit whenever the unit
//! changes.

use domain::port::{Change, Image, ImagedChange};
use rusqlite::{Connection, params};

use super::{Outcome, digest, integer, natural};

/// Returns up to `limit` changes after a sequence number, with the images of a version.
pub(super) fn changes(
    db: &Connection,
    space: i64,
    sequence: u64,
    limit: usize,
    version: i64,
) -> Outcome<Vec<ImagedChange>> {
    let mut statement = db.prepare_cached(
        "SELECT units.sequence, units.body, units.digest, images.body, images.digest FROM units
         LEFT JOIN images ON images.row = units.row AND images.version = ?4
         WHERE units.space = ?1 AND units.sequence > ?2 ORDER BY units.sequence LIMIT ?3",
    )?;
    let mut rows = statement.query((space, integer(sequence), integer(limit), version))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // A unit without its image is just computed again.
        let image = digest::verified_body(row, 3).ok().map(<[u8]>::to_vec);
        found.push(ImagedChange {
            change: Change {
                sequence: natural(row.get(0)?),
                unit: digest::verified(row, 1)?,
            },
            image,
        });
    }
    Ok(found)
}

/// Stores the images of units that did not change since they were computed.
pub(super) fn put(db: &Connection, space: i64, version: i64, images: &[Image]) -> Outcome<()> {
    let mut put = db.prepare_cached(
        "INSERT OR REPLACE INTO images (row, version, body, digest)
         SELECT row, ?4, ?5, ?6 FROM units WHERE space = ?1 AND id = ?2 AND sequence = ?3 AND removed = 0",
    )?;
    for it in images {
        put.execute(params![
            space,
            it.unit.uuid().as_bytes(),
            integer(it.sequence),
            version,
            it.body,
            digest::of(&it.body)
        ])?;
    }
    Ok(())
}
