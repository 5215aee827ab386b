//! Whom a name means.

use domain::id::EntityId;

/// Somebody or something that is known, and the name it goes by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Which entity; none of several that share a name and are told apart by whose they are.
    pub id: Option<EntityId>,
    /// Its name as most often written; of such a one `Ann's sister`.
    pub name: String,
}
