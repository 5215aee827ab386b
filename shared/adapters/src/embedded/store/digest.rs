//! Checksums of stored bodies. A body with a different digest was changed in the file, by a disk error or by hand; it
//! is not read.

use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Failure, Outcome};

/// Length of a digest, in bytes.
const BYTES: usize = 16;
/// Tables whose bodies have digests, with the name of one of their rows in messages.
const TABLES: [(&str, &str); 5] = [
    ("records", "record"),
    ("units", "unit"),
    ("derived", "derived object"),
    ("curations", "curation"),
    ("readings", "reading"),
];

/// Returns the digest of a body.
pub(super) fn digest_of_body(body: &[u8]) -> [u8; BYTES] {
    let mut digest = [0; BYTES];
    digest
        .iter_mut()
        .zip(Sha256::digest(body))
        .for_each(|(to, from)| *to = from);
    digest
}

/// Returns the value of the body in `column`; the digest of the body is in the next column.
///
/// # Errors
///
/// `Changed` if the digest is missing or does not match, `Body` if the body cannot be parsed.
pub(super) fn verified_value<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Outcome<T> {
    serde_json::from_slice(verified_body(row, column)?).map_err(Failure::unreadable_body)
}

/// Returns the body in `column`; its digest is in the next column.
///
/// # Errors
///
/// `Changed` if the digest is missing or does not match.
pub(super) fn verified_body<'row>(row: &'row Row<'_>, column: usize) -> Outcome<&'row [u8]> {
    let body = row.get_ref(column)?.as_blob().map_err(Failure::unreadable_body)?;
    let digest: Option<Vec<u8>> = row.get(column + 1)?;
    match digest {
        Some(digest) if digest == digest_of_body(body) => Ok(body),
        _ => Err(Failure::Changed),
    }
}

/// Returns a line for each row whose body was changed, up to `limit`: its type, id and space.
pub(super) fn changed_rows(db: &Connection, limit: usize) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    for (table, noun) in TABLES {
        let sql = format!(
            "SELECT it.body, it.digest, it.id, spaces.name FROM {table} it LEFT JOIN spaces ON spaces.row = it.space"
        );
        let mut statement = db.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            if verified_body(row, 0).is_err() {
                let id: [u8; 16] = row.get(2)?;
                let space: Option<String> = row.get(3)?;
                let (id, space) = (Uuid::from_bytes(id), space.unwrap_or_default());
                found.push(format!(
                    "{noun} {id} of space {space}: its content was changed in the file"
                ));
            }
        }
    }
    Ok(found)
}
