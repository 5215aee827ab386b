//! Entities: REMem's phrase nodes, MRAgent's cues.

use chrono::{DateTime, Utc};
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// When it was first mentioned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<DateTime<Utc>>,
    /// What it is called by whom it belongs to ("my sister" of Ann: `Ann's sister`), sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Those who share the name, if several do; by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bearers: Vec<Bearer>,
    /// Entities that may be the same, by cosine of their names, best first, ties by id (REMem's synonymy edges).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<Synonym>,
}

/// One of several who share a name, told apart by whose they are and who tells of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bearer {
    /// What facts call them: `Ann's sister`.
    pub name: String,
    /// All that they are called so, `name` too, sorted.
    pub roles: Vec<String>,
    /// Who means them by the name, sorted.
    pub tellers: Vec<String>,
}

/// An edge to an entity of nearly the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Synonym {
    /// The other one.
    pub entity: EntityId,
    /// Cosine of the names, 0.8 to 1.
    pub cosine: f32,
}
