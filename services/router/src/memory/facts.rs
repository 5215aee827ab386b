use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::entity::Bearer;
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, UnitId};
use text::sparse;

use super::entities::names;
use super::names::{normalised, verb_terms};
use super::posts::Posts;
use super::{Known, Memory};

/// Facts are listed by when they were recorded, ties by id.
type Key = (DateTime<Utc>, FactId);

/// Facts with their indices.
#[derive(Clone, Default)]
pub(super) struct Facts {
    all: BTreeMap<FactId, Arc<Fact>>,
    by_time: BTreeSet<Key>,
    by_entity: Posts<EntityId, Key>,
    by_subject: Posts<String, Key>,
    by_object: Posts<String, Key>,
    by_source: Posts<UnitId, Key>,
    by_aspect: Posts<Aspect, Key>,
    by_word: Posts<u32, Key>,
    bytes: usize,
}

impl Facts {
    pub(super) fn put(&mut self, fact: Fact) {
        self.remove(fact.id);
        self.index(&fact, true);
        self.all.insert(fact.id, Arc::new(fact));
    }

    pub(super) fn remove(&mut self, id: FactId) {
        if let Some(old) = self.all.remove(&id) {
            self.index(&old, false);
        }
    }

    /// Returns the present state of a fact.
    pub(super) fn get(&self, id: FactId) -> Option<&Fact> {
        self.all.get(&id).map(Arc::as_ref)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
            + self.by_time.len() * 32
            + self.by_entity.bytes()
            + self.by_subject.bytes()
            + self.by_object.bytes()
            + self.by_source.bytes()
            + self.by_aspect.bytes()
            + self.by_word.bytes()
    }

    fn index(&mut self, fact: &Fact, add: bool) {
        let key = (fact.recorded_at, fact.id);
        if add {
            self.by_time.insert(key);
        } else {
            self.by_time.remove(&key);
        }
        if let Some(entity) = fact.entity {
            self.by_entity.set(entity, key, add);
        }
        self.by_subject.set(normalised(&fact.subject), key, add);
        self.by_object.set(normalised(&fact.object), key, add);
        self.by_source.set(fact.source, key, add);
        self.by_aspect.set(fact.aspect, key, add);
        for word in words(fact) {
            self.by_word.set(word, key, add);
        }
        // Subject and object are stored a second time in the indices.
        let size = 320 + 2 * (fact.subject.len() + fact.object.len()) + fact.predicate.len() + fact.told_by.len();
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

/// Returns the terms of the stems of predicate and object.
fn words(fact: &Fact) -> BTreeSet<u32> {
    let object = text::stems(&fact.object);
    let object = object.iter().map(|it| sparse::hash(it));
    object.chain(verb_terms(&fact.predicate)).collect()
}

/// Facts are returned by when they were recorded, ties by id.
impl<'a> Known<'a> {
    /// Returns a fact as it was known at the moment. An end that happened or was recorded later is left out, and so is
    /// an end that was recorded outside of the scope.
    pub fn fact(self, id: FactId) -> Option<Arc<Fact>> {
        let fact = self.memory.facts.all.get(&id)?;
        if !self.tells(fact.source) {
            return None;
        }
        let mut known = match self.as_of {
            Some(as_of) => Arc::new(fact.known_at(as_of)?),
            None => Arc::clone(fact),
        };
        while known.retired_by.is_some_and(|it| self.is_outside(it)) {
            Arc::make_mut(&mut known).take_back_end();
        }
        // A fact that was withdrawn later was still valid at that moment.
        (!known.withdrawn).then_some(known)
    }

    /// Returns true if a fact was stated outside of the scope.
    fn is_outside(self, id: FactId) -> bool {
        let fact = self.memory.facts.get(id);
        fact.is_some_and(|it| !self.is_inside(it.source))
    }

    /// Returns all facts.
    pub fn facts(self) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.told(self.memory.facts.by_time.iter().copied())
    }

    /// Returns the facts about the person or thing called `name`: by subject as written, by entity, and, for facts
    /// without an entity, by the other names of the entity. Several people who share a name are kept apart: "Ann's
    /// sister" is one of them.
    pub fn facts_about(self, name: &str) -> Vec<Arc<Fact>> {
        let Memory { facts, .. } = self.memory;
        let own = normalised(name);
        let mut keys: BTreeSet<Key> = facts.by_subject.get(&own).collect();
        let unresolved = |it: &Key| facts.all.get(&it.1).is_some_and(|it| it.entity.is_none());
        for entity in self.called(name) {
            keys.extend(facts.by_entity.get(&entity.id));
            let is_own = |it: &&Bearer| it.roles.iter().any(|it| normalised(it) == own);
            let others: Vec<&String> = match entity.bearers.iter().find(is_own) {
                Some(bearer) => bearer.roles.iter().chain([&bearer.name]).collect(),
                None => names(&entity).collect(),
            };
            for other in others {
                keys.extend(facts.by_subject.get(&normalised(other)).filter(unresolved));
            }
        }
        self.told(keys.into_iter()).collect()
    }

    /// Returns the facts about an entity.
    pub fn facts_of(self, entity: EntityId) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.told(self.memory.facts.by_entity.get(&entity))
    }

    /// Returns the facts whose value is called `name`.
    pub fn facts_naming(self, name: &str) -> Vec<Arc<Fact>> {
        let facts = &self.memory.facts;
        let mut keys: BTreeSet<Key> = facts.by_object.get(&normalised(name)).collect();
        for entity in self.called(name) {
            let names = std::iter::once(&entity.name).chain(&entity.aliases);
            names.for_each(|it| keys.extend(facts.by_object.get(&normalised(it))));
        }
        self.told(keys.into_iter()).collect()
    }

    /// Returns the facts that a unit states.
    pub fn facts_from(self, unit: UnitId) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.told(self.memory.facts.by_source.get(&unit))
    }

    /// Returns the facts of an aspect.
    pub fn facts_with(self, aspect: Aspect) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.told(self.memory.facts.by_aspect.get(&aspect))
    }

    /// Returns the facts whose predicate or object contains a stem, given as its `text::sparse::hash`.
    pub fn facts_saying(self, stem: u32) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.told(self.memory.facts.by_word.get(&stem))
    }

    /// Returns how many facts contain a stem, including facts that are not known at the moment. The rarity of the stem
    /// is computed from it.
    pub fn facts_holding(self, stem: u32) -> usize {
        self.memory.facts.by_word.count(&stem)
    }

    fn told<I: DoubleEndedIterator<Item = Key> + 'a>(
        self,
        keys: I,
    ) -> impl DoubleEndedIterator<Item = Arc<Fact>> + use<'a, I> {
        keys.filter_map(move |it| self.fact(it.1))
    }
}
