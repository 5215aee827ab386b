//! The subjects of pages, and the data that pages are built from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::entity::EntityKind;
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, PageId, SpaceId, TopicId};
use domain::page::Dimension;
use domain::topic::Topic;

use super::bucket::{About, Bucket, Month};
use super::facts::{self, Facts};
use super::names::{Name, Names};
use super::placed::Placed;
use super::store::Store;

/// Minimum number of mentions of a figure or place that has a page without any fact.
const MENTIONS_MIN: u64 = 2;

/// The subject of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A figure or a place.
    Entity(EntityId),
    /// The preferences and instructions of a figure.
    Taste(EntityId),
    /// A topic.
    Topic(TopicId),
    /// A month.
    Month(Month),
}

/// The data of a page that links to it need.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) id: PageId,
    pub(super) dimension: Dimension,
    pub(super) title: String,
}

/// All data that pages are built from.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) store: Store,
    pub(super) facts: Facts,
    /// Withdrawn facts in their last state.
    pub(super) taken: Facts,
    pub(super) placed: Placed,
    pub(super) names: Names,
    pub(super) topics: BTreeMap<TopicId, Topic>,
    /// Events by the topic that they may found, each with the caller's id of its first record.
    pub(super) founders: HashMap<TopicId, Box<str>>,
    pub(super) heads: BTreeMap<Subject, Head>,
}

impl Known {
    /// Returns the subject whose page covers this thing.
    pub(super) fn subject(&self, about: &About) -> Option<Subject> {
        match about {
            About::Name(name) => self.names.owner(name).map(Subject::Entity),
            About::Topic(topic) => Some(Subject::Topic(*topic)),
            About::Month(month) => Some(Subject::Month(*month)),
        }
    }

    /// Returns the existing buckets of a subject.
    pub(super) fn buckets(&self, subject: &Subject) -> Vec<&Bucket> {
        let abouts: Vec<About> = match subject {
            Subject::Entity(id) => self.names.of(*id).cloned().map(About::Name).collect(),
            Subject::Taste(_) => Vec::new(),
            Subject::Topic(id) => vec![About::Topic(*id)],
            Subject::Month(month) => vec![About::Month(*month)],
        };
        abouts.iter().filter_map(|it| self.store.bucket(it)).collect()
    }

    /// Returns the head of a subject, or none if it has no page.
    pub(super) fn head(&self, space: &SpaceId, subject: &Subject) -> Option<Head> {
        self.head_by(space, subject, &self.facts)
    }

    /// Returns the head of a subject's former page, all of whose facts were withdrawn.
    pub(super) fn former_head(&self, space: &SpaceId, subject: &Subject) -> Option<Head> {
        self.head_by(space, subject, &self.taken)
    }

    fn head_by(&self, space: &SpaceId, subject: &Subject, facts: &Facts) -> Option<Head> {
        let (dimension, key, title) = match subject {
            Subject::Entity(id) => {
                let entity = self.names.get(*id)?;
                let dimension = match entity.kind {
                    EntityKind::Speaker | EntityKind::Person => Dimension::Figure,
                    EntityKind::Place => Dimension::Place,
                    EntityKind::Other => return None,
                };
                let told = facts.about(*id).is_some()
                    || dimension == Dimension::Place && self.named_in(facts, *id).next().is_some();
                if entity.mentions < MENTIONS_MIN && !told {
                    return None;
                }
                (dimension, id.to_string(), entity.name.clone())
            }
            Subject::Taste(id) => {
                let entity = self.names.get(*id)?;
                let aspects = facts.about(*id)?;
                if !aspects.contains_key(&Aspect::Preference) && !aspects.contains_key(&Aspect::Instruction) {
                    return None;
                }
                let title = format!("Preferences of {}", entity.name);
                (Dimension::Preference, id.to_string(), title)
            }
            Subject::Topic(id) => {
                let topic = self.topics.get(id)?;
                (Dimension::Topic, id.to_string(), topic.label.clone())
            }
            Subject::Month(month) => {
                let bucket = self.store.bucket(&About::Month(*month))?;
                if bucket.times.is_empty() {
                    return None;
                }
                (Dimension::Event, month.key(), month.title())
            }
        };
        Some(Head {
            id: PageId::derive(space, dimension.name(), &key),
            dimension,
            title,
        })
    }

    /// Returns the facts whose value is a name of an entity, name by name, with the entities they are about.
    pub(super) fn named(&self, id: EntityId) -> impl Iterator<Item = (&facts::Rank, Option<EntityId>)> {
        self.named_in(&self.facts, id)
    }

    /// Returns those of `facts` whose value is a name of an entity.
    pub(super) fn named_in<'a>(
        &'a self,
        facts: &'a Facts,
        id: EntityId,
    ) -> impl Iterator<Item = (&'a facts::Rank, Option<EntityId>)> {
        let naming = self.names.of(id).filter_map(|it| facts.naming(it));
        naming.flatten().map(|(rank, about)| (rank, *about))
    }

    /// Adds the subjects whose pages may link to the page of `subject`.
    pub(super) fn neighbours(&self, subject: &Subject, out: &mut BTreeSet<Subject>) {
        match subject {
            Subject::Entity(id) => {
                for name in self.names.of(*id) {
                    self.near(&About::Name(name.clone()), out);
                }
                let about = self.facts.about(*id).into_iter().flat_map(|it| it.values());
                let objects = about.flat_map(|it| it.values());
                out.extend(objects.filter_map(|it| self.names.owner(it)).map(Subject::Entity));
                out.insert(Subject::Taste(*id));
            }
            Subject::Taste(id) => {
                out.insert(Subject::Entity(*id));
                let facts = self.facts.about(*id).and_then(|it| it.get(&Aspect::Preference));
                for (.., fact) in facts.into_iter().flat_map(|it| it.keys()) {
                    let taste = self.facts.get(*fact).and_then(facts::taste);
                    let other = taste
                        .iter()
                        .flat_map(|it| self.facts.having(&facts::opposite(it)).collect::<Vec<_>>());
                    out.extend(other.map(Subject::Taste));
                }
            }
            Subject::Topic(id) => {
                self.near(&About::Topic(*id), out);
                out.extend(self.topics.keys().copied().map(Subject::Topic));
            }
            Subject::Month(month) => {
                self.near(&About::Month(*month), out);
                let before = self.heads.range(..Subject::Month(*month)).next_back();
                out.extend(before.map(|it| it.0.clone()));
            }
        }
    }

    /// Returns the entity that the value of a fact names.
    pub(super) fn meant(&self, fact: &Fact) -> Option<EntityId> {
        self.names.owner(&Name::of(&fact.object))
    }

    /// Adds the subjects that are mentioned together with this thing, in a unit or in a fact.
    pub(super) fn near(&self, about: &About, out: &mut BTreeSet<Subject>) {
        let bucket = self.store.bucket(about);
        let keys = bucket.into_iter().flat_map(|it| it.near.keys());
        out.extend(keys.filter_map(|it| self.subject(it)));
        let About::Name(name) = about else { return };
        let naming = self.facts.naming(name).into_iter().flatten();
        for fact in naming.filter_map(|it| self.facts.get(it.0.3)) {
            let against = self.facts.against(fact).filter_map(|it| self.meant(it));
            out.extend(fact.entity.into_iter().chain(against).map(Subject::Entity));
        }
    }
}
