//! Webhooks of the API as rows.

use std::sync::Arc;

use async_trait::async_trait;
use domain::id::WebhookId;
use domain::port::{Result, Webhooks};
use domain::webhook::{StoredWebhook, WEBHOOKS_MAX};
use rusqlite::{Connection, OptionalExtension};

use super::{Durability, Failure, Outcome, Store, to_sql_integer};
use crate::outgoing::webhook::{id_is_taken, no_room};

/// Webhooks in the file.
pub(crate) struct StoredWebhooks(pub(crate) Arc<Store>);

#[async_trait]
impl Webhooks for StoredWebhooks {
    async fn create(&self, webhook: &StoredWebhook) -> Result<()> {
        let webhook = webhook.clone();
        let job = move |db: &Connection| create_webhook(db, &webhook);
        self.0.run_write("webhooks.create", Durability::Power, job).await
    }

    async fn list(&self) -> Result<Vec<StoredWebhook>> {
        let job = |db: &Connection| {
            let mut select = db.prepare_cached("SELECT body FROM webhooks ORDER BY id LIMIT ?1")?;
            let mut rows = select.query([to_sql_integer(WEBHOOKS_MAX)])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let body: Vec<u8> = row.get(0)?;
                found.push(serde_json::from_slice(&body).map_err(Failure::unreadable_body)?);
            }
            Ok(found)
        };
        self.0.run_read("webhooks.list", job).await
    }

    async fn replace(&self, webhook: &StoredWebhook) -> Result<bool> {
        let webhook = webhook.clone();
        let job = move |db: &Connection| {
            let mut update = db.prepare_cached("UPDATE webhooks SET body = ?2 WHERE id = ?1")?;
            Ok(update.execute((webhook.id.uuid().into_bytes(), webhook_body(&webhook)?))? > 0)
        };
        self.0.run_write("webhooks.replace", Durability::Power, job).await
    }

    async fn remove(&self, id: WebhookId) -> Result<bool> {
        let job = move |db: &Connection| {
            let mut delete = db.prepare_cached("DELETE FROM webhooks WHERE id = ?1")?;
            Ok(delete.execute([id.uuid().into_bytes()])? > 0)
        };
        self.0.run_write("webhooks.remove", Durability::Power, job).await
    }
}

fn create_webhook(db: &Connection, webhook: &StoredWebhook) -> Outcome<()> {
    let new = webhook_body(webhook)?;
    let stored_body: Option<Vec<u8>> = db
        .prepare_cached("SELECT body FROM webhooks WHERE id = ?1")?
        .query_row([webhook.id.uuid().into_bytes()], |row| row.get(0))
        .optional()?;
    match stored_body {
        Some(stored_body) if stored_body == new => return Ok(()),
        Some(_) => return Err(Failure::conflict(id_is_taken(webhook.id))),
        None => {}
    }
    let count: i64 = db
        .prepare_cached("SELECT count(*) FROM webhooks")?
        .query_row([], |row| row.get(0))?;
    if count >= to_sql_integer(WEBHOOKS_MAX) {
        return Err(Failure::conflict(no_room()));
    }
    db.prepare_cached("INSERT INTO webhooks (id, body) VALUES (?1, ?2)")?
        .execute((webhook.id.uuid().into_bytes(), new))?;
    Ok(())
}

fn webhook_body(webhook: &StoredWebhook) -> Outcome<Vec<u8>> {
    serde_json::to_vec(webhook).map_err(|error| Failure::invalid(error.to_string()))
}
