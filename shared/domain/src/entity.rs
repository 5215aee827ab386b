//! Entities: REMem's phrase nodes, MRAgent's cues.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::EntityId;

/// The type of an entity, as far as rules can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// A person who speaks or acts in the space.
    Speaker,
    /// A person who is mentioned.
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
    /// The most frequent spelling of the name.
    pub name: String,
    /// The type.
    pub kind: EntityKind,
    /// Other names for the entity, sorted.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Number of units that mention the entity.
    pub mentions: u64,
    /// Time at which the entity was first mentioned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<DateTime<Utc>>,
    /// The entity's roles for others, sorted: Ann's "my sister" gives `Ann's sister`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// The people who share the name, if there are several; sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bearers: Vec<Bearer>,
    /// Entities that may be the same, by cosine of their names, best first, ties by id (REMem's synonymy edges).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<Synonym>,
}

/// One of several people who share a name. They are distinguished by the person they belong to and by the speakers who
/// mention them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bearer {
    /// The name used in facts: `Ann's sister`.
    pub name: String,
    /// All names of this form, including `name`, sorted.
    pub roles: Vec<String>,
    /// Speakers who use the shared name for this person, sorted.
    pub tellers: Vec<String>,
}

/// An edge to an entity with a similar name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Synonym {
    /// The other entity.
    pub entity: EntityId,
    /// Cosine of the names, 0.8 to 1.
    pub cosine: f32,
}
