//! Facts: subject, predicate, object with valid time and recorded time.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{FactId, UnitId};
use crate::time::TimeSpan;

/// One statement. Never overwritten: a newer one closes the valid time of an older one, both stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fact {
    /// Derived from unit, subject, predicate and object.
    pub id: FactId,
    /// Who or what it is about.
    pub subject: String,
    /// What is said of it, in one or two words.
    pub predicate: String,
    /// The value.
    pub object: String,
    /// Group of predicates it belongs to: `preference`, `attribute`, `relation`, `place`, `work`, `plan`, `possession`, `count`, `instruction`.
    pub aspect: String,
    /// When it holds in the world.
    pub valid: TimeSpan,
    /// When Mnemic learned it.
    pub recorded_at: DateTime<Utc>,
    /// The unit that states it.
    pub source: UnitId,
    /// 0 to 1.
    pub confidence: f32,
    /// The fact that closed this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_by: Option<FactId>,
}
