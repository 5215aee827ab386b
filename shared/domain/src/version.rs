//! Versions of records: a later version replaces all earlier ones from the time it was observed.
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::id::{RecordId, UnitId};
pub use crate::record::Version;
use crate::unit::{Grain, Status, Unit};

/// A later version of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LaterVersion {
    /// First turn unit of the version. The ids of the units of its other parts follow.
    unit: UnitId,
    observed_at: DateTime<Utc>,
}

/// The versions of the records of one space. Equal sets of units give equal versions, whatever the order in which they
/// were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// The later versions of each record that has any, by number.
    later: BTreeMap<RecordId, BTreeMap<u32, LaterVersion>>,
    /// The version that each first turn unit belongs to.
    places: BTreeMap<UnitId, Version>,
}

impl Versions {
    /// Applies the current state of a unit. Returns the first turn units whose time of replacement may have changed.
    pub fn apply_unit(&mut self, unit: &Unit) -> Vec<UnitId> {
        if unit.grain != Grain::Turn {
            return Vec::new();
        }
        let now = unit.version.filter(|_| unit.status != Status::Superseded);
        let observed_at = unit.observed_at.to_utc();
        let before = self.places.get(&unit.id).copied().filter(|it| it.number > 1);
        if before == now && before.is_none_or(|it| self.later[&it.of][&it.number].observed_at == observed_at) {
            return Vec::new();
        }
        let mut touched = Vec::new();
        if let Some(Version { of, number }) = before {
            if let Some(version) = self.later.get(&of).and_then(|it| it.get(&number)) {
                touched.extend(self.versions_replaced_from(of, number, version.observed_at));
            }
            self.places.remove(&unit.id);
            let left = self.later.get_mut(&of).is_some_and(|it| {
                it.remove(&number);
                !it.is_empty()
            });
            if !left {
                self.later.remove(&of);
                self.places.remove(&UnitId::of_turn(of));
            }
        }
        if let Some(version @ Version { of, number }) = now {
            let later_version = LaterVersion {
                unit: unit.id,
                observed_at,
            };
            self.later.entry(of).or_default().insert(number, later_version);
            self.places.insert(unit.id, version);
            self.places.insert(UnitId::of_turn(of), Version { of, number: 1 });
            touched.push(unit.id);
            touched.extend(self.versions_replaced_from(of, number, observed_at));
        }
        touched
    }

    /// Returns the time at which a later version of its record replaced a turn unit, or `None` if it is the current
    /// version.
    pub fn replaced_at(&self, unit: UnitId) -> Option<DateTime<Utc>> {
        // The ids of the units of a record's parts follow the id of its first unit.
        let (first, version) = self.places.range(..=unit).next_back()?;
        if unit > first.last_part() {
            return None;
        }
        let after = version.number.checked_add(1)?;
        let later = self.later.get(&version.of)?.range(after..);
        later.map(|it| it.1.observed_at).min()
    }

    /// Returns true if no record has a second version.
    pub fn is_empty(&self) -> bool {
        self.later.is_empty()
    }

    /// Returns the first turn units of the versions that version `number`, observed at `at`, replaces: a version between
    /// them that was observed earlier has replaced the versions before it.
    fn versions_replaced_from(&self, of: RecordId, number: u32, at: DateTime<Utc>) -> Vec<UnitId> {
        let Some(later) = self.later.get(&of) else {
            return Vec::new();
        };
        let mut replaced = Vec::new();
        for (_, version) in later.range(..number).rev() {
            replaced.push(version.unit);
            if version.observed_at <= at {
                return replaced;
            }
        }
        replaced.push(UnitId::of_turn(of));
        replaced
    }
}
