//! Receipts of erasures as nodes that belong to no space, and counts of the remnants of erased data.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::erasure::{Erased, Receipt};
use domain::id::{ErasureId, SpaceId};
use domain::port::{Position, Receipts, Result};
use neo4rs::Row;

use crate::servers::neo4j::client::{
    Client, query_for_space, read_body, read_column, read_natural, to_bolt_integer, to_json,
};
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::installation_nodes::idempotency;
use crate::servers::neo4j::node_keys::id_to_hex;
use crate::servers::neo4j::schema::OWNED;
use crate::store_rules::receipts::{KEPT, REMEMBERED};

const KEEP: &str = "MERGE (r:Receipt {key: $prefix + $id})
    ON CREATE SET r.space = $space, r.position = $position, r.seconds = $seconds, r.nanos = $nanos,
      r.completed = $completed, r.body = $body
    WITH 1 AS kept
    CALL () {
      MATCH (old:Receipt) WHERE old.key > $prefix AND old.key < $until
      WITH old ORDER BY old.seconds DESC, old.nanos DESC, old.key SKIP $most
      DELETE old
    }
    RETURN kept";
const COMPLETE: &str = "MATCH (r:Receipt) WHERE r.key > $prefix AND r.key < $until AND r.position = $position
      AND r.completed IS NULL
    SET r.completed = $at";
const COMPLETE_ONE: &str = "MATCH (r:Receipt {key: $prefix + $id})
    WHERE r.space = $space AND r.completed IS NULL
    SET r.completed = $at";
const GET: &str = "MATCH (r:Receipt {key: $prefix + $id})
    WHERE r.space = $space RETURN r.body AS body, r.completed AS completed";
const LIST: &str = "MATCH (r:Receipt) WHERE r.key > $prefix + $after AND r.key < $until AND r.space = $space
    RETURN r.body AS body, r.completed AS completed ORDER BY r.key LIMIT $limit";
// RFC 3339 times with the same offset sort like their texts.
const COMPLETED_SINCE: &str = "MATCH (r:Receipt)
    WHERE r.key > $prefix + $after AND r.key < $until AND r.space = $space AND r.completed >= $since
    RETURN r.body AS body, r.completed AS completed ORDER BY r.key LIMIT $limit";

/// Counts the nodes of a label if the space is gone, is being erased, or is the one created at the given time.
macro_rules! count {
    ($label:literal) => {
        concat!(
            "OPTIONAL MATCH (s:Space {key: $space})
             WITH s WHERE s IS NULL OR s.created_at = $created_at
             MATCH (n:",
            $label,
            ") WHERE n.key > $prefix AND n.key < $until RETURN count(n) AS count"
        )
    };
}

/// One statement per label, in the order of [`OWNED`].
const COUNT: [&str; OWNED.len()] = [
    count!("Claim"),
    count!("Remembered"),
    count!("Written"),
    count!("Record"),
    count!("Unit"),
    count!("Derived"),
    count!("Curation"),
    count!("Note"),
    count!("Reading"),
    count!("Wanted"),
];
/// Names of the counts of labels, in the order of [`OWNED`]; the same as the table names of the embedded store.
const COUNTED: [&str; OWNED.len()] = [
    "claims",
    REMEMBERED,
    "written",
    "records",
    "units",
    "derived",
    "curations",
    "notes",
    "readings",
    "wanted_sessions",
];

/// Receipts as nodes.
pub(crate) struct NodeReceipts(pub(crate) Arc<Client>);

#[async_trait]
impl Receipts for NodeReceipts {
    async fn put_receipt(&self, receipt: &Receipt) -> Result<()> {
        const OPERATION: &str = "receipts.keep";
        let keys = self.0.keys_of_space(&receipt.space);
        let query = query_for_space(&keys, KEEP)
            .param("id", id_to_hex(receipt.id.uuid()))
            .param("until", keys.key_range_end())
            .param("position", to_bolt_integer(receipt.position.0))
            .param("seconds", receipt.requested_at.timestamp())
            .param("nanos", to_bolt_integer(receipt.requested_at.timestamp_subsec_nanos()))
            .param("completed", receipt.completed_at.map(|it| it.to_rfc3339()))
            .param("body", to_json(OPERATION, receipt)?)
            .param("most", to_bolt_integer(KEPT));
        self.0.run_write(OPERATION, query).await.map(drop)
    }

    async fn complete(&self, space: &SpaceId, position: Position, at: DateTime<Utc>) -> Result<()> {
        let keys = self.0.keys_of_space(space);
        let query = query_for_space(&keys, COMPLETE)
            .param("until", keys.key_range_end())
            .param("position", to_bolt_integer(position.0))
            .param("at", at.to_rfc3339());
        self.0.run_write("receipts.complete", query).await.map(drop)
    }

    async fn complete_one(&self, space: &SpaceId, id: ErasureId, at: DateTime<Utc>) -> Result<()> {
        let query = query_for_space(&self.0.keys_of_space(space), COMPLETE_ONE)
            .param("id", id_to_hex(id.uuid()))
            .param("at", at.to_rfc3339());
        self.0.run_write("receipts.complete_one", query).await.map(drop)
    }

    async fn get(&self, space: &SpaceId, erasure: ErasureId) -> Result<Option<Receipt>> {
        const OPERATION: &str = "receipts.get";
        let query = query_for_space(&self.0.keys_of_space(space), GET).param("id", id_to_hex(erasure.uuid()));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.first().map(|it| receipt_from_row(OPERATION, it)).transpose()
    }

    async fn list(&self, space: &SpaceId, after: Option<ErasureId>, limit: usize) -> Result<Vec<Receipt>> {
        const OPERATION: &str = "receipts.list";
        let keys = self.0.keys_of_space(space);
        let query = query_for_space(&keys, LIST)
            .param("after", after.map(|it| id_to_hex(it.uuid())).unwrap_or_default())
            .param("until", keys.key_range_end())
            .param("limit", to_bolt_integer(limit));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| receipt_from_row(OPERATION, it)).collect()
    }

    async fn completed_since(
        &self,
        space: &SpaceId,
        since: DateTime<Utc>,
        after: Option<ErasureId>,
        limit: usize,
    ) -> Result<Vec<Receipt>> {
        const OPERATION: &str = "receipts.completed_since";
        let keys = self.0.keys_of_space(space);
        let query = query_for_space(&keys, COMPLETED_SINCE)
            .param("after", after.map(|it| id_to_hex(it.uuid())).unwrap_or_default())
            .param("until", keys.key_range_end())
            .param("since", since.to_rfc3339())
            .param("limit", to_bolt_integer(limit));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| receipt_from_row(OPERATION, it)).collect()
    }

    async fn count_remaining_data(&self, space: &SpaceId, erased: &Erased) -> Result<BTreeMap<String, u64>> {
        const OPERATION: &str = "receipts.remnants";
        let created_at = match erased {
            Erased::Records(ids) => {
                let response_count = idempotency::count_responses_naming(&self.0, OPERATION, space, ids).await?;
                return Ok(BTreeMap::from([(REMEMBERED.to_owned(), response_count)]));
            }
            Erased::Space { created_at } => created_at.to_rfc3339(),
        };
        let keys = self.0.keys_of_space(space);
        let mut found = BTreeMap::new();
        for (name, text) in COUNTED.into_iter().zip(COUNT) {
            let query = query_for_space(&keys, text)
                .param("until", keys.key_range_end())
                .param("created_at", created_at.clone());
            let rows = self.0.run_read(OPERATION, query).await?;
            let count = rows
                .first()
                .map(|it| read_natural(OPERATION, it, "count"))
                .transpose()?;
            found.insert(name.to_owned(), count.unwrap_or(0));
        }
        Ok(found)
    }
}

fn receipt_from_row(operation: &'static str, row: &Row) -> Result<Receipt> {
    let mut receipt: Receipt = read_body(operation, row)?;
    let completed: Option<String> = read_column(operation, row, "completed")?;
    let completed = completed.map(|it| it.parse()).transpose();
    receipt.completed_at = completed.map_err(|error: chrono::ParseError| damaged_error(operation, error))?;
    Ok(receipt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remnants_of_every_label_are_counted() {
        for (label, text) in OWNED.iter().zip(COUNT) {
            assert!(text.contains(&format!("(n:{label})")), "{label}");
        }
    }
}
