//! The result of one pass of the clusterer.

use std::collections::BTreeSet;

use domain::derived::{Derived, DerivedId};

/// Derived data that changed since the last call. No id is in both lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedObjects {
    /// New or changed data, by id.
    pub put: Vec<Derived>,
    /// Ids of data that is no longer derived.
    pub removed: Vec<DerivedId>,
}

impl ChangedObjects {
    /// Adds the result of a later pass. If both passes contain an id, the later state counts.
    pub(crate) fn replace_with_later_pass(&mut self, later: ChangedObjects) {
        let ids: BTreeSet<DerivedId> = later
            .put
            .iter()
            .map(Derived::id)
            .chain(later.removed.iter().copied())
            .collect();
        self.put.retain(|it| !ids.contains(&it.id()));
        self.removed.retain(|it| !ids.contains(it));
        self.append_changes(later);
    }

    /// Adds the result of another component. The two must not share an id.
    pub fn append_changes(&mut self, other: ChangedObjects) {
        self.put.extend(other.put);
        self.removed.extend(other.removed);
    }
}
