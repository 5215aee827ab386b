//! Webhooks that were made through the API and are kept in the store: where events are sent, and of which spaces and kinds.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::WebhookId;

/// Most webhooks that a store keeps.
pub const WEBHOOKS_MAX: usize = 32;

/// A kind of event that a webhook is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookEvent {
    /// Records are searchable.
    Searchable,
    /// What derives from records is made.
    Organised,
    /// An erasure is complete.
    Erased,
}

/// A webhook of the store. Moments are kept to the millisecond.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWebhook {
    /// Derived from the name and the moment at which it was made.
    pub id: WebhookId,
    /// What people call it.
    pub name: String,
    /// Where events are sent, by POST.
    pub url: String,
    /// Spaces whose events are sent: `*`, names, or prefixes that end in `*`.
    pub spaces: Vec<String>,
    /// Kinds of events that are sent, sorted.
    pub events: Vec<WebhookEvent>,
    /// What events are signed with: base64 of 24 to 64 bytes, with `whsec_` before it.
    pub secret: String,
    /// Name of the key that made it.
    pub by: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Shows neither the secret nor the address, which may hold a token.
impl fmt::Debug for StoredWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredWebhook")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("spaces", &self.spaces)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
