//! Topics: clusters of event units with a label (CompassMem, section 3.3; MRAgent's topic layer).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{TopicId, UnitId};

/// A cluster of event units. Who belongs to it is told by [`Member`]s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Topic {
    /// Derived from the unit it was founded on; it outlives re-clustering, matched by overlap.
    pub id: TopicId,
    /// A few words that people understand: by rule one to four, by a language model at most six.
    pub label: String,
    /// What it is about, in one sentence of at most 240 characters; only a language model writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What sets it apart, strongest first; at most eight.
    pub keywords: Vec<String>,
    /// Number of event units in it.
    pub units: u64,
    /// When its first unit was observed.
    pub first_seen: DateTime<Utc>,
    /// When its last unit was observed.
    pub last_seen: DateTime<Utc>,
}

impl Topic {
    /// Returns the topic if something of it was known at `as_of`. Label, keywords and number of units are those of today; the
    /// summary is left out if something was told later, since it may tell that.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Topic> {
        (self.first_seen <= as_of).then(|| Topic {
            last_seen: self.last_seen.min(as_of),
            summary: self.summary.clone().filter(|_| self.last_seen <= as_of),
            ..self.clone()
        })
    }
}

/// The place of an event unit in a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Member {
    /// The event unit.
    pub unit: UnitId,
    /// Its topic.
    pub topic: TopicId,
    /// Cosine to the centre of the topic.
    pub similarity: f32,
}
