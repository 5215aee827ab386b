//! The derived objects of one space for the router: facts, entities, topics, pages, merges, event units, gists and
//! cues, and the decisions of people about units. [`MemoryAsOf`] answers as of a moment.
//!
//! Equal units, derived objects and curations give an equal memory, in whatever order they arrive. Every list has one
//! order.

mod acts;
mod cues;
mod entities;
mod events;
mod facts;
mod gists;
mod merges;
mod names;
mod pages;
mod posting_lists;
mod topics;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::evidence::Amendment;
use domain::id::{EntityId, FactId, MergeId, PageId, RecordId, TopicId, UnitId};
use domain::port::DerivedChange;
use domain::unit::{Grain, Status, Unit};
use domain::version::Versions;

pub use entities::PersonMatch;
pub use events::Event;
pub use gists::Gist;
pub use names::{normalise_name, verb_terms};

use crate::space::scope::Scope;
use crate::space::view::Marks;
use acts::Acts;
use cues::Cues;
use entities::Entities;
use events::Events;
use facts::Facts;
use gists::Gists;
use merges::Merges;
use pages::Pages;
use topics::Topics;

/// The derived objects of one space, with the event units, the gists and the cues of the turn units that they rest on.
#[derive(Clone, Default)]
pub struct Memory {
    sequence: u64,
    facts: Facts,
    entities: Entities,
    topics: Topics,
    pages: Pages,
    merges: Merges,
    events: Events,
    gists: Gists,
    cues: Cues,
    acts: Acts,
    versions: Arc<Versions>,
    /// The effect of the acts on the turn units that exist.
    marks: Marks,
    /// The effect of the acts on the gists.
    gist_marks: Marks,
}

/// A memory as it was known at a moment, including that moment; without a moment, as it is now.
///
/// It returns no objects that were withdrawn, that come from a forgotten unit, or that lie outside of the scope. An
/// event or a gist is inside if all its turns are.
#[derive(Clone, Copy)]
pub struct MemoryAsOf<'a> {
    memory: &'a Memory,
    as_of: Option<DateTime<Utc>>,
    scope: Option<&'a Scope>,
}

impl Memory {
    /// Builds a memory from units and derived objects.
    pub fn from_units_and_derived(
        units: impl IntoIterator<Item = Unit>,
        derived: impl IntoIterator<Item = Derived>,
    ) -> Memory {
        let mut memory = Memory::default();
        let units: Vec<Unit> = units.into_iter().collect();
        memory.take_units(&units);
        memory.take_derived(derived.into_iter().map(|it| DerivedChange {
            sequence: 0,
            id: it.id(),
            item: Some(it),
        }));
        memory
    }

    /// Applies changes of units, in order. The caller keeps track of the changes that were applied.
    pub fn take_units<'a>(&mut self, units: impl IntoIterator<Item = &'a Unit>) {
        for unit in units {
            if unit.version.is_some() || !self.versions.is_empty() {
                Arc::make_mut(&mut self.versions).apply_unit(unit);
            }
            self.events.remove_event(unit.id);
            self.gists.remove_gist(unit.id);
            self.cues.remove_unit(unit.id);
            if unit.grain == Grain::Turn {
                self.events.note_turn(unit, unit.status == Status::Active);
            }
            match (unit.grain, unit.status) {
                (Grain::Turn, Status::Active) => self.cues.put_unit(unit),
                (Grain::Event, Status::Active | Status::Merged) => self.events.put_event(unit),
                (Grain::Gist, Status::Active) => self.gists.put_gist(unit),
                (Grain::Turn | Grain::Event | Grain::Gist, _) => {}
            }
        }
        self.update_marks();
    }

    /// Applies changes of derived objects, in order.
    pub fn take_derived(&mut self, changes: impl IntoIterator<Item = DerivedChange>) {
        for DerivedChange { sequence, id, item } in changes {
            self.sequence = self.sequence.max(sequence);
            match item {
                Some(Derived::Fact(it)) => self.facts.put_fact(it),
                Some(Derived::Entity(it)) => self.entities.put_entity(it),
                Some(Derived::Topic(it)) => self.topics.put_topic(it),
                Some(Derived::Member(it)) => self.topics.put_member(it),
                Some(Derived::Page(it)) => self.pages.put_page(it),
                Some(Derived::Merge(it)) => self.merges.put_merge(it),
                // The merges hold the same information.
                Some(Derived::Standing(_)) => {}
                None => self.remove_derived(id),
            }
        }
        self.update_marks();
    }

    /// Applies all curations of the space. Returns true if they changed anything.
    pub fn apply_curations(&mut self, curations: &[Curation]) -> bool {
        let acts = Acts::from_curations(curations);
        let changed = acts != self.acts;
        self.acts = acts;
        self.update_marks();
        changed
    }

    /// Returns true if these curations, which are all of the space, change nothing.
    pub fn is_decided(&self, curations: &[Curation]) -> bool {
        Acts::from_curations(curations) == self.acts
    }

    /// Returns the sequence of the latest applied change of derived objects.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns roughly how many bytes the memory takes.
    pub fn size_in_bytes(&self) -> usize {
        self.facts.size_in_bytes()
            + self.entities.size_in_bytes()
            + self.topics.size_in_bytes()
            + self.pages.size_in_bytes()
            + self.merges.size_in_bytes()
            + self.events.size_in_bytes()
            + self.gists.size_in_bytes()
            + self.cues.size_in_bytes()
    }

    /// Returns the memory as it was known at a moment; without a moment, as it is now.
    pub fn known_at(&self, as_of: Option<DateTime<Utc>>) -> MemoryAsOf<'_> {
        MemoryAsOf {
            memory: self,
            as_of,
            scope: None,
        }
    }

    /// Returns true if a unit must not be shown any more: the unit, the event that holds it, or one of the turns of an
    /// event or gist was forgotten. The other turns of such an event or gist are still shown individually.
    pub fn is_forgotten(&self, unit: UnitId) -> bool {
        let forgotten = &self.acts.forgotten;
        !forgotten.is_empty()
            && (forgotten.contains(&unit)
                || self.gist_marks.forgotten.contains(&unit)
                || self.events.holders_of_turn(unit).any(|it| forgotten.contains(&it))
                || self.all_turns_of(unit).any(|it| forgotten.contains(&it)))
    }

    /// Returns true if a user pinned a unit or the event that holds it.
    pub fn is_pinned(&self, unit: UnitId) -> bool {
        let pinned = &self.acts.pinned;
        !pinned.is_empty()
            && (pinned.contains(&unit) || self.events.holders_of_turn(unit).any(|it| pinned.contains(&it)))
    }

    /// Returns all turn units of an event unit or a gist in session order, with every part of long records; nothing for
    /// any other unit.
    pub fn all_turns_of(&self, unit: UnitId) -> impl Iterator<Item = UnitId> + '_ {
        let records = self.records_of(unit).iter();
        records.flat_map(move |it| self.events.turns_of_record(*it))
    }

    /// Returns the first turn unit of each record of an event unit or a gist in session order; nothing for any other
    /// unit. A short list shows these, so that the parts of one long record do not displace other evidence.
    pub fn first_turns_of(&self, unit: UnitId) -> impl Iterator<Item = UnitId> + '_ {
        self.records_of(unit).iter().map(|it| UnitId::of_turn(*it))
    }

    /// Returns the records of an event unit or a gist in session order; nothing for any other unit.
    fn records_of(&self, unit: UnitId) -> &[RecordId] {
        let gist = || self.gists.get(unit).map(|it| it.records.as_slice());
        let event = self.events.get(unit).map(|it| it.records.as_slice());
        event.or_else(gist).unwrap_or_default()
    }

    /// Returns the turn units of `units`, each once, in order. Events and gists are replaced by the first turns of
    /// their records.
    pub fn first_turns_of_units(&self, units: &[UnitId]) -> Vec<UnitId> {
        self.taken_apart(units, |it| self.events.has_event(it) || self.gists.get(it).is_some())
    }

    /// Returns the turn units of `units` and the gists among them, each once, in order. Events are replaced by the
    /// first turns of their records.
    pub fn first_turns_and_gists(&self, units: &[UnitId]) -> Vec<UnitId> {
        self.taken_apart(units, |it| self.events.has_event(it))
    }

    fn taken_apart(&self, units: &[UnitId], has_turns: impl Fn(UnitId) -> bool) -> Vec<UnitId> {
        let mut met = BTreeSet::new();
        let apart = units.iter().flat_map(|&it| match has_turns(it) {
            true => self.first_turns_of(it).collect(),
            false => vec![it],
        });
        apart.filter(|it| met.insert(*it)).collect()
    }

    /// Returns the turn units that are pinned or forgotten, and those that state facts that were corrected or retired.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the decisions about gists, and about the turns from which they were read.
    pub fn gist_marks(&self) -> &Marks {
        &self.gist_marks
    }

    /// Computes which units the acts are about. Most spaces have no acts.
    fn update_marks(&mut self) {
        let unmarked = Marks::default();
        if self.acts != Acts::default()
            || !self.versions.is_empty()
            || self.marks != unmarked
            || self.gist_marks != unmarked
        {
            self.marks = self.compute_turn_marks();
            self.gist_marks = self.gists.compute_marks(&self.acts, &self.marks, &self.events);
        }
    }

    fn compute_turn_marks(&self) -> Marks {
        let turns_and_gists = |units: &BTreeSet<UnitId>| -> BTreeSet<UnitId> {
            let of_unit = |&it: &UnitId| match self.events.has_event(it) {
                true => self.all_turns_of(it).collect(),
                false => vec![it],
            };
            units.iter().flat_map(of_unit).collect()
        };
        Marks {
            pinned: turns_and_gists(&self.acts.pinned),
            forgotten: turns_and_gists(&self.acts.forgotten),
            versions: Arc::clone(&self.versions),
            amended: self.amendments_by_turn(),
        }
    }

    /// Returns the decisions about facts by the turn that states them: one list for each fact, in the order of the
    /// fact ids.
    fn amendments_by_turn(&self) -> BTreeMap<UnitId, Vec<Vec<Amendment>>> {
        let mut amended: BTreeMap<UnitId, Vec<Vec<Amendment>>> = BTreeMap::new();
        for (id, decisions) in &self.acts.decided {
            let Some(fact) = self.facts.get(*id) else { continue };
            let amendments = decisions.iter().map(|it| Amendment {
                was: fact.object.clone(),
                now: it.now.clone(),
                at: it.at,
            });
            amended.entry(fact.source).or_default().push(amendments.collect());
        }
        amended
    }

    fn remove_derived(&mut self, DerivedId { kind, id }: DerivedId) {
        match kind {
            DerivedKind::Fact => self.facts.remove_fact(FactId::from_uuid(id)),
            DerivedKind::Entity => self.entities.remove_entity(EntityId::from_uuid(id)),
            DerivedKind::Topic => self.topics.remove_topic(TopicId::from_uuid(id)),
            DerivedKind::Member => self.topics.remove_member(UnitId::from_uuid(id)),
            DerivedKind::Page => self.pages.remove_page(PageId::from_uuid(id)),
            DerivedKind::Merge => self.merges.remove_merge(MergeId::from_uuid(id)),
            DerivedKind::Standing => {}
        }
    }
}

impl<'a> MemoryAsOf<'a> {
    /// Returns the memory without moment and scope.
    pub fn memory(self) -> &'a Memory {
        self.memory
    }

    /// Restricts it to a scope; `None` removes the restriction.
    #[must_use]
    pub fn with_scope(self, scope: Option<&'a Scope>) -> MemoryAsOf<'a> {
        MemoryAsOf { scope, ..self }
    }

    /// Returns the scope to which it is restricted.
    pub fn scope(self) -> Option<&'a Scope> {
        self.scope
    }

    /// Returns true if a turn, or all turns of an event or a gist, lie inside of the scope.
    fn is_inside(self, unit: UnitId) -> bool {
        self.scope.is_none_or(|scope| {
            let mut turns = self.memory.all_turns_of(unit).peekable();
            scope.has_turn(unit) || turns.peek().is_some() && turns.all(|it| scope.has_turn(it))
        })
    }

    /// Returns the moment; `None` means now.
    pub fn as_of(self) -> Option<DateTime<Utc>> {
        self.as_of
    }

    /// Returns true if something observed at `at` was already known.
    pub fn covers_moment(self, at: DateTime<Utc>) -> bool {
        self.as_of.is_none_or(|it| at <= it)
    }

    /// Returns true if such a turn, event or gist exists, was known, and is not forgotten.
    pub fn has_unit(self, unit: UnitId) -> bool {
        self.observation_time(unit).is_some()
    }

    /// Returns the time at which a turn, event or gist was observed, if it was known and is not forgotten.
    pub fn observation_time(self, unit: UnitId) -> Option<DateTime<Utc>> {
        let Some(at) = self.memory.cues.observation_time(unit) else {
            let event = self.find_event(unit).map(|it| it.observed_at);
            let gist = || self.find_gist(unit).map(|it| it.observed_at);
            return event.or_else(gist).map(|it| it.to_utc());
        };
        (self.covers_moment(at) && self.may_show_unit(unit)).then_some(at)
    }

    /// Returns true if a unit may be shown: it is inside of the scope and not forgotten, and at this moment no later
    /// version had replaced its record or the record of one of its turns.
    fn may_show_unit(self, unit: UnitId) -> bool {
        let MemoryAsOf { memory, as_of, .. } = self;
        let is_told = |it: UnitId| {
            let replaced = memory.versions.replaced_at(it);
            replaced.is_none_or(|at| as_of.is_some_and(|it| it < at))
        };
        self.is_inside(unit)
            && !memory.is_forgotten(unit)
            && (memory.versions.is_empty() || is_told(unit) && memory.all_turns_of(unit).all(is_told))
    }

    /// Returns true if all units may be shown: there is no scope, and no unit was forgotten or replaced.
    fn may_show_all_units(self) -> bool {
        self.scope.is_none() && self.memory.acts.forgotten.is_empty() && self.memory.versions.is_empty()
    }
}
