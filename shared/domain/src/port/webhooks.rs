use async_trait::async_trait;

use super::Result;
use crate::id::WebhookId;
use crate::webhook::StoredWebhook;

/// Webhooks that were created through the API. They belong to no space.
#[async_trait]
pub trait Webhooks: Send + Sync + 'static {
    /// Stores a new webhook. Idempotent. Durable on return.
    ///
    /// # Errors
    ///
    /// `Conflict` if another webhook has the id, or if there are already [`WEBHOOKS_MAX`](crate::webhook::WEBHOOKS_MAX)
    /// webhooks.
    async fn create(&self, webhook: &StoredWebhook) -> Result<()>;

    /// Returns all webhooks, by id.
    async fn list(&self) -> Result<Vec<StoredWebhook>>;

    /// Replaces the webhook with the same id. Durable on return. Returns false if there is none.
    async fn replace(&self, webhook: &StoredWebhook) -> Result<bool>;

    /// Removes a webhook. Durable on return. Returns false if there is none.
    async fn remove(&self, id: WebhookId) -> Result<bool>;
}
