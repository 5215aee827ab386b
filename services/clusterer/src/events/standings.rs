//! Indexes merges by the events that take part in them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{MergeId, UnitId};
use domain::merge::{Merge, Standing};

use crate::ChangedObjects;

/// Maximum number of merges listed for an event that others were merged into; the list of merges has all of them.
const ABSORBED_MAX: usize = 100;

/// A merge, and the time at which the later event was observed.
type Since = (Option<DateTime<Utc>>, MergeId);

/// The standings of the events of one space.
#[derive(Clone, Debug, Default)]
pub(super) struct Standings {
    into: BTreeMap<UnitId, MergeId>,
    absorbed: BTreeMap<UnitId, BTreeSet<Since>>,
    touched: BTreeSet<UnitId>,
    /// Standings as last reported.
    reported: BTreeMap<UnitId, Standing>,
}

impl Standings {
    /// Adds the merge of an event into another one, or removes it if `holds` is false. A judgement that two events
    /// are different is ignored.
    pub(super) fn set_merge(&mut self, unit: UnitId, merge: &Merge, holds: bool) {
        if !merge.same_event {
            return;
        }
        let remaining = UnitId::from_uuid(merge.kept);
        let place = (merge.since, merge.id);
        let absorbed = self.absorbed.entry(remaining).or_default();
        if holds {
            absorbed.insert(place);
            self.into.insert(unit, merge.id);
        } else {
            absorbed.remove(&place);
            self.into.remove(&unit);
        }
        if absorbed.is_empty() {
            self.absorbed.remove(&remaining);
        }
        self.touched.extend([remaining, unit]);
    }

    /// Adds the standings that changed since the last call.
    pub(super) fn add_changed_standings(&mut self, out: &mut ChangedObjects) {
        for unit in std::mem::take(&mut self.touched) {
            let now = self.build_standing(unit);
            let before = self.reported.remove(&unit);
            match now {
                Some(now) => {
                    if before.as_ref() != Some(&now) {
                        out.put.push(Derived::Standing(now.clone()));
                    }
                    self.reported.insert(unit, now);
                }
                None => out.removed.extend(before.map(|it| DerivedId {
                    kind: DerivedKind::Standing,
                    id: it.unit.uuid(),
                })),
            }
        }
    }

    fn build_standing(&self, unit: UnitId) -> Option<Standing> {
        let into = self.into.get(&unit).copied();
        let absorbed = self.absorbed.get(&unit).into_iter().flatten();
        let absorbed: Vec<MergeId> = absorbed.take(ABSORBED_MAX).map(|it| it.1).collect();
        (into.is_some() || !absorbed.is_empty()).then_some(Standing { unit, into, absorbed })
    }
}
