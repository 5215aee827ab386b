//! Which units pages must not quote, because they or their turns are hidden.

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::unit::Unit;

use crate::pages::inputs::page_inputs::PageInputs;

impl PageInputs {
    /// Sets the units that users asked Mnemic to forget. If one is an event, its turns have to be in the set too.
    pub(crate) fn set_forgotten(&mut self, forgotten: impl Iterator<Item = UnitId>) {
        let changed = self.hidden.set_forgotten(forgotten);
        changed.into_iter().for_each(|it| self.touch_pages_of_unit(it));
    }

    /// Applies the version of a record that a unit belongs to.
    pub(super) fn apply_version(&mut self, unit: &Unit) {
        for first in self.hidden.apply_unit(unit) {
            let units: Vec<UnitId> = self.facts_by_topic.turn_units_of_record(first).collect();
            units.into_iter().for_each(|it| self.touch_pages_of_unit(it));
        }
    }

    /// Returns true if a page may quote a unit: neither it nor one of its turns is forgotten, and no later version
    /// replaced one of their records.
    pub(crate) fn may_show_unit(&self, unit: UnitId) -> bool {
        !self.is_forgotten(unit) && self.replaced_at(unit).is_none()
    }

    /// Returns true if a user asked Mnemic to forget the unit or one of its turns.
    pub(crate) fn is_forgotten(&self, unit: UnitId) -> bool {
        !self.hidden.is_empty()
            && (self.hidden.is_forgotten(unit) || self.first_turns(unit).any(|it| self.hidden.has_forgotten_turn(it)))
    }

    /// Returns the earliest time at which a later version replaced the record of the unit or of one of its turns, or
    /// none if all are current.
    pub(crate) fn replaced_at(&self, unit: UnitId) -> Option<DateTime<Utc>> {
        if self.hidden.is_empty() {
            return None;
        }
        let unit_and_turns = std::iter::once(unit).chain(self.first_turns(unit));
        unit_and_turns.filter_map(|it| self.hidden.replaced_at(it)).min()
    }

    /// Returns the first turn unit of each record of an event or a gist, and the event itself; nothing for a turn.
    fn first_turns(&self, unit: UnitId) -> impl Iterator<Item = UnitId> {
        let turns_of_event = self.facts_by_topic.parts_of_event(unit).iter();
        turns_of_event.chain(self.gists.turns_of_gist(unit)).copied()
    }
}
