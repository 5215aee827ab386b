//! The result of one pass of the clusterer.

use std::collections::BTreeSet;

use domain::derived::{Derived, DerivedId};

/// Derived data that changed since the last call. No id is in both lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// New or changed data, by id.
    pub put: Vec<Derived>,
    /// Ids of data that is no longer derived.
    pub gone: Vec<DerivedId>,
}

impl Changed {
    /// Adds the result of a later pass. If both passes contain an id, the later state counts.
    pub(crate) fn replace(&mut self, later: Changed) {
        let ids: BTreeSet<DerivedId> = later
            .put
            .iter()
            .map(Derived::id)
            .chain(later.gone.iter().copied())
            .collect();
        self.put.retain(|it| !ids.contains(&it.id()));
        self.gone.retain(|it| !ids.contains(it));
        self.extend(later);
    }

    /// Adds the result of another component. The two must not share an id.
    pub fn extend(&mut self, other: Changed) {
        self.put.extend(other.put);
        self.gone.extend(other.gone);
    }
}
