//! A fold over units whose open questions a language model has judged, as the follower keeps it.

use std::collections::BTreeMap;

use clusterer::Acts;
use domain::id::{ReadingId, UnitId};
use domain::reading::Reading;
use domain::unit::Unit;

use crate::held::Held;

/// A part of the clusterer that asks a model questions.
pub(crate) trait Judged: Default {
    /// Applies units, which `world` holds already, and looks readings up, as the follower does.
    fn apply(world: &mut World<Self>, units: &[Unit], acts: &Acts);

    /// Makes it look again for the readings of all open questions.
    fn look_for_open(&mut self);
}

/// A fold, with all units and stored readings, and the derived data.
#[derive(Default)]
pub(crate) struct World<F> {
    pub(crate) fold: F,
    pub(crate) units: BTreeMap<UnitId, Unit>,
    pub(crate) readings: BTreeMap<ReadingId, Reading>,
    pub(crate) held: Held,
}

impl<F: Judged> World<F> {
    /// Returns a world of these units without readings.
    pub(crate) fn new(units: &[Unit]) -> World<F> {
        let mut world = World::default();
        world.apply(units, &Acts::default());
        world
    }

    /// Returns a world without units in which these readings are stored.
    pub(crate) fn with_readings(readings: &BTreeMap<ReadingId, Reading>) -> World<F> {
        World {
            readings: readings.clone(),
            ..World::default()
        }
    }

    pub(crate) fn apply(&mut self, units: &[Unit], acts: &Acts) {
        self.units.extend(units.iter().map(|it| (it.id, it.clone())));
        F::apply(self, units, acts);
    }

    /// Stores a reading, and applies it.
    pub(crate) fn store(&mut self, reading: Reading) {
        self.readings.insert(reading.id, reading);
        self.look_again();
    }

    /// Applies the readings that were stored meanwhile.
    pub(crate) fn look_again(&mut self) {
        self.fold.look_for_open();
        self.apply(&[], &Acts::default());
    }
}
