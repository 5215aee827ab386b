//! Erasing a space, in steps that are each short and that anybody may go on with.
//!
//! First the space is marked: from then on nothing is read from it or written to it. Then its nodes go, some at a time,
//! and at last the space itself. Whoever erases it again, or makes it anew, after an erasure that stopped midway goes on.

use domain::PortError;
use domain::id::{InvalidSpace, SpaceId};
use domain::port::UnfinishedErasure;
use neo4rs::{Query, Row};

use super::client::{Client, column, integer, natural, on};
use super::error::damaged;
use super::keys::{Keys, spaces};
use super::schema::OWNED;

/// Nodes that leave in one step, with their relationships.
const STEP: i64 = 1_000;

/// The note has the key of its space, and stays when that is gone.
const MARK: &str = "MATCH (s:Space {key: $space}) SET s.erasing = true
    MERGE (e:Erasure {key: $space}) SET e.created_at = s.created_at
    RETURN 1 AS marked";
const UNFINISHED: &str = "MATCH (e:Erasure) WHERE e.key >= $from AND e.key <= $last
    RETURN e.key AS key, e.created_at AS created_at ORDER BY key LIMIT $limit";
const FORGET: &str = "MATCH (e:Erasure {key: $space}) WHERE e.created_at = $created_at DELETE e";
const END: &str = "MATCH (s:Space {key: $space}) SET s.lock = true WITH s WHERE s.erasing IS NOT NULL DELETE s";

/// Removes some nodes of a label. The lock keeps out whoever would finish the erasure and make the space anew meanwhile.
macro_rules! clear {
    ($label:literal) => {
        concat!(
            "MATCH (s:Space {key: $space}) SET s.lock = true WITH s WHERE s.erasing IS NOT NULL
             MATCH (n:",
            $label,
            ") WHERE n.key > $prefix AND n.key < $until WITH n LIMIT $step DETACH DELETE n RETURN count(*) AS gone"
        )
    };
}

/// One statement a label, in the order of [`OWNED`].
const CLEAR: [&str; OWNED.len()] = [
    clear!("Claim"),
    clear!("Remembered"),
    clear!("Written"),
    clear!("Record"),
    clear!("Unit"),
    clear!("Derived"),
    clear!("Curation"),
    clear!("Note"),
    clear!("Reading"),
    clear!("Wanted"),
];

/// Erases a space; false if it is unknown.
pub(super) async fn erase(client: &Client, operation: &'static str, keys: &Keys) -> Result<bool, PortError> {
    if client.write(operation, on(keys, MARK)).await?.is_empty() {
        return Ok(false);
    }
    finish(client, operation, keys).await?;
    Ok(true)
}

/// Goes on with the erasure of a marked space until it is gone.
pub(super) async fn finish(client: &Client, operation: &'static str, keys: &Keys) -> Result<(), PortError> {
    for text in CLEAR {
        let step = || -> Query { on(keys, text).param("until", keys.until()).param("step", STEP) };
        while let Some(row) = client.write(operation, step()).await?.first() {
            if natural(operation, row, "gone")? == 0 {
                break;
            }
        }
    }
    client.write(operation, on(keys, END)).await?;
    Ok(())
}

/// Returns up to `limit` erasures that are not known to be finished, by name; only that of `space` if one is given.
pub(super) async fn unfinished(
    client: &Client,
    operation: &'static str,
    space: Option<&SpaceId>,
    limit: usize,
) -> Result<Vec<UnfinishedErasure>, PortError> {
    let (from, last) = match space {
        Some(space) => {
            let key = client.keys(space).space().to_owned();
            (key.clone(), key)
        }
        None => spaces(&client.namespace),
    };
    let query = neo4rs::query(UNFINISHED)
        .param("from", from)
        .param("last", last)
        .param("limit", integer(limit));
    let read = |row: &Row| -> Result<UnfinishedErasure, PortError> {
        let key: String = column(operation, row, "key")?;
        let created_at: String = column(operation, row, "created_at")?;
        let name = key.rsplit('/').next().unwrap_or_default();
        Ok(UnfinishedErasure {
            space: name.parse().map_err(|error: InvalidSpace| damaged(operation, error))?,
            created_at: created_at
                .parse()
                .map_err(|error: chrono::ParseError| damaged(operation, error))?,
        })
    };
    client.read(operation, query).await?.iter().map(read).collect()
}

/// Completes a deletion that stopped midway, and removes its note, unless that is of a later space of the name.
pub(super) async fn forget(
    client: &Client,
    operation: &'static str,
    erasure: &UnfinishedErasure,
) -> Result<(), PortError> {
    let keys = client.keys(&erasure.space);
    finish(client, operation, &keys).await?;
    let query = on(&keys, FORGET).param("created_at", erasure.created_at.to_rfc3339());
    client.write(operation, query).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_cleared() {
        for (label, text) in OWNED.iter().zip(CLEAR) {
            assert!(text.contains(&format!("(n:{label})")), "{label}");
        }
    }
}
