//! Facts indexed by the entity that they are about and by the name in their value, current ones first.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, FactId, UnitId};
use serde::{Deserialize, Serialize};

use crate::pages::inputs::names::Name;
use crate::space::id_map::IdMap;
use crate::space::small_map::SmallMap;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;
use crate::word_lists::PREFERENCE_REVERSALS;

/// A fact in a ranked list: current before closed, then the highest confidence, then the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RankedFact {
    is_closed: bool,
    percent: Reverse<u8>,
    recorded_at: Reverse<DateTime<Utc>>,
    pub(crate) id: FactId,
}

impl RankedFact {
    /// Returns the rank of a fact.
    pub(crate) fn from_fact(fact: &Fact) -> RankedFact {
        RankedFact {
            is_closed: fact.valid_until.is_some(),
            percent: Reverse((fact.confidence.clamp(0.0, 1.0) * 100.0).round() as u8),
            recorded_at: Reverse(fact.recorded_at),
            id: fact.id,
        }
    }

    /// Returns true if the fact is current.
    pub(crate) fn is_current(&self) -> bool {
        !self.is_closed
    }
}

/// A thing, and whether it is liked (true) or disliked.
pub(crate) type Taste = (String, bool);

/// Facts about an entity by aspect, each with the text of the name in its value.
pub(crate) type Aspects = SmallMap<Aspect, SmallMap<RankedFact, Arc<str>>>;

/// A fact under the name in its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NamingFact {
    name: Name,
    ranked: RankedFact,
}

/// The facts of one space, without withdrawn ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactIndex {
    all: IdMap<FactId, Arc<Fact>>,
    of: HashMap<EntityId, Aspects>,
    /// The facts that have a name as their value, name by name.
    naming: SortedChunks<NamingFact, ()>,
    tastes: SortedChunks<Taste, SmallMap<EntityId, u32>>,
    /// Facts by the fact that closed them.
    closed: IdMap<FactId, SmallMap<FactId, ()>>,
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
    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.all.spill_unused(file);
        self.naming.spill_unused(file);
        self.tastes.spill_unused(file);
        self.closed.spill_unused(file);
        let ranks = self.of.values_mut().flat_map(SmallMap::few_values_mut);
        ranks.for_each(|it| it.spill_unused(file));
    }

    /// Adds or replaces a fact, or removes it if `fact` is none.
    pub(crate) fn set_fact(&mut self, id: FactId, fact: Option<&Arc<Fact>>) -> Touched {
        let mut touched = Touched::default();
        let fact = fact.filter(|it| !it.withdrawn);
        if self.all.get(id) == fact {
            return touched;
        }
        if let Some(old) = self.all.remove(id) {
            self.index_fact(&old, false, &mut touched);
        }
        if let Some(fact) = fact {
            self.index_fact(fact, true, &mut touched);
            self.all.insert(id, Arc::clone(fact));
        }
        touched
    }

    pub(crate) fn get(&self, id: FactId) -> Option<&Fact> {
        self.all.get(id).map(Arc::as_ref)
    }

    /// Returns the fact of an id, to be shared.
    pub(crate) fn shared_fact(&self, id: FactId) -> Option<&Arc<Fact>> {
        self.all.get(id)
    }

    /// Returns the facts about an entity, by aspect.
    pub(crate) fn facts_about_entity(&self, entity: EntityId) -> Option<&Aspects> {
        self.of.get(&entity)
    }

    /// Returns the facts whose value is this name, by rank.
    pub(crate) fn facts_naming(&self, name: &Name) -> impl Iterator<Item = &RankedFact> + use<'_> {
        let name = name.clone();
        let from_name = self.naming.entries_from(|it| it.name < name);
        from_name
            .map(|it| it.0)
            .take_while(move |it| it.name == name)
            .map(|it| &it.ranked)
    }

    /// Returns the entities that currently have a preference, by id.
    pub(crate) fn entities_with_taste(&self, taste: &Taste) -> impl Iterator<Item = EntityId> + use<'_> {
        self.tastes.get(taste).into_iter().flat_map(|it| it.keys().copied())
    }

    /// Returns the facts that a fact closed, and the one that closed it.
    pub(crate) fn closed_and_closing_facts<'a>(&'a self, fact: &'a Fact) -> impl Iterator<Item = &'a Fact> {
        let closed = self.closed.get(fact.id).into_iter().flat_map(|it| it.keys());
        closed.chain(&fact.retired_by).filter_map(|it| self.get(*it))
    }

    /// Returns an equal name that other facts already hold, so that its text exists once, or else the name itself.
    fn share_name(&self, name: Name) -> Name {
        let next = self.naming.entries_from(|it| it.name < name).next();
        let known = next.map(|it| &it.0.name).filter(|it| **it == name);
        known.cloned().unwrap_or(name)
    }

    fn index_fact(&mut self, fact: &Arc<Fact>, more: bool, touched: &mut Touched) {
        let ranked = RankedFact::from_fact(fact);
        if let Some(by) = fact.retired_by {
            let closed = self.closed.get_or_default(by);
            if more {
                closed.insert(fact.id, ());
            } else {
                closed.remove(&fact.id);
            }
            if closed.is_empty() {
                self.closed.remove(by);
            }
        }
        for other in self.closed_and_closing_facts(fact) {
            touched.names.insert(Name::from_written(&other.object));
            touched.sources.insert(other.source);
        }
        let name = self.share_name(Name::from_written(&fact.object));
        let naming = NamingFact {
            name: name.clone(),
            ranked,
        };
        if more {
            self.naming.insert(naming, ());
        } else {
            self.naming.remove(&naming);
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
        let having = self.tastes.get_or_default(taste.clone());
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
        let in_order = expected.map(|it| RankedFact::from_fact(&it));
        let mut ranks = in_order;
        ranks.reverse();
        ranks.sort();
        assert_eq!(ranks, in_order);
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
