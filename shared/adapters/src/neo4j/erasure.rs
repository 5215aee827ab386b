//! Erasing a space, in steps that are each short and that anybody may go on with.
//!
//! First the space is marked: from then on nothing is read from it or written to it. Then its nodes go, some at a time,
//! and at last the space itself. Whoever erases it again, or makes it anew, after an erasure that stopped midway goes on.

use domain::PortError;
use neo4rs::Query;

use super::client::{Client, natural, on};
use super::keys::Keys;
use super::schema::OWNED;

/// Nodes that leave in one step, with their relationships.
const STEP: i64 = 1_000;

const MARK: &str = "MATCH (s:Space {key: $space}) SET s.erasing = true RETURN 1 AS marked";
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
