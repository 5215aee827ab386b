use chrono::{DateTime, Utc};
use domain::port::{DeadLetterId, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeadLetter {
    /// Names it, in paths too.
    pub id: String,
    /// Its number, as logs have it; shown to keys that open every space, which may use it in paths in the place of `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub number: Option<DeadLetterId>,
    /// Subject of the message.
    pub subject: String,
    /// Group that gave it up.
    pub group: String,
    /// Space of the message.
    pub space: String,
    /// Place in its stream; shown to keys that open every space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub position: Option<Position>,
    /// Why it was given up.
    pub reason: String,
    /// Number of deliveries.
    pub attempts: u32,
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The payload. Keys that do not open every space see no positions in it.
    pub payload: String,
}
