//! Everything that is derived from the units of one space, joined.

use domain::id::SpaceId;
use domain::unit::Unit;

use crate::entities::Entities;
use crate::events::Events;
use crate::facts::Facts;
use crate::{Acts, Changed};

/// What the units of a space tell together. Equal sets of units give equal memories, whatever order they came in and how
/// often each was told.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entities: Entities,
    facts: Facts,
    events: Events,
}

impl Memory {
    /// Takes a unit in as it stands now; `vector` is that of an event's summary, of length 1.
    pub fn apply(&mut self, unit: &Unit, vector: Option<&[f32]>) {
        self.entities.apply(unit);
        self.facts.apply(unit);
        self.events.apply(unit, vector);
    }

    /// Returns what changed since it was asked last; the first time, everything. May take seconds: not for an async thread.
    pub fn changed(&mut self, space: &SpaceId, acts: &Acts) -> Changed {
        let mut all = self.entities.changed(space, acts);
        // Facts are told of whom names mean.
        all.extend(self.facts.changed(&self.entities, acts));
        all.extend(self.events.changed(acts));
        all
    }
}
