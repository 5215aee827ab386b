//! The active gists of a space by the turns that they were read in.

use std::collections::{BTreeSet, HashMap};

use domain::id::UnitId;
use domain::unit::{Status, Unit};

/// The active gists of a space, and the turns that they were read in. It is empty if no language model has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gists {
    /// The first turn unit of each record of a gist.
    pub(super) turns: HashMap<UnitId, Box<[UnitId]>>,
    /// Pairs of one of these turns and the gist.
    pub(super) by_turn: BTreeSet<(UnitId, UnitId)>,
}

impl Gists {
    /// Applies the current state of a gist. Returns its turns of before if they changed.
    pub(super) fn apply_gist(&mut self, unit: &Unit) -> Option<Box<[UnitId]>> {
        let turns: Box<[UnitId]> = match unit.status {
            Status::Active => unit.records.iter().map(|it| UnitId::of_turn(*it)).collect(),
            Status::Merged | Status::Superseded | Status::Archived => Box::default(),
        };
        let before = self.turns.remove(&unit.id).unwrap_or_default();
        for turn in &before {
            self.by_turn.remove(&(*turn, unit.id));
        }
        let is_moved = before != turns;
        self.by_turn.extend(turns.iter().map(|it| (*it, unit.id)));
        if !turns.is_empty() {
            self.turns.insert(unit.id, turns);
        }
        is_moved.then_some(before)
    }

    /// Returns the turns of a gist; none for any other unit.
    pub(super) fn turns_of_gist(&self, gist: UnitId) -> &[UnitId] {
        self.turns.get(&gist).map_or(&[], |it| it)
    }

    /// Returns the gists that were read in a turn, by id.
    pub(super) fn gists_of_turn(&self, turn: UnitId) -> impl Iterator<Item = UnitId> {
        let first = (turn, UnitId::from_uuid(Default::default()));
        let found = self.by_turn.range(first..).take_while(move |it| it.0 == turn);
        found.map(|it| it.1)
    }
}
