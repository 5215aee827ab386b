//! Erases a space in short steps; any process can continue them.
//!
//! First the space is marked: from then on it is neither read nor written. Then its nodes are deleted in chunks, and
//! finally the space itself. If an erasure stops halfway, the next call that erases the space or creates it again
//! continues.

use domain::PortError;
use domain::id::{InvalidSpace, SpaceId};
use domain::port::UnfinishedErasure;
use neo4rs::{Query, Row};

use super::client::{Client, query_for_space, read_column, read_natural, to_bolt_integer};
use super::error::damaged_error;
use super::node_keys::{Keys, key_range_of_namespace};
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

/// Deletes some nodes of a label. The lock prevents another process from finishing the erasure and creating the space
/// again in the meantime.
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
pub(super) async fn erase_space(client: &Client, operation: &'static str, keys: &Keys) -> Result<bool, PortError> {
    if client
        .run_write(operation, query_for_space(keys, MARK))
        .await?
        .is_empty()
    {
        return Ok(false);
    }
    continue_erasure(client, operation, keys).await?;
    Ok(true)
}

/// Continues the erasure of a marked space until it is gone.
pub(super) async fn continue_erasure(client: &Client, operation: &'static str, keys: &Keys) -> Result<(), PortError> {
    for text in CLEAR {
        let step = || -> Query {
            query_for_space(keys, text)
                .param("until", keys.key_range_end())
                .param("step", STEP)
        };
        while let Some(row) = client.run_write(operation, step()).await?.first() {
            if read_natural(operation, row, "gone")? == 0 {
                break;
            }
        }
    }
    client.run_write(operation, query_for_space(keys, END)).await?;
    Ok(())
}

/// Returns up to `limit` erasures that may be unfinished, by name; only the one of `space` if it is given.
pub(super) async fn unfinished_erasures(
    client: &Client,
    operation: &'static str,
    space: Option<&SpaceId>,
    limit: usize,
) -> Result<Vec<UnfinishedErasure>, PortError> {
    let (from, last) = match space {
        Some(space) => {
            let key = client.keys_of_space(space).space_key().to_owned();
            (key.clone(), key)
        }
        None => key_range_of_namespace(&client.namespace),
    };
    let query = neo4rs::query(UNFINISHED)
        .param("from", from)
        .param("last", last)
        .param("limit", to_bolt_integer(limit));
    let read = |row: &Row| -> Result<UnfinishedErasure, PortError> {
        let key: String = read_column(operation, row, "key")?;
        let created_at: String = read_column(operation, row, "created_at")?;
        let name = key.rsplit('/').next().unwrap_or_default();
        Ok(UnfinishedErasure {
            space: name
                .parse()
                .map_err(|error: InvalidSpace| damaged_error(operation, error))?,
            created_at: created_at
                .parse()
                .map_err(|error: chrono::ParseError| damaged_error(operation, error))?,
        })
    };
    client.run_read(operation, query).await?.iter().map(read).collect()
}

/// Completes a deletion that stopped halfway, and removes its note. The note of a later space of the same name stays.
pub(super) async fn finish_erasure(
    client: &Client,
    operation: &'static str,
    erasure: &UnfinishedErasure,
) -> Result<(), PortError> {
    let keys = client.keys_of_space(&erasure.space);
    continue_erasure(client, operation, &keys).await?;
    let query = query_for_space(&keys, FORGET).param("created_at", erasure.created_at.to_rfc3339());
    client.run_write(operation, query).await?;
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
