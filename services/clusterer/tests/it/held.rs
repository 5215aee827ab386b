//! The derived data that a store would contain.

use std::collections::BTreeMap;

use chrono::DateTime;
use clusterer::{Acts, ChangedObjects};
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::entity::Entity;
use domain::id::{CurationId, MergeId, UnitId};
use domain::merge::{Merge, Standing};

use crate::space;

/// Derived data by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Held(pub(crate) BTreeMap<DerivedId, Derived>);

impl Held {
    pub(crate) fn take(&mut self, changed: ChangedObjects) {
        for removed in changed.removed {
            assert!(self.0.remove(&removed).is_some(), "{removed:?} was never reported");
        }
        self.0.extend(changed.put.into_iter().map(|it| (it.id(), it)));
    }

    pub(crate) fn entities(&self) -> Vec<&Entity> {
        let found = self
            .0
            .values()
            .filter_map(|it| if let Derived::Entity(it) = it { Some(it) } else { None });
        found.collect()
    }

    pub(crate) fn entity(&self, name: &str) -> &Entity {
        let found = self.entities();
        found
            .into_iter()
            .find(|it| it.name == name)
            .unwrap_or_else(|| panic!("no {name}: {self:?}"))
    }

    pub(crate) fn merges(&self) -> Vec<Merge> {
        let found = self.0.values().filter_map(|it| {
            if let Derived::Merge(it) = it {
                Some(it.clone())
            } else {
                None
            }
        });
        found.collect()
    }

    /// Returns the standing of a unit, as the store would find it.
    pub(crate) fn standing(&self, unit: UnitId) -> Option<&Standing> {
        let id = DerivedId {
            kind: DerivedKind::Standing,
            id: unit.uuid(),
        };
        self.0
            .get(&id)
            .and_then(|it| if let Derived::Standing(it) = it { Some(it) } else { None })
    }

    pub(crate) fn merge(&self, one: &str, other: &str) -> Option<Merge> {
        self.merges().into_iter().find(|it| it.names == [one, other])
    }
}

/// Returns the act that undoes a merge.
pub(crate) fn parting(merge: MergeId) -> Acts {
    only_act(Act::UndoMerge { merge })
}

/// Returns the act that makes Mnemic forget a unit.
pub(crate) fn forgetting(unit: UnitId) -> Acts {
    only_act(Act::ForgetUnit { unit })
}

fn only_act(act: Act) -> Acts {
    Acts::from_curations(&[Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: DateTime::UNIX_EPOCH,
        by: String::new(),
        act,
        reason: String::new(),
    }])
}
