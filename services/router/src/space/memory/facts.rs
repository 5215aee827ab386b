use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::entity::Bearer;
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, UnitId};
use text::meaning::sparse_vectors;

use super::entities::names_of_entity;
use super::names::{normalise_name, verb_terms};
use super::posting_lists::Posts;
use super::{Memory, MemoryAsOf};

/// A fact in a list. Facts are listed by when they were recorded, ties by id.
#[derive(Clone)]
struct ListedFact(Arc<Fact>);

impl ListedFact {
    fn sort_key(&self) -> (DateTime<Utc>, FactId) {
        (self.0.recorded_at, self.0.id)
    }
}

impl PartialEq for ListedFact {
    fn eq(&self, other: &ListedFact) -> bool {
        self.sort_key() == other.sort_key()
    }
}

impl Eq for ListedFact {}

impl PartialOrd for ListedFact {
    fn partial_cmp(&self, other: &ListedFact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ListedFact {
    fn cmp(&self, other: &ListedFact) -> Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

/// Facts with their indices.
#[derive(Clone, Default)]
pub(super) struct Facts {
    all: BTreeMap<FactId, Arc<Fact>>,
    by_time: BTreeSet<ListedFact>,
    by_entity: Posts<EntityId, ListedFact>,
    by_subject: Posts<String, ListedFact>,
    by_object: Posts<String, ListedFact>,
    by_source: Posts<UnitId, ListedFact>,
    by_aspect: Posts<Aspect, ListedFact>,
    by_word: Posts<u32, ListedFact>,
    bytes: usize,
}

impl Facts {
    pub(super) fn put_fact(&mut self, fact: Fact) {
        self.remove_fact(fact.id);
        let fact = Arc::new(fact);
        self.update_index(&fact, true);
        self.all.insert(fact.id, fact);
    }

    pub(super) fn remove_fact(&mut self, id: FactId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    /// Returns the present state of a fact.
    pub(super) fn get(&self, id: FactId) -> Option<&Fact> {
        self.all.get(&id).map(Arc::as_ref)
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        // A node of a tree is assumed to be two thirds full.
        self.bytes
            + self.all.len() * (size_of::<FactId>() + size_of::<ListedFact>()) * 3 / 2
            + self.by_time.len() * size_of::<ListedFact>() * 3 / 2
            + self.by_entity.size_in_bytes()
            + self.by_subject.size_in_bytes()
            + self.by_object.size_in_bytes()
            + self.by_source.size_in_bytes()
            + self.by_aspect.size_in_bytes()
            + self.by_word.size_in_bytes()
    }

    fn update_index(&mut self, fact: &Arc<Fact>, add: bool) {
        let listed = || ListedFact(Arc::clone(fact));
        if add {
            self.by_time.insert(listed());
        } else {
            self.by_time.remove(&listed());
        }
        if let Some(entity) = fact.entity {
            self.by_entity.add_or_remove(entity, listed(), add);
        }
        self.by_subject
            .add_or_remove(normalise_name(&fact.subject), listed(), add);
        self.by_object
            .add_or_remove(normalise_name(&fact.object), listed(), add);
        self.by_source.add_or_remove(fact.source, listed(), add);
        self.by_aspect.add_or_remove(fact.aspect, listed(), add);
        for word in terms_of_fact(fact) {
            self.by_word.add_or_remove(word, listed(), add);
        }
        let size = fact_bytes(fact);
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

/// Returns roughly how many bytes a fact takes, with the keys of the indices that are made of its words.
fn fact_bytes(fact: &Fact) -> usize {
    // Subject and object are stored a second time in the indices.
    let words = [&fact.subject, &fact.object, &fact.subject, &fact.object];
    let words = words
        .into_iter()
        .chain([&fact.predicate, &fact.told_by, &fact.valid_from.words]);
    let words = words.filter(|it| !it.is_empty());
    // Each allocation takes some bytes more than its text.
    let words: usize = words.map(|it| it.len() + 16).sum();
    let former: usize = fact
        .former
        .iter()
        .filter_map(|it| it.fact.as_ref())
        .map(fact_bytes)
        .sum();
    size_of::<Fact>() + 32 + words + former + size_of_val(&*fact.former_ends)
}

/// Returns the terms of the stems of predicate and object.
fn terms_of_fact(fact: &Fact) -> BTreeSet<u32> {
    let object = text::stem_words(&fact.object);
    let object = object.iter().map(|it| sparse_vectors::hash_stem(it));
    object.chain(verb_terms(&fact.predicate)).collect()
}

/// Facts are returned by when they were recorded, ties by id.
impl<'a> MemoryAsOf<'a> {
    /// Returns a fact as it was known at the moment. An end that happened or was recorded later is left out, and so is
    /// an end that was recorded outside of the scope.
    pub fn find_fact(self, id: FactId) -> Option<Arc<Fact>> {
        self.show_fact(self.memory.facts.all.get(&id)?)
    }

    /// Returns a fact as [`MemoryAsOf::find_fact`] does.
    fn show_fact(self, fact: &Arc<Fact>) -> Option<Arc<Fact>> {
        if !self.may_show_unit(fact.source) {
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
    pub fn all_facts(self) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.resolve_fact_keys(self.memory.facts.by_time.iter().cloned())
    }

    /// Returns the facts about the person or thing called `name`: by subject as written, by entity, and, for facts
    /// without an entity, by the other names of the entity. Several people who share a name are kept apart: "Ann's
    /// sister" is one of them.
    pub fn facts_about(self, name: &str) -> Vec<Arc<Fact>> {
        let Memory { facts, .. } = self.memory;
        let own = normalise_name(name);
        let mut keys: BTreeSet<ListedFact> = facts.by_subject.values_of_key(&own).collect();
        let unresolved = |it: &ListedFact| it.0.entity.is_none();
        for entity in self.entities_called(name) {
            keys.extend(facts.by_entity.values_of_key(&entity.id));
            let is_own = |it: &&Bearer| it.roles.iter().any(|it| normalise_name(it) == own);
            let others: Vec<&String> = match entity.bearers.iter().find(is_own) {
                Some(bearer) => bearer.roles.iter().chain([&bearer.name]).collect(),
                None => names_of_entity(&entity).collect(),
            };
            for other in others {
                keys.extend(
                    facts
                        .by_subject
                        .values_of_key(&normalise_name(other))
                        .filter(unresolved),
                );
            }
        }
        self.resolve_fact_keys(keys.into_iter()).collect()
    }

    /// Returns the facts about an entity.
    pub fn facts_of(self, entity: EntityId) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.resolve_fact_keys(self.memory.facts.by_entity.values_of_key(&entity))
    }

    /// Returns the facts whose value is called `name`.
    pub fn facts_naming(self, name: &str) -> Vec<Arc<Fact>> {
        let facts = &self.memory.facts;
        let mut keys: BTreeSet<ListedFact> = facts.by_object.values_of_key(&normalise_name(name)).collect();
        for entity in self.entities_called(name) {
            let names = std::iter::once(&entity.name).chain(&entity.aliases);
            names.for_each(|it| keys.extend(facts.by_object.values_of_key(&normalise_name(it))));
        }
        self.resolve_fact_keys(keys.into_iter()).collect()
    }

    /// Returns the facts that a unit states.
    pub fn facts_from(self, unit: UnitId) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.resolve_fact_keys(self.memory.facts.by_source.values_of_key(&unit))
    }

    /// Returns the facts of an aspect.
    pub fn facts_with(self, aspect: Aspect) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.resolve_fact_keys(self.memory.facts.by_aspect.values_of_key(&aspect))
    }

    /// Returns the facts whose predicate or object contains a stem, given as its `text::meaning::sparse_vectors::hash_stem`.
    pub fn facts_saying(self, stem: u32) -> impl DoubleEndedIterator<Item = Arc<Fact>> + 'a {
        self.resolve_fact_keys(self.memory.facts.by_word.values_of_key(&stem))
    }

    /// Returns the number of facts that contain a stem, including facts that are not known at the moment. The rarity of
    /// the stem is computed from it.
    pub fn facts_holding(self, stem: u32) -> usize {
        self.memory.facts.by_word.count_values(&stem)
    }

    fn resolve_fact_keys<I: DoubleEndedIterator<Item = ListedFact> + 'a>(
        self,
        keys: I,
    ) -> impl DoubleEndedIterator<Item = Arc<Fact>> + use<'a, I> {
        keys.filter_map(move |it| self.show_fact(&it.0))
    }
}
