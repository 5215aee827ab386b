//! Facts indexed by the entity that they are about and by the name in their value, current ones first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, UnitId};

use crate::pages::inputs::names::Name;
use crate::space::small_map::SmallMap;
use crate::word_lists::PREFERENCE_REVERSALS;

/// Rank of a fact: current before closed, then the highest confidence, then the newest.
type Rank = (bool, Reverse<u32>, Reverse<DateTime<Utc>>, FactId);

/// A fact, ordered by its rank. Lists share the fact, which takes less memory than a copy of its rank.
#[derive(Clone, Debug)]
pub(crate) struct RankedFact(pub(crate) Arc<Fact>);

impl RankedFact {
    /// Returns true if the fact is current.
    pub(crate) fn is_current(&self) -> bool {
        self.0.valid_until.is_none()
    }
}

impl Ord for RankedFact {
    fn cmp(&self, other: &RankedFact) -> Ordering {
        rank_of_fact(&self.0).cmp(&rank_of_fact(&other.0))
    }
}

impl PartialOrd for RankedFact {
    fn partial_cmp(&self, other: &RankedFact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedFact {
    fn eq(&self, other: &RankedFact) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedFact {}

/// A thing, and whether it is liked (true) or disliked.
pub(crate) type Taste = (String, bool);

/// Facts about an entity by aspect, each with the text of the name in its value.
pub(crate) type Aspects = SmallMap<Aspect, SmallMap<RankedFact, Arc<str>>>;

/// Facts that have a name as their value.
pub(crate) type Naming = SmallMap<RankedFact, ()>;

/// The facts of one space, without withdrawn ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactIndex {
    all: HashMap<FactId, Arc<Fact>>,
    of: HashMap<EntityId, Aspects>,
    /// Facts by the name in their value.
    naming: BTreeMap<Name, Naming>,
    tastes: BTreeMap<Taste, SmallMap<EntityId, u32>>,
    /// Facts by the fact that closed them.
    closed: HashMap<FactId, SmallMap<FactId, ()>>,
}

/// The effects of a change of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Touched {
    /// Entities that the facts are about.
    pub(crate) entities: BTreeSet<EntityId>,
    /// Names in the values of these facts, and of facts that they closed or that closed them.
    pub(crate) names: BTreeSet<Name>,
    /// Entities with the opposite preference.
    pub(crate) contrary: BTreeSet<EntityId>,
    /// Sources of the facts that they closed or that closed them.
    pub(crate) sources: BTreeSet<UnitId>,
}

impl FactIndex {
    /// Adds or replaces a fact, or removes it if `fact` is none.
    pub(crate) fn set_fact(&mut self, id: FactId, fact: Option<&Arc<Fact>>) -> Touched {
        let mut touched = Touched::default();
        let fact = fact.filter(|it| !it.withdrawn);
        if self.all.get(&id) == fact {
            return touched;
        }
        if let Some(old) = self.all.remove(&id) {
            self.index_fact(&old, false, &mut touched);
        }
        if let Some(fact) = fact {
            self.index_fact(fact, true, &mut touched);
            self.all.insert(id, Arc::clone(fact));
        }
        touched
    }

    pub(crate) fn get(&self, id: FactId) -> Option<&Fact> {
        self.all.get(&id).map(Arc::as_ref)
    }

    /// Returns the fact of an id, to be shared.
    pub(crate) fn shared_fact(&self, id: FactId) -> Option<&Arc<Fact>> {
        self.all.get(&id)
    }

    /// Returns the facts about an entity, by aspect.
    pub(crate) fn facts_about_entity(&self, entity: EntityId) -> Option<&Aspects> {
        self.of.get(&entity)
    }

    /// Returns the facts whose value is this name.
    pub(crate) fn facts_naming(&self, name: &Name) -> Option<&Naming> {
        self.naming.get(name)
    }

    /// Returns the entities that currently have a preference, by id.
    pub(crate) fn entities_with_taste(&self, taste: &Taste) -> impl Iterator<Item = EntityId> + use<'_> {
        self.tastes.get(taste).into_iter().flat_map(|it| it.keys().copied())
    }

    /// Returns the facts that a fact closed, and the one that closed it.
    pub(crate) fn closed_and_closing_facts<'a>(&'a self, fact: &'a Fact) -> impl Iterator<Item = &'a Fact> {
        let closed = self.closed.get(&fact.id).into_iter().flat_map(|it| it.keys());
        closed.chain(&fact.retired_by).filter_map(|it| self.get(*it))
    }

    /// Returns an equal name that other facts already hold, so that its text exists once, or else the name itself.
    fn share_name(&self, name: Name) -> Name {
        let known = self.naming.get_key_value(&name);
        known.map_or(name, |it| it.0.clone())
    }

    fn index_fact(&mut self, fact: &Arc<Fact>, more: bool, touched: &mut Touched) {
        let ranked = RankedFact(Arc::clone(fact));
        if let Some(by) = fact.retired_by {
            let closed = self.closed.entry(by).or_default();
            if more {
                closed.insert(fact.id, ());
            } else {
                closed.remove(&fact.id);
            }
            if closed.is_empty() {
                self.closed.remove(&by);
            }
        }
        for other in self.closed_and_closing_facts(fact) {
            touched.names.insert(Name::from_written(&other.object));
            touched.sources.insert(other.source);
        }
        let name = self.share_name(Name::from_written(&fact.object));
        let naming = self.naming.entry(name.clone()).or_default();
        update_ranks(naming, ranked.clone(), more.then_some(()));
        if naming.is_empty() {
            self.naming.remove(&name);
        }
        touched.names.insert(name.clone());
        let Some(entity) = fact.entity else { return };
        touched.entities.insert(entity);
        let aspects = self.of.entry(entity).or_default();
        let ranks = aspects.get_or_default(fact.aspect);
        update_ranks(ranks, ranked, more.then(|| name.shared_text()));
        if ranks.is_empty() {
            aspects.remove(&fact.aspect);
        }
        if aspects.is_empty() {
            self.of.remove(&entity);
        }
        let Some(taste) = taste_of_fact(fact) else { return };
        touched
            .contrary
            .extend(self.entities_with_taste(&opposite_taste(&taste)));
        let having = self.tastes.entry(taste.clone()).or_default();
        let count = having.get_or_default(entity);
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            having.remove(&entity);
        }
        if having.is_empty() {
            self.tastes.remove(&taste);
        }
    }
}

/// Returns the preference that a fact states, or none if the fact is of another kind or closed.
pub(crate) fn taste_of_fact(fact: &Fact) -> Option<Taste> {
    let now = fact.aspect == Aspect::Preference && fact.valid_until.is_none();
    let stems = text::stem_words(&fact.object);
    (now && !stems.is_empty()).then(|| (stems.join(" "), is_positive_preference(fact)))
}

pub(crate) fn opposite_taste(taste: &Taste) -> Taste {
    (taste.0.clone(), !taste.1)
}

/// Returns true if a preference is positive.
pub(crate) fn is_positive_preference(fact: &Fact) -> bool {
    let lower = fact.predicate.to_lowercase();
    !lower
        .split([' ', '\u{2019}'])
        .any(|it| PREFERENCE_REVERSALS.contains(it) || it.ends_with("n't"))
}

/// Returns the title of a section of facts.
pub(crate) fn section_title(aspect: Aspect) -> &'static str {
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

/// Returns the rank of a fact.
fn rank_of_fact(fact: &Fact) -> Rank {
    let sure = (fact.confidence.clamp(0.0, 1.0) * 100.0).round() as u32;
    (
        fact.valid_until.is_some(),
        Reverse(sure),
        Reverse(fact.recorded_at),
        fact.id,
    )
}

/// Adds a fact to a ranked list, or removes it if `value` is none.
fn update_ranks<V>(ranks: &mut SmallMap<RankedFact, V>, ranked: RankedFact, value: Option<V>) {
    match value {
        Some(value) => ranks.insert(ranked, value),
        None => ranks.remove(&ranked),
    };
}

#[cfg(test)]
mod tests {
    use domain::derived::Derived;

    use super::*;
    use crate::ChangedObjects;
    use crate::judgements::example::sample_event;
    use crate::pages::Pages;

    #[test]
    fn current_facts_come_first_then_the_surest_then_the_newest() {
        let source = sample_event(1, "");
        let fact = fixtures::sample_fact(&source, ["Ann", "lives in", "Oslo"], Aspect::Place);
        let later = fact.recorded_at + chrono::TimeDelta::days(1);
        let newer = Fact {
            recorded_at: later,
            ..fact.clone()
        };
        let surer = Fact {
            confidence: 0.95,
            ..fact.clone()
        };
        let closed = Fact {
            valid_until: Some(later),
            ..surer.clone()
        };
        let expected = [surer, newer, fact, closed];
        let mut ranks: Vec<RankedFact> = expected
            .iter()
            .rev()
            .map(|it| RankedFact(Arc::new(it.clone())))
            .collect();
        ranks.sort();
        assert!(ranks.iter().map(|it| &*it.0).eq(&expected));
        assert!(ranks.iter().map(RankedFact::is_current).eq([true, true, true, false]));
    }

    #[test]
    fn pages_keep_an_offered_fact_instead_of_a_copy() {
        let source = sample_event(1, "");
        let fact = fixtures::sample_fact(&source, ["Ann", "lives in", "Oslo"], Aspect::Place);
        let change = |confidence: f32| ChangedObjects {
            put: vec![Derived::Fact(Fact {
                confidence,
                ..fact.clone()
            })],
            removed: Vec::new(),
        };
        let (offered, mut pages) = (Arc::new(fact.clone()), Pages::default());
        pages.share_facts(vec![Arc::clone(&offered)]);
        pages.apply_changes(&change(0.9));
        assert!(Arc::ptr_eq(pages.known.facts.shared_fact(fact.id).unwrap(), &offered));
        pages.share_facts(vec![Arc::clone(&offered)]);
        pages.apply_changes(&change(0.5));
        let page_fact = pages.known.facts.get(fact.id).unwrap();
        assert_eq!(page_fact.confidence, 0.5, "the offered fact is another one");
    }
}
