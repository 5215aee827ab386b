use chrono::{DateTime, Utc};
use domain::port::{DeadLetterId, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A message that could not be processed and is no longer retried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeadLetter {
    /// Id of the dead letter, also in paths.
    pub id: String,
    /// Number of the dead letter, as in logs. Only keys that open every space see the number; they may use it in paths
    /// instead of `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub number: Option<DeadLetterId>,
    /// Subject of the message.
    pub subject: String,
    /// Consumer group that gave the message up.
    pub group: String,
    /// Space of the message.
    pub space: String,
    /// Position of the message in its stream. Only keys that open every space see the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub position: Option<Position>,
    /// Reason why the consumer group gave the message up.
    pub reason: String,
    /// Number of deliveries.
    pub attempts: u32,
    /// Time at which the consumer group gave the message up.
    pub at: DateTime<Utc>,
    /// The payload. For keys that do not open every space, positions are removed from it.
    pub payload: String,
}
