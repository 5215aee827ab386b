//! Whom a name means.

use domain::id::EntityId;

/// An entity and the name it goes by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Which one.
    pub id: EntityId,
    /// Its name as most often written.
    pub name: String,
}

/// Tells whom people mean.
pub trait Names {
    /// Returns whom `actor` means by `phrase`: a name, a nickname, "my sister", or the actor's own name for the actor
    /// itself. None if nobody is known by it, or if it may be two.
    fn resolve(&self, actor: &str, phrase: &str) -> Option<Named>;
}
