//! Hidden units, which neither a page nor a language model may be shown: those that a user asked Mnemic to forget, and
//! those whose record a later version replaced. The router hides the same units (`MemoryAsOf::may_show_unit`).

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::id::{RecordId, UnitId};
use domain::unit::Unit;
use domain::version::Versions;

/// What decides which units are hidden. It is empty in most spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenUnits {
    /// Units that users asked Mnemic to forget.
    forgotten: BTreeSet<UnitId>,
    versions: Versions,
}

impl HiddenUnits {
    /// Applies the version of a record that a unit belongs to. Returns the first turn units of the records whose time of
    /// replacement may have changed.
    pub(crate) fn apply_unit(&mut self, unit: &Unit) -> Vec<UnitId> {
        self.versions.apply_unit(unit)
    }

    /// Sets the units that users asked Mnemic to forget. Returns those that were added or removed.
    pub(crate) fn set_forgotten(&mut self, forgotten: impl Iterator<Item = UnitId>) -> Vec<UnitId> {
        let before = std::mem::replace(&mut self.forgotten, forgotten.collect());
        before.symmetric_difference(&self.forgotten).copied().collect()
    }

    /// Returns true if no unit is hidden.
    pub(crate) fn is_empty(&self) -> bool {
        self.forgotten.is_empty() && self.versions.is_empty()
    }

    /// Returns true if a unit itself was forgotten.
    pub(crate) fn is_forgotten(&self, unit: UnitId) -> bool {
        self.forgotten.contains(&unit)
    }

    /// Returns true if a turn unit of a record was forgotten; `first` is the first one.
    pub(crate) fn has_forgotten_turn(&self, first: UnitId) -> bool {
        self.forgotten.range(first..=first.last_part()).next().is_some()
    }

    /// Returns the time at which a later version of its record replaced a turn unit, or none if it is current.
    pub(crate) fn replaced_at(&self, unit: UnitId) -> Option<DateTime<Utc>> {
        self.versions.replaced_at(unit)
    }

    /// Returns true if a unit was forgotten, or is a turn whose record was replaced.
    pub(crate) fn hides(&self, unit: UnitId) -> bool {
        self.is_forgotten(unit) || self.replaced_at(unit).is_some()
    }

    /// Returns true if a turn unit of a record is hidden; `first` is the first one.
    pub(crate) fn hides_turn_of_record(&self, first: UnitId) -> bool {
        self.has_forgotten_turn(first) || self.replaced_at(first).is_some()
    }

    /// Returns true if an event of these records is hidden, or one of its turns.
    pub(crate) fn hides_event(&self, event: UnitId, records: &[RecordId]) -> bool {
        // Deriving the ids of the turns takes longer than everything else here.
        if self.is_empty() {
            return false;
        }
        let mut first_units = records.iter().map(|it| UnitId::of_turn(*it));
        self.hides(event) || first_units.any(|it| self.hides_turn_of_record(it))
    }
}
