//! Receipts of erasures as rows, and counts of the remnants of erased data in the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use domain::erasure::{Erased, Receipt};
use domain::id::{ErasureId, SpaceId};
use domain::port::{Position, Receipts, Result};
use rusqlite::{Connection, Row, params};

use super::space_erasure::OWNED;
use super::{Durability, Failure, Outcome, Store, from_sql_integer, idempotency, space_row, to_sql_integer};
use crate::store_rules::receipts::{KEPT, REMEMBERED};

/// Tables that contain the name of a space: those of the message queue.
const BY_NAME: [&str; 4] = ["messages", "pending", "dedup_keys", "dead_letters"];

/// Receipts in the file.
pub(crate) struct StoredReceipts(pub(crate) Arc<Store>);

#[async_trait]
impl Receipts for StoredReceipts {
    async fn put_receipt(&self, receipt: &Receipt) -> Result<()> {
        let receipt = receipt.clone();
        let job = move |db: &Connection| keep_receipt(db, &receipt);
        self.0.run_write("receipts.keep", Durability::Power, job).await
    }

    async fn complete(&self, space: &SpaceId, position: Position, at: DateTime<Utc>) -> Result<()> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let mut update = db.prepare_cached(
                "UPDATE receipts SET completed = ?3 WHERE space = ?1 AND position = ?2 AND completed IS NULL",
            )?;
            update.execute((space.as_str(), to_sql_integer(position.0), at.to_rfc3339()))?;
            Ok(())
        };
        self.0.run_write("receipts.complete", Durability::Power, job).await
    }

    async fn complete_one(&self, space: &SpaceId, id: ErasureId, at: DateTime<Utc>) -> Result<()> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let mut update = db.prepare_cached(
                "UPDATE receipts SET completed = ?3 WHERE space = ?1 AND id = ?2 AND completed IS NULL",
            )?;
            update.execute(params![space.as_str(), id.uuid().as_bytes(), at.to_rfc3339()])?;
            Ok(())
        };
        self.0.run_write("receipts.complete_one", Durability::Power, job).await
    }

    async fn get(&self, space: &SpaceId, id: ErasureId) -> Result<Option<Receipt>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let mut select = db.prepare_cached("SELECT body, completed FROM receipts WHERE space = ?1 AND id = ?2")?;
            let mut rows = select.query(params![space.as_str(), id.uuid().as_bytes()])?;
            rows.next()?.map(receipt_from_row).transpose()
        };
        self.0.run_read("receipts.get", job).await
    }

    async fn list(&self, space: &SpaceId, after: Option<ErasureId>, limit: usize) -> Result<Vec<Receipt>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let mut select = db.prepare_cached(
                "SELECT body, completed FROM receipts WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )?;
            // The empty blob sorts before every id.
            let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
            let mut rows = select.query((space.as_str(), after, to_sql_integer(limit)))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(receipt_from_row(row)?);
            }
            Ok(found)
        };
        self.0.run_read("receipts.list", job).await
    }

    async fn completed_since(
        &self,
        space: &SpaceId,
        since: DateTime<Utc>,
        after: Option<ErasureId>,
        limit: usize,
    ) -> Result<Vec<Receipt>> {
        let space = space.clone();
        let job = move |db: &Connection| {
            // RFC 3339 times with the same offset sort like their texts.
            let mut select = db.prepare_cached(
                "SELECT body, completed FROM receipts WHERE space = ?1 AND id > ?2 AND completed >= ?3
                 ORDER BY id LIMIT ?4",
            )?;
            let after = after.map(|it| it.uuid().as_bytes().to_vec()).unwrap_or_default();
            let mut rows = select.query((space.as_str(), after, since.to_rfc3339(), to_sql_integer(limit)))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(receipt_from_row(row)?);
            }
            Ok(found)
        };
        self.0.run_read("receipts.completed_since", job).await
    }

    async fn count_remaining_data(&self, space: &SpaceId, erased: &Erased) -> Result<BTreeMap<String, u64>> {
        let (space, erased) = (space.clone(), erased.clone());
        let job = move |db: &Connection| match &erased {
            Erased::Records(ids) => {
                let response_count = match space_row(db, &space)? {
                    Some(row) => idempotency::rows_naming_records(db, row, ids)?.len() as u64,
                    None => 0,
                };
                Ok(BTreeMap::from([(REMEMBERED.to_owned(), response_count)]))
            }
            Erased::Space { created_at } => of_space(db, &space, *created_at),
        };
        self.0.run_read("receipts.remnants", job).await
    }
}

fn keep_receipt(db: &Connection, receipt: &Receipt) -> Outcome<()> {
    let body = serde_json::to_vec(receipt).map_err(|error| Failure::invalid(error.to_string()))?;
    let (space, at) = (receipt.space.as_str(), receipt.requested_at);
    let mut insert =
        db.prepare_cached("INSERT INTO receipts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING")?;
    insert.execute(params![
        space,
        receipt.id.uuid().as_bytes(),
        to_sql_integer(receipt.position.0),
        at.timestamp(),
        at.timestamp_subsec_nanos(),
        receipt.completed_at.map(|it| it.to_rfc3339()),
        body
    ])?;
    let mut forget = db.prepare_cached(
        "DELETE FROM receipts WHERE space = ?1 AND id IN
         (SELECT id FROM receipts WHERE space = ?1 ORDER BY seconds DESC, nanos DESC, id LIMIT -1 OFFSET ?2)",
    )?;
    forget.execute((space, to_sql_integer(KEPT)))?;
    Ok(())
}

fn receipt_from_row(row: &Row<'_>) -> Outcome<Receipt> {
    let body: Vec<u8> = row.get(0)?;
    let completed: Option<String> = row.get(1)?;
    let mut receipt: Receipt = serde_json::from_slice(&body).map_err(Failure::unreadable_body)?;
    receipt.completed_at = completed
        .map(|it| it.parse())
        .transpose()
        .map_err(Failure::unreadable_body)?;
    Ok(receipt)
}

/// A space that exists or is being erased.
struct CreatedSpace {
    row: i64,
    created_at: DateTime<Utc>,
}

/// Returns the spaces with a name in `spaces` or `deleted_spaces`.
fn created_spaces(db: &Connection, table: &str, name: &SpaceId) -> Outcome<Vec<CreatedSpace>> {
    let mut select = db.prepare_cached(&format!("SELECT row, created_at FROM {table} WHERE name = ?1"))?;
    let mut rows = select.query([name.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let created_at: String = row.get(1)?;
        found.push(CreatedSpace {
            row: row.get(0)?,
            created_at: created_at.parse().map_err(Failure::unreadable_body)?,
        });
    }
    Ok(found)
}

/// Counts the rows of the space that was created at `created_at`, by table; also rows without a space, which only a
/// broken erasure leaves. A deleted space has rows until its erasure is finished.
fn of_space(db: &Connection, space: &SpaceId, created_at: DateTime<Utc>) -> Outcome<BTreeMap<String, u64>> {
    let stored = created_spaces(db, "spaces", space)?;
    let deleted = created_spaces(db, "deleted_spaces", space)?;
    let target = stored.iter().chain(&deleted).find(|it| it.created_at == created_at);
    let row = target.map(|it| it.row);
    let mut found = BTreeMap::new();
    for table in &OWNED {
        let name = table.name;
        let text = format!(
            "SELECT count(*) FROM {name} WHERE space = ?1
               OR space NOT IN (SELECT row FROM spaces UNION ALL SELECT row FROM deleted_spaces)"
        );
        let count: i64 = db.prepare_cached(&text)?.query_row([row], |row| row.get(0))?;
        found.insert(name.to_owned(), from_sql_integer(count));
    }
    // Rows of a later space with this name do not count.
    let has_own = stored.iter().all(|it| it.created_at == created_at);
    for table in BY_NAME {
        let text = format!("SELECT count(*) FROM {table} WHERE space = ?1 AND ?2");
        let count: i64 = db
            .prepare_cached(&text)?
            .query_row((space.as_str(), has_own), |row| row.get(0))?;
        found.insert(table.to_owned(), from_sql_integer(count));
    }
    Ok(found)
}
