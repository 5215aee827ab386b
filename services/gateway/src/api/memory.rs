use chrono::{DateTime, Utc};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::SpaceId;
use domain::port::DeadLetter;
use domain::unit::Unit;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::Record;

/// A space and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Space {
    /// Its name.
    pub space: SpaceId,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Number of records stored.
    pub records: u64,
    /// Number of units in use.
    pub units: u64,
    /// The newest write that is searchable.
    pub watermark: String,
}

/// Some of the spaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SpacePage {
    /// By name.
    pub items: Vec<Space>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// Some of the records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordPage {
    /// In the order in which they were stored.
    pub items: Vec<Record>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// Some of the units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnitPage {
    /// In the order of their latest changes; units that were replaced are left out.
    pub items: Vec<Unit>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// Some of the facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FactPage {
    /// By id.
    pub items: Vec<Fact>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// Some of the entities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntityPage {
    /// By id.
    pub items: Vec<Entity>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}

/// Some of the messages that were given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterPage {
    /// By id.
    pub items: Vec<DeadLetter>,
    /// The `after` of the next page; none after the last.
    pub next: Option<String>,
}
