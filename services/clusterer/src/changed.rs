//! What a round of organising leaves behind.

use std::collections::BTreeSet;

use domain::derived::{Derived, DerivedId};

/// What changed since it was asked last: things to put, and things that are gone. No id stands in both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// New or different, by id.
    pub put: Vec<Derived>,
    /// Not derived any more, by id.
    pub gone: Vec<DerivedId>,
}

impl Changed {
    /// Takes what was left behind later: of one thing, the later state counts.
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

    /// Adds what another part left behind.
    pub fn extend(&mut self, other: Changed) {
        self.put.extend(other.put);
        self.gone.extend(other.gone);
    }
}
