//! Finds the gists of events and turns: sentences that a language model wrote about their records.

use std::collections::BTreeSet;

use domain::id::UnitId;
use domain::unit::{Grain, Unit};

use crate::pages::inputs::buckets::bucket::{Bucket, Rank};
use crate::pages::inputs::page_inputs::PageInputs;

impl PageInputs {
    /// Applies the current state of a unit.
    pub(crate) fn apply_unit(&mut self, unit: &Unit) {
        self.note_founder(unit);
        self.apply_version(unit);
        let is_changed = self.contents.apply_unit(unit);
        let is_moved = self.facts_by_topic.apply_unit(unit, &self.contents.topics_of_events);
        match unit.grain {
            Grain::Gist => {
                let before = self.gists.apply_gist(unit);
                if is_changed || before.is_some() {
                    self.touch_pages_of_gist(unit.id);
                    self.touch_pages_with_turns(&before.unwrap_or_default());
                }
            }
            Grain::Event => {
                if is_moved {
                    self.contents.touch_event(unit.id);
                }
            }
            Grain::Turn => {}
        }
        self.update_hidden_unit(unit.id);
    }

    /// Returns the gists whose records all belong to an event, highest score first, then earliest time, then id.
    /// Hidden gists are left out.
    pub(crate) fn gists_of_event(&self, event: UnitId) -> Vec<Rank> {
        if self.gists.turns.is_empty() {
            return Vec::new();
        }
        let parts = self.facts_by_topic.parts_of_event(event);
        let met: BTreeSet<UnitId> = parts.iter().flat_map(|it| self.gists.gists_of_turn(*it)).collect();
        let inside = met.into_iter().filter(|gist| {
            let turns = self.gists.turns_of_gist(*gist);
            turns.iter().all(|it| parts.contains(it)) && self.may_show_unit(*gist)
        });
        let mut ranks: Vec<Rank> = inside.filter_map(|it| self.rank_of_gist(it)).collect();
        ranks.sort_unstable();
        ranks
    }

    /// Returns true if a gist that was read in a turn is among the lines of one of the buckets, so that a quote of the turn
    /// would repeat it.
    pub(crate) fn has_gist_of_turn(&self, turn: UnitId, buckets: &[&Bucket]) -> bool {
        let gists = self.gists.gists_of_turn(turn);
        let mut ranks = gists
            .filter(|it| self.may_show_unit(*it))
            .filter_map(|it| self.rank_of_gist(it));
        ranks.any(|rank| buckets.iter().any(|it| self.contents.has_line(it, rank)))
    }

    fn rank_of_gist(&self, gist: UnitId) -> Option<Rank> {
        self.contents.units.rank(gist)
    }

    /// Marks everything whose page may quote a unit, an event with it, or a gist that was read in it.
    pub(super) fn touch_pages_of_unit(&mut self, unit: UnitId) {
        // Events and gists hold the first turn units of their records.
        let first = self.facts_by_topic.first_of(unit);
        let gists: Vec<UnitId> = self.gists.gists_of_turn(first).chain([unit]).collect();
        gists.into_iter().for_each(|it| self.touch_pages_of_gist(it));
        self.touch_pages_with_turns(&[first]);
    }

    fn touch_pages_of_gist(&mut self, gist: UnitId) {
        self.contents.touch_names_of_unit(gist);
        let turns: Box<[UnitId]> = self.gists.turns_of_gist(gist).into();
        self.touch_pages_with_turns(&turns);
    }

    /// Marks the months and topics of the events that contain all these turns, and the things that the turns mention.
    fn touch_pages_with_turns(&mut self, turns: &[UnitId]) {
        turns.iter().for_each(|it| self.contents.touch_names_of_unit(*it));
        for event in self.facts_by_topic.events_with_parts(turns) {
            self.contents.touch_event(event);
        }
    }
}
