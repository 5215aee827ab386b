//! Which units pages must not quote, because they or their turns are hidden.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::unit::Unit;

use crate::pages::inputs::buckets::bucket::Bucket;
use crate::pages::inputs::page_inputs::PageInputs;

/// If a bucket has more lines than this for each hidden unit, the hidden units are searched for in the bucket.
/// Otherwise, each line is looked up among the hidden units: a search takes several times as long as a look-up.
const LINES_PER_SEARCH: usize = 16;

impl PageInputs {
    /// Sets the units that users asked Mnemic to forget. If one is an event, its turns have to be in the set too.
    pub(crate) fn set_forgotten(&mut self, forgotten: impl Iterator<Item = UnitId>) {
        let changed = self.hidden.set_forgotten(forgotten);
        if changed.is_empty() {
            return;
        }
        self.update_units_with_turns(&changed);
        changed.into_iter().for_each(|it| self.touch_pages_of_unit(it));
    }

    /// Applies the version of a record that a unit belongs to.
    pub(super) fn apply_version(&mut self, unit: &Unit) {
        let changed = self.hidden.apply_unit(unit);
        if changed.is_empty() {
            return;
        }
        // A version that was erased is not among those whose time of replacement changed.
        for first in changed.iter().copied().chain([unit.id]) {
            self.update_units_of_record(first);
        }
        for first in changed {
            let units: Vec<UnitId> = self.facts_by_topic.turn_units_of_record(first).collect();
            units.into_iter().for_each(|it| self.touch_pages_of_unit(it));
        }
    }

    /// Updates `hidden_units` with a unit whose state may have changed.
    pub(super) fn update_hidden_unit(&mut self, unit: UnitId) {
        if self.may_show_unit(unit) || self.contents.units.find_number(unit).is_none() {
            self.hidden_units.remove(&unit);
        } else {
            self.hidden_units.insert(unit);
        }
    }

    /// Updates `hidden_units` with these units, and with the events and gists of the records that they are turns of.
    fn update_units_with_turns(&mut self, changed: &[UnitId]) {
        let changed: BTreeSet<UnitId> = changed.iter().copied().collect();
        // There may be no unit for a forgotten part of a record. So the record is found by the range of its ids.
        let has_changed_turn = |first: UnitId| changed.range(first..=first.last_part()).next().is_some();
        let events = self.facts_by_topic.events_with_any_part(has_changed_turn);
        let turns_and_gists = self.gists.by_turn.iter().filter(|it| has_changed_turn(it.0));
        let gists = turns_and_gists.map(|it| it.1);
        let units: BTreeSet<UnitId> = changed.iter().copied().chain(events).chain(gists).collect();
        units.into_iter().for_each(|it| self.update_hidden_unit(it));
    }

    /// Updates `hidden_units` with the turn units of a record, and with its events and gists; `first` is the first turn
    /// unit of the record.
    fn update_units_of_record(&mut self, first: UnitId) {
        let turns = self.facts_by_topic.turn_units_of_record(first);
        let events = self.facts_by_topic.events_with_part(first);
        let units: Vec<UnitId> = turns.chain(events).chain(self.gists.gists_of_turn(first)).collect();
        units.into_iter().for_each(|it| self.update_hidden_unit(it));
    }

    /// Returns the number of lines of a bucket that pages must not quote. Everything that it needs stays in memory.
    pub(crate) fn count_hidden_lines(&self, bucket: &Bucket) -> usize {
        if self.hidden_units.len() * LINES_PER_SEARCH < bucket.lines.len() {
            let ranks = self.hidden_units.iter().filter_map(|it| self.contents.units.rank(*it));
            return ranks.filter(|it| self.contents.has_line(bucket, *it)).count();
        }
        let ranks = self.contents.ranks_of_lines(bucket);
        ranks.filter(|it| self.hidden_units.contains(&it.2)).count()
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
