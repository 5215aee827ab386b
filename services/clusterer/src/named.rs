//! Whom a name means.

use std::collections::BTreeSet;

use domain::id::EntityId;

/// Somebody or something that is known, and the name it goes by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Which entity; none of several that share a name and are told apart by whose they are.
    pub id: Option<EntityId>,
    /// Its name as most often written; of such a one `Ann's sister`.
    pub name: String,
}

/// Tells whom people mean.
pub trait Names {
    /// Returns whom `actor` means by `phrase`: a name, a nickname, "my sister", or the actor's own name for the actor
    /// itself. None if nobody is known by it, or if it may be two.
    fn resolve(&self, actor: &str, phrase: &str) -> Option<Named>;

    /// Returns the keys that an answer hangs on; depends on the words alone.
    fn keys(&self, _actor: &str, _phrase: &str) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Returns the keys of all answers that may be other ones since the last round; none if all may.
    fn moved(&self) -> Option<&BTreeSet<String>> {
        None
    }
}
