//! Erases a space in short steps; any process can continue them.
//!
//! First the space is marked: from then on it is neither read nor written. Then its nodes are deleted in chunks, and
//! finally the space itself. If an erasure stops halfway, the next call that erases the space or creates it again
//! continues.

use domain::PortError;
use domain::id::{InvalidSpace, SpaceId};
use domain::port::UnfinishedErasure;
use neo4rs::{Query, Row};

use super::client::{Client, column, integer, natural, on};
use super::error::damaged;
use super::keys::{Keys, spaces};
use super::schema::OWNED;

/// Number of nodes that one step deletes, with their relationships.
const STEP: i64 = 1_000;

/// The note has the same key as its space, and remains when the space is gone.
const MARK: &str = "MATCH (s:Space {key: $space}) SET s.erasing = true
    MERGE (e:Erasure {key: $space}) SET e.created_at = s.created_at
    RETURN 1 AS marked";
const UNFINISHED: &str = "MATCH (e:Erasure) WHERE e.key >= $from AND e.key <= $last
    RETURN e.key AS key, e.created_at AS created_at ORDER BY key LIMIT $limit";
const FORGET: &str = "MATCH (e:Erasure {key: $space}) WHERE e.created_at = $created_at DELETE e";
const END: &str = "MATCH (s:Space {key: $space}) SET s.lock = true WITH s WHERE s.erasing IS NOT NULL DELETE s";

/// Deletes some nodes of a label. The lock prevents that another process finishes the erasure and creates the space
/// again meanwhile.
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

/// One statement per label, in the order of [`OWNED`].
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

/// Erases a space. Returns false if it is unknown.
pub(super) async fn erase(client: &Client, operation: &'static str, keys: &Keys) -> Result<bool, PortError> {
    if client.write(operation, on(keys, MARK)).await?.is_empty() {
        return Ok(false);
    }
    finish(client, operation, keys).await?;
    Ok(true)
}

/// Continues the erasure of a marked space until it is gone.
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

/// Returns up to `limit` erasures that may be unfinished, by name; only the one of `space` if it is given.
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

/// Completes a deletion that stopped halfway, and removes its note. The note of a later space of the same name stays.
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
    fn an_erasure_deletes_nodes_of_every_label() {
        for (label, text) in OWNED.iter().zip(CLEAR) {
            assert!(text.contains(&format!("(n:{label})")), "{label}");
        }
    }
}
