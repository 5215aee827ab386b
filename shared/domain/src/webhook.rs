//! Webhooks that were created through the API and are kept in the store: the address, and the spaces and kinds of
//! events to send.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::WebhookId;

/// Maximum number of webhooks in a store.
pub const WEBHOOKS_MAX: usize = 32;

/// A kind of event that a webhook is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookEvent {
    /// Records became searchable.
    Searchable,
    /// The objects derived from records are complete.
    Organised,
    /// An erasure is complete.
    Erased,
}

/// A stored webhook. Times have millisecond precision.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWebhook {
    /// Derived from the name and the time of creation.
    pub id: WebhookId,
    /// Name of the webhook, for people.
    pub name: String,
    /// Address that events are sent to, by POST.
    pub url: String,
    /// The spaces whose events are sent: `*`, names, or prefixes that end in `*`.
    pub spaces: Vec<String>,
    /// The kinds of events to send, sorted.
    pub events: Vec<WebhookEvent>,
    /// Key for signatures: base64 of 24 to 64 bytes, with the prefix `whsec_`.
    pub secret: String,
    /// Name of the API key that created it.
    pub by: String,
    /// Time at which the webhook was created.
    pub created_at: DateTime<Utc>,
    /// Time at which the webhook was last changed.
    pub updated_at: DateTime<Utc>,
}

/// Omits the secret and the address, which may contain a token.
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn debug_output_of_a_webhook_omits_its_secret_and_its_address() {
        let webhook = StoredWebhook {
            id: WebhookId::from_uuid(Uuid::nil()),
            name: "billing".to_owned(),
            url: "https://example.com/hooks/token-in-path".to_owned(),
            spaces: vec!["user-*".to_owned()],
            events: vec![WebhookEvent::Erased],
            secret: "whsec_c2VjcmV0".to_owned(),
            by: String::new(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        };
        let output = format!("{webhook:?}");
        assert!(output.contains("billing") && output.contains("user-*"), "{output}");
        assert!(
            !output.contains("whsec") && !output.contains("token-in-path"),
            "{output}"
        );
    }
}
