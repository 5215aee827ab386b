//! Entities: REMem's phrase nodes, MRAgent's cues.

use serde::{Deserialize, Serialize};

use crate::id::EntityId;

/// What an entity is, as far as rules can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// Somebody who speaks or acts in the space.
    Speaker,
    /// Somebody who is spoken of.
    Person,
    /// A place.
    Place,
    /// Anything else that has a name.
    #[default]
    Other,
}

/// A normalised name with its aliases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Entity {
    /// Derived from the space and the normalised name.
    pub id: EntityId,
    /// The name as most often written.
    pub name: String,
    /// What it is.
    pub kind: EntityKind,
    /// Other names for it, sorted.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Number of units that mention it.
    pub mentions: u64,
}
