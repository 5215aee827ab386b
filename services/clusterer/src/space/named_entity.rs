//! The entity that a name refers to.

use domain::id::EntityId;

/// A known entity and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedEntity {
    /// The id of the entity. None for one of several namesakes, which are distinguished by the person they belong to.
    pub id: Option<EntityId>,
    /// The most frequent spelling of the name of the entity; for one of several namesakes, a phrase like `Ann's
    /// sister`.
    pub name: String,
}
