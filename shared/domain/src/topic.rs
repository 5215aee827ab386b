//! Topics: clusters of event units with a label (CompassMem, section 3.3; MRAgent's topic layer).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{TopicId, UnitId};

/// A cluster of event units. Its [`Member`]s say which units belong to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Topic {
    /// Derived from its founding unit. It outlives re-clustering, in which topics are matched by overlap.
    pub id: TopicId,
    /// A short label for people: one to four words if made by rule, at most six if made by a language model.
    pub label: String,
    /// A summary in one sentence of at most 240 characters; only a language model writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Most distinctive keywords of the topic, strongest first; at most eight.
    pub keywords: Vec<String>,
    /// Number of event units in the topic.
    pub units: u64,
    /// Time at which the first unit of the topic was observed.
    pub first_seen: DateTime<Utc>,
    /// Time at which the last unit of the topic was observed.
    pub last_seen: DateTime<Utc>,
}

impl Topic {
    /// Returns the topic if something of it was known at `as_of`. Label, keywords and number of units are those of
    /// today. The summary is left out if a unit of the topic is newer, because the summary may mention it.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Topic> {
        (self.first_seen <= as_of).then(|| Topic {
            last_seen: self.last_seen.min(as_of),
            summary: self.summary.clone().filter(|_| self.last_seen <= as_of),
            ..self.clone()
        })
    }
}

/// The membership of an event unit in a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Member {
    /// The event unit.
    pub unit: UnitId,
    /// Id of the topic.
    pub topic: TopicId,
    /// Cosine to the centre of the topic.
    pub similarity: f32,
}
