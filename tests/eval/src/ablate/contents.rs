//! Reads the whole content of a space except its records: units, relations and derived objects.

use std::collections::BTreeMap;

use domain::derived::{Derived, DerivedKind};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{SpaceId, UnitId};
use domain::page::Page;
use domain::port::Graph;
use domain::relation::Relation;
use domain::unit::{Grain, Unit};

/// Number of objects that are read in one step.
const AT_ONCE: usize = 500;

/// Maximum number of relations of the units that are read in one step.
const RELATIONS_MAX: usize = 1_000_000;

/// All kinds of derived objects.
const KINDS: [DerivedKind; 7] = [
    DerivedKind::Fact,
    DerivedKind::Entity,
    DerivedKind::Topic,
    DerivedKind::Member,
    DerivedKind::Page,
    DerivedKind::Merge,
    DerivedKind::Standing,
];

/// Content of a space without its records.
#[derive(Debug, Default)]
pub struct Contents {
    /// Units that were not removed.
    pub units: Vec<Unit>,
    /// Relations between these units, each once.
    pub relations: Vec<Relation>,
    /// Derived objects.
    pub derived: Vec<Derived>,
}

impl Contents {
    /// Reads a space.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub async fn read(graph: &dyn Graph, space: &SpaceId) -> anyhow::Result<Contents> {
        let mut units = Vec::new();
        let mut sequence = 0;
        loop {
            let changes = graph.changes(space, sequence, AT_ONCE).await?;
            let Some(last) = changes.last() else { break };
            sequence = last.sequence;
            // A removed unit has no records.
            let held = changes.into_iter().map(|it| it.unit);
            units.extend(held.filter(|it| !it.records.is_empty()));
        }
        let mut derived = Vec::new();
        for kind in KINDS {
            let mut after = None;
            loop {
                let page = graph.list_derived(space, kind, after, AT_ONCE).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.id().id);
                derived.extend(page);
            }
        }
        let ids: Vec<UnitId> = units.iter().map(|it| it.id).collect();
        let mut relations = BTreeMap::new();
        for ids in ids.chunks(AT_ONCE) {
            for relation in graph.relations(space, ids, RELATIONS_MAX).await? {
                let key = (relation.source, relation.kind, relation.label.clone(), relation.target);
                relations.insert(key, relation);
            }
        }
        Ok(Contents {
            units,
            relations: relations.into_values().collect(),
            derived,
        })
    }

    /// Returns the units of a grain.
    pub fn units_of(&self, grain: Grain) -> impl Iterator<Item = &Unit> {
        self.units.iter().filter(move |it| it.grain == grain)
    }

    /// Returns the derived objects of a kind.
    pub fn derived_of(&self, kind: DerivedKind) -> impl Iterator<Item = &Derived> {
        self.derived.iter().filter(move |it| it.id().kind == kind)
    }

    /// Returns the pages.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.derived.iter().filter_map(|it| {
            let Derived::Page(page) = it else { return None };
            Some(page)
        })
    }

    /// Returns the entities.
    pub fn entities(&self) -> impl Iterator<Item = &Entity> {
        self.derived.iter().filter_map(|it| {
            let Derived::Entity(entity) = it else { return None };
            Some(entity)
        })
    }

    /// Returns the facts.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.derived.iter().filter_map(|it| {
            let Derived::Fact(fact) = it else { return None };
            Some(fact)
        })
    }
}
