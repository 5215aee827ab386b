//! Webhooks of the API as nodes that belong to no space.

use std::sync::Arc;

use async_trait::async_trait;
use domain::id::WebhookId;
use domain::port::{Result, Webhooks};
use domain::webhook::{StoredWebhook, WEBHOOKS_MAX};
use domain::{ErrorKind, PortError};
use neo4rs::Query;

use super::client::{Client, body, column, integer, json, natural};
use super::keys::{id, named, spaces};
use crate::webhook::{id_is_taken, no_room};

const BODY: &str = "MATCH (w:Webhook {key: $key}) RETURN w.body AS body";
const COUNT: &str = "MATCH (w:Webhook) WHERE w.key > $from AND w.key < $until RETURN count(w) AS count";
/// An existing node is not changed; the caller compares the body to see whether the node is its own.
const CREATE: &str = "MERGE (w:Webhook {key: $key}) ON CREATE SET w.body = $body RETURN w.body AS body";
const LIST: &str = "MATCH (w:Webhook) WHERE w.key > $from AND w.key < $until
    RETURN w.body AS body ORDER BY w.key LIMIT $limit";
const REPLACE: &str = "MATCH (w:Webhook {key: $key}) SET w.body = $body RETURN 1 AS done";
const REMOVE: &str = "MATCH (w:Webhook {key: $key}) DELETE w RETURN 1 AS done";

/// Webhooks as nodes.
pub(super) struct NodeWebhooks(pub(super) Arc<Client>);

impl NodeWebhooks {
    fn on(&self, webhook: WebhookId, text: &'static str) -> Query {
        let key = named(&self.0.namespace, &id(webhook.uuid()));
        Query::new(text.to_owned()).param("key", key)
    }

    fn on_all(&self, text: &'static str) -> Query {
        let (from, until) = spaces(&self.0.namespace);
        Query::new(text.to_owned()).param("from", from).param("until", until)
    }

    /// Returns an error if the maximum number of webhooks is reached. Concurrent calls may each find the last place
    /// free.
    async fn find_room(&self, operation: &'static str) -> Result<()> {
        let rows = self.0.read(operation, self.on_all(COUNT)).await?;
        let count = rows.first().map(|it| natural(operation, it, "count")).transpose()?;
        if count.unwrap_or(0) < WEBHOOKS_MAX as u64 {
            return Ok(());
        }
        Err(PortError::new(operation, ErrorKind::Conflict, no_room()))
    }
}

#[async_trait]
impl Webhooks for NodeWebhooks {
    async fn create(&self, webhook: &StoredWebhook) -> Result<()> {
        const OPERATION: &str = "webhooks.create";
        let new = json(OPERATION, webhook)?;
        if self.0.read(OPERATION, self.on(webhook.id, BODY)).await?.is_empty() {
            self.find_room(OPERATION).await?;
        }
        let create = self.on(webhook.id, CREATE).param("body", new.clone());
        let rows = self.0.write(OPERATION, create).await?;
        let kept = rows.first().map(|it| column::<String>(OPERATION, it, "body"));
        if kept.transpose()?.as_ref() == Some(&new) {
            return Ok(());
        }
        Err(PortError::new(OPERATION, ErrorKind::Conflict, id_is_taken(webhook.id)))
    }

    async fn list(&self) -> Result<Vec<StoredWebhook>> {
        const OPERATION: &str = "webhooks.list";
        let query = self.on_all(LIST).param("limit", integer(WEBHOOKS_MAX));
        let rows = self.0.read(OPERATION, query).await?;
        rows.iter().map(|it| body(OPERATION, it)).collect()
    }

    async fn replace(&self, webhook: &StoredWebhook) -> Result<bool> {
        const OPERATION: &str = "webhooks.replace";
        let query = self.on(webhook.id, REPLACE).param("body", json(OPERATION, webhook)?);
        Ok(!self.0.write(OPERATION, query).await?.is_empty())
    }

    async fn remove(&self, id: WebhookId) -> Result<bool> {
        Ok(!self.0.write("webhooks.remove", self.on(id, REMOVE)).await?.is_empty())
    }
}
