//! Webhooks of the API as nodes that belong to no space.

use std::sync::Arc;

use async_trait::async_trait;
use domain::id::WebhookId;
use domain::port::{Result, Webhooks};
use domain::webhook::{StoredWebhook, WEBHOOKS_MAX};
use domain::{ErrorKind, PortError};
use neo4rs::Query;

use crate::outgoing::webhook::{id_is_taken, no_room};
use crate::servers::neo4j::client::{Client, read_body, read_column, read_natural, to_bolt_integer, to_json};
use crate::servers::neo4j::node_keys::{id_to_hex, key_of_name, key_range_of_namespace};

const BODY: &str = "MATCH (w:Webhook {key: $key}) RETURN w.body AS body";
const COUNT: &str = "MATCH (w:Webhook) WHERE w.key > $from AND w.key < $until RETURN count(w) AS count";
/// An existing node is not changed; the caller compares the body to see whether the node is its own.
const CREATE: &str = "MERGE (w:Webhook {key: $key}) ON CREATE SET w.body = $body RETURN w.body AS body";
const LIST: &str = "MATCH (w:Webhook) WHERE w.key > $from AND w.key < $until
    RETURN w.body AS body ORDER BY w.key LIMIT $limit";
const REPLACE: &str = "MATCH (w:Webhook {key: $key}) SET w.body = $body RETURN 1 AS done";
const REMOVE: &str = "MATCH (w:Webhook {key: $key}) DELETE w RETURN 1 AS done";

/// Webhooks as nodes.
pub(crate) struct NodeWebhooks(pub(crate) Arc<Client>);

impl NodeWebhooks {
    fn query_for_webhook(&self, webhook: WebhookId, text: &'static str) -> Query {
        let key = key_of_name(&self.0.namespace, &id_to_hex(webhook.uuid()));
        Query::new(text.to_owned()).param("key", key)
    }

    fn on_all(&self, text: &'static str) -> Query {
        let (from, until) = key_range_of_namespace(&self.0.namespace);
        Query::new(text.to_owned()).param("from", from).param("until", until)
    }

    /// Returns an error if the maximum number of webhooks is reached. Concurrent calls may each find the last place
    /// free.
    async fn find_room(&self, operation: &'static str) -> Result<()> {
        let rows = self.0.run_read(operation, self.on_all(COUNT)).await?;
        let count = rows
            .first()
            .map(|it| read_natural(operation, it, "count"))
            .transpose()?;
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
        let new = to_json(OPERATION, webhook)?;
        if self
            .0
            .run_read(OPERATION, self.query_for_webhook(webhook.id, BODY))
            .await?
            .is_empty()
        {
            self.find_room(OPERATION).await?;
        }
        let create = self.query_for_webhook(webhook.id, CREATE).param("body", new.clone());
        let rows = self.0.run_write(OPERATION, create).await?;
        let stored_body = rows.first().map(|it| read_column::<String>(OPERATION, it, "body"));
        if stored_body.transpose()?.as_ref() == Some(&new) {
            return Ok(());
        }
        Err(PortError::new(OPERATION, ErrorKind::Conflict, id_is_taken(webhook.id)))
    }

    async fn list(&self) -> Result<Vec<StoredWebhook>> {
        const OPERATION: &str = "webhooks.list";
        let query = self.on_all(LIST).param("limit", to_bolt_integer(WEBHOOKS_MAX));
        let rows = self.0.run_read(OPERATION, query).await?;
        rows.iter().map(|it| read_body(OPERATION, it)).collect()
    }

    async fn replace(&self, webhook: &StoredWebhook) -> Result<bool> {
        const OPERATION: &str = "webhooks.replace";
        let query = self
            .query_for_webhook(webhook.id, REPLACE)
            .param("body", to_json(OPERATION, webhook)?);
        Ok(!self.0.run_write(OPERATION, query).await?.is_empty())
    }

    async fn remove(&self, id: WebhookId) -> Result<bool> {
        Ok(!self
            .0
            .run_write("webhooks.remove", self.query_for_webhook(id, REMOVE))
            .await?
            .is_empty())
    }
}
