//! Facts indexed by the entity that they are about and by the name in their value, current ones first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, UnitId};

use super::names::Name;

/// Words in a predicate that reverse a preference.
const AGAINST: [&str; 18] = [
    "not", "never", "hate", "hates", "hated", "dislikes", "disliked", "avoids", "avoided", "loathes", "detests",
    "stopped", "quit", "against", "refuses", "dreads", "can't", "cannot",
];

/// Rank of a fact: current before closed, then the highest confidence, then the newest.
pub(super) type Rank = (bool, Reverse<u32>, Reverse<DateTime<Utc>>, FactId);

/// A thing, and whether it is liked (true) or disliked.
pub(super) type Taste = (String, bool);

/// Facts about an entity by aspect, each with the name in its value.
pub(super) type Aspects = BTreeMap<Aspect, BTreeMap<Rank, Name>>;

/// Facts that have a name as their value, each with the entity it is about.
pub(super) type Naming = BTreeMap<Rank, Option<EntityId>>;

/// The facts of one space, without withdrawn ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    all: HashMap<FactId, Fact>,
    of: HashMap<EntityId, Aspects>,
    /// Facts by the name in their value, with the entities they are about.
    naming: BTreeMap<Name, Naming>,
    tastes: BTreeMap<Taste, BTreeMap<EntityId, u32>>,
    /// Facts by the fact that closed them.
    closed: HashMap<FactId, BTreeSet<FactId>>,
}

/// The effects of a change of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Touched {
    /// Entities that the facts are about.
    pub(super) entities: BTreeSet<EntityId>,
    /// Names in the values of these facts, and of facts that they closed or that closed them.
    pub(super) names: BTreeSet<Name>,
    /// Entities with the opposite preference.
    pub(super) contrary: BTreeSet<EntityId>,
    /// Sources of the facts that they closed or that closed them.
    pub(super) sources: BTreeSet<UnitId>,
}

impl Facts {
    /// Adds or replaces a fact, or removes it if `fact` is none.
    pub(super) fn set(&mut self, id: FactId, fact: Option<&Fact>) -> Touched {
        let mut touched = Touched::default();
        let fact = fact.filter(|it| !it.withdrawn);
        if self.all.get(&id) == fact {
            return touched;
        }
        if let Some(old) = self.all.remove(&id) {
            self.index(&old, false, &mut touched);
        }
        if let Some(fact) = fact {
            self.index(fact, true, &mut touched);
            self.all.insert(id, fact.clone());
        }
        touched
    }

    pub(super) fn get(&self, id: FactId) -> Option<&Fact> {
        self.all.get(&id)
    }

    /// Returns the facts about an entity, by aspect.
    pub(super) fn about(&self, entity: EntityId) -> Option<&Aspects> {
        self.of.get(&entity)
    }

    /// Returns the facts whose value is this name.
    pub(super) fn naming(&self, name: &Name) -> Option<&Naming> {
        self.naming.get(name)
    }

    /// Returns the entities that currently have a preference, by id.
    pub(super) fn having(&self, taste: &Taste) -> impl Iterator<Item = EntityId> + use<'_> {
        self.tastes.get(taste).into_iter().flat_map(|it| it.keys().copied())
    }

    /// Returns the facts that a fact closed, and the one that closed it.
    pub(super) fn against<'a>(&'a self, fact: &'a Fact) -> impl Iterator<Item = &'a Fact> {
        let closed = self.closed.get(&fact.id).into_iter().flatten();
        closed.chain(&fact.retired_by).filter_map(|it| self.all.get(it))
    }

    fn index(&mut self, fact: &Fact, more: bool, touched: &mut Touched) {
        let rank = rank(fact);
        if let Some(by) = fact.retired_by {
            let closed = self.closed.entry(by).or_default();
            if more {
                closed.insert(fact.id);
            } else {
                closed.remove(&fact.id);
            }
            if closed.is_empty() {
                self.closed.remove(&by);
            }
        }
        for other in self.against(fact) {
            touched.names.insert(Name::of(&other.object));
            touched.sources.insert(other.source);
        }
        let name = Name::of(&fact.object);
        edit(&mut self.naming, &name, rank, more.then_some(fact.entity));
        touched.names.insert(name.clone());
        let Some(entity) = fact.entity else { return };
        touched.entities.insert(entity);
        let aspects = self.of.entry(entity).or_default();
        edit(aspects, &fact.aspect, rank, more.then_some(name));
        if aspects.is_empty() {
            self.of.remove(&entity);
        }
        let Some(taste) = taste(fact) else { return };
        touched.contrary.extend(self.having(&opposite(&taste)));
        let having = self.tastes.entry(taste.clone()).or_default();
        let count = having.entry(entity).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        having.retain(|_, count| *count > 0);
        if having.is_empty() {
            self.tastes.remove(&taste);
        }
    }
}

/// Returns the preference that a fact states, or none if the fact is of another kind or closed.
pub(super) fn taste(fact: &Fact) -> Option<Taste> {
    let now = fact.aspect == Aspect::Preference && fact.valid_until.is_none();
    let stems = text::stems(&fact.object);
    (now && !stems.is_empty()).then(|| (stems.join(" "), likes(fact)))
}

pub(super) fn opposite(taste: &Taste) -> Taste {
    (taste.0.clone(), !taste.1)
}

/// Returns true if a preference is positive.
pub(super) fn likes(fact: &Fact) -> bool {
    let lower = fact.predicate.to_lowercase();
    !lower
        .split([' ', '\u{2019}'])
        .any(|it| AGAINST.contains(&it) || it.ends_with("n't"))
}

/// Returns the title of a section of facts.
pub(super) fn title(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Preference => "Likes and dislikes",
        Aspect::Attribute => "About",
        Aspect::Relation => "People",
        Aspect::Place => "Places",
        Aspect::Work => "Work and studies",
        Aspect::Plan => "Plans",
        Aspect::Possession => "Possessions",
        Aspect::Count => "Counts",
        Aspect::Habit => "Habits",
        Aspect::Instruction => "Wanted from now on",
    }
}

/// Returns true if the fact of a rank is current.
pub(super) fn holds(rank: &Rank) -> bool {
    !rank.0
}

/// Returns the rank of a fact.
pub(super) fn rank(fact: &Fact) -> Rank {
    let sure = (fact.confidence.clamp(0.0, 1.0) * 100.0).round() as u32;
    (
        fact.valid_until.is_some(),
        Reverse(sure),
        Reverse(fact.recorded_at),
        fact.id,
    )
}

/// Adds a fact to an index, or removes it if `value` is none.
fn edit<K: Ord + Clone, V>(index: &mut BTreeMap<K, BTreeMap<Rank, V>>, key: &K, rank: Rank, value: Option<V>) {
    let ranks = index.entry(key.clone()).or_default();
    match value {
        Some(value) => ranks.insert(rank, value),
        None => ranks.remove(&rank),
    };
    if ranks.is_empty() {
        index.remove(key);
    }
}
