//! What a round of organising leaves behind.

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
    /// Adds what another part left behind.
    pub fn extend(&mut self, other: Changed) {
        self.put.extend(other.put);
        self.gone.extend(other.gone);
    }
}
