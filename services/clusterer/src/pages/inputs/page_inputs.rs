//! The subjects of pages, and the data that pages are built from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::entity::EntityKind;
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, PageId, SpaceId, TopicId, UnitId};
use domain::page::Dimension;
use domain::topic::Topic;
use text::facts::fact_sentence;
use text::gloss::PageTexts;

use crate::pages::inputs::buckets::bucket::{About, Bucket, Month};
use crate::pages::inputs::facts::{self, Aspects, FactIndex, RankedFact};
use crate::pages::inputs::gist_index::Gists;
use crate::pages::inputs::names::{Name, Names};
use crate::pages::inputs::topic_facts::FactsByTopic;
use crate::pages::inputs::unit_index::ContentIndex;
use crate::space::hidden_units::HiddenUnits;
use crate::space::id_map::IdMap;
use crate::space::page_language::texts_of_lines;
use crate::space::spill_file::SpillFile;

/// Minimum number of mentions of a figure or place that has a page without any fact.
const MENTIONS_MIN: u64 = 2;
/// Maximum number of lines from which the language of a title is detected.
const LANGUAGE_LINES_MAX: usize = 8;

/// The subject of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
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
pub(crate) struct Head {
    pub(crate) id: PageId,
    pub(crate) dimension: Dimension,
    pub(crate) title: String,
}

/// All data that pages are built from.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageInputs {
    pub(crate) contents: ContentIndex,
    pub(crate) facts: FactIndex,
    /// Withdrawn facts in their last state.
    pub(crate) withdrawn_facts: FactIndex,
    pub(crate) facts_by_topic: FactsByTopic,
    pub(crate) gists: Gists,
    pub(crate) hidden: HiddenUnits,
    /// The units of `contents` that pages must not quote.
    pub(crate) hidden_units: BTreeSet<UnitId>,
    pub(crate) names: Names,
    pub(crate) topics: BTreeMap<TopicId, Topic>,
    /// Events by the topic that they may found, each with the caller's id of its first record.
    pub(crate) founders: IdMap<TopicId, Box<str>>,
    pub(crate) heads: BTreeMap<Subject, Head>,
}

impl PageInputs {
    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.contents.spill_unused(file);
        self.facts_by_topic.spill_unused(file);
        self.founders.spill_unused(file);
        self.facts.spill_unused(file);
        self.withdrawn_facts.spill_unused(file);
    }

    /// Returns the subject whose page covers this thing.
    pub(crate) fn covering_subject(&self, about: &About) -> Option<Subject> {
        match about {
            About::Name(name) => self.names.owner_of_name(name).map(Subject::Entity),
            About::Topic(topic) => Some(Subject::Topic(*topic)),
            About::Month(month) => Some(Subject::Month(*month)),
        }
    }

    /// Returns the topics of the events that contain a unit.
    pub(crate) fn topics_of_unit(&self, unit: UnitId) -> BTreeSet<TopicId> {
        self.facts_by_topic.topics_of(unit, &self.contents.topics_of_events)
    }

    /// Returns the existing buckets of a subject.
    pub(crate) fn buckets_of_subject(&self, subject: &Subject) -> Vec<&Bucket> {
        let abouts: Vec<About> = match subject {
            Subject::Entity(id) => self.names.names_of_entity(*id).cloned().map(About::Name).collect(),
            Subject::Taste(_) => Vec::new(),
            Subject::Topic(id) => vec![About::Topic(*id)],
            Subject::Month(month) => vec![About::Month(*month)],
        };
        abouts.iter().filter_map(|it| self.contents.find_bucket(it)).collect()
    }

    /// Returns the head of a subject, or none if it has no page.
    pub(crate) fn current_head(&self, space: &SpaceId, subject: &Subject) -> Option<Head> {
        self.head_by(space, subject, &self.facts)
    }

    /// Returns the head of a subject's former page, all of whose facts were withdrawn.
    pub(crate) fn former_head(&self, space: &SpaceId, subject: &Subject) -> Option<Head> {
        self.head_by(space, subject, &self.withdrawn_facts)
    }

    fn head_by(&self, space: &SpaceId, subject: &Subject, facts: &FactIndex) -> Option<Head> {
        let (dimension, key, title) = match subject {
            Subject::Entity(id) => {
                let entity = self.names.find_entity(*id)?;
                let dimension = match entity.kind {
                    EntityKind::Speaker | EntityKind::Person => Dimension::Figure,
                    EntityKind::Place => Dimension::Place,
                    EntityKind::Other => return None,
                };
                let has_facts = facts.facts_about_entity(*id).is_some()
                    || dimension == Dimension::Place && self.named_in(facts, *id).next().is_some();
                if entity.mentions < MENTIONS_MIN && !has_facts {
                    return None;
                }
                (dimension, id.to_string(), entity.name.clone())
            }
            Subject::Taste(id) => {
                let entity = self.names.find_entity(*id)?;
                let aspects = facts.facts_about_entity(*id)?;
                let stated = |it: Aspect| aspects.get(&it).is_some();
                if !stated(Aspect::Preference) && !stated(Aspect::Instruction) {
                    return None;
                }
                let texts = texts_of_tastes(aspects, facts);
                let title = texts.fill("Preferences of {name}", &[("{name}", entity.name.as_str())]);
                (Dimension::Preference, id.to_string(), title)
            }
            Subject::Topic(id) => {
                let topic = self.topics.get(id)?;
                (Dimension::Topic, id.to_string(), topic.label.clone())
            }
            Subject::Month(month) => {
                let bucket = self.contents.find_bucket(&About::Month(*month))?;
                if bucket.times.is_empty() {
                    return None;
                }
                (
                    Dimension::Event,
                    month.to_key(),
                    month.to_title(self.texts_of_bucket(bucket)),
                )
            }
        };
        Some(Head {
            id: PageId::from_subject(space, dimension.name(), &key),
            dimension,
            title,
        })
    }

    /// Returns the fixed texts in the language of the best lines of a bucket.
    fn texts_of_bucket(&self, bucket: &Bucket) -> &'static PageTexts {
        texts_of_lines(self.contents.lines_of_bucket(bucket).take(LANGUAGE_LINES_MAX))
    }

    /// Returns the facts whose value is a name of an entity, name by name.
    pub(crate) fn facts_naming_entity(&self, id: EntityId) -> impl Iterator<Item = &RankedFact> {
        self.named_in(&self.facts, id)
    }

    /// Returns those of `facts` whose value is a name of an entity.
    pub(crate) fn named_in<'a>(&'a self, facts: &'a FactIndex, id: EntityId) -> impl Iterator<Item = &'a RankedFact> {
        self.names.names_of_entity(id).flat_map(|it| facts.facts_naming(it))
    }

    /// Adds the subjects whose pages may link to the page of `subject`.
    pub(crate) fn add_neighbours(&self, subject: &Subject, out: &mut BTreeSet<Subject>) {
        match subject {
            Subject::Entity(id) => {
                for name in self.names.names_of_entity(*id) {
                    self.add_mentioned_together(&About::Name(name.clone()), out);
                }
                let about = self
                    .facts
                    .facts_about_entity(*id)
                    .into_iter()
                    .flat_map(|it| it.values());
                let objects = about.flat_map(|it| it.values());
                out.extend(
                    objects
                        .filter_map(|it| self.names.owner_of_name(&Name::from_normalised(Arc::clone(it))))
                        .map(Subject::Entity),
                );
                out.insert(Subject::Taste(*id));
            }
            Subject::Taste(id) => {
                out.insert(Subject::Entity(*id));
                let facts = self
                    .facts
                    .facts_about_entity(*id)
                    .and_then(|it| it.get(&Aspect::Preference));
                let facts = facts.into_iter().flat_map(|it| it.keys());
                for fact in facts.filter_map(|it| self.facts.get(it.id)) {
                    let taste = facts::taste_of_fact(fact);
                    let other = taste.iter().flat_map(|it| {
                        self.facts
                            .entities_with_taste(&facts::opposite_taste(it))
                            .collect::<Vec<_>>()
                    });
                    out.extend(other.map(Subject::Taste));
                }
            }
            Subject::Topic(id) => {
                self.add_mentioned_together(&About::Topic(*id), out);
                out.extend(self.topics.keys().copied().map(Subject::Topic));
            }
            Subject::Month(month) => {
                self.add_mentioned_together(&About::Month(*month), out);
                let before = self.heads.range(..Subject::Month(*month)).next_back();
                out.extend(before.map(|it| it.0.clone()));
            }
        }
    }

    /// Returns the entity that the value of a fact names.
    pub(crate) fn object_entity(&self, fact: &Fact) -> Option<EntityId> {
        self.names.owner_of_name(&Name::from_written(&fact.object))
    }

    /// Adds the subjects that are mentioned together with this thing, in a unit or in a fact.
    pub(crate) fn add_mentioned_together(&self, about: &About, out: &mut BTreeSet<Subject>) {
        let bucket = self.contents.find_bucket(about);
        let near = bucket.into_iter().flat_map(|it| self.contents.near_things(it));
        out.extend(near.filter_map(|it| self.covering_subject(it)));
        let About::Name(name) = about else { return };
        for fact in self.facts.facts_naming(name).filter_map(|it| self.facts.get(it.id)) {
            let against = self
                .facts
                .closed_and_closing_facts(fact)
                .filter_map(|it| self.object_entity(it));
            out.extend(fact.entity.into_iter().chain(against).map(Subject::Entity));
        }
    }
}

/// Returns the fixed texts in the language of the best preferences and instructions of a figure.
fn texts_of_tastes(aspects: &Aspects, facts: &FactIndex) -> &'static PageTexts {
    let ranked = [Aspect::Preference, Aspect::Instruction]
        .into_iter()
        .filter_map(|it| aspects.get(&it));
    let best = ranked.flat_map(|it| it.keys().take(LANGUAGE_LINES_MAX));
    let sentences: Vec<String> = best.filter_map(|it| facts.get(it.id)).map(fact_sentence).collect();
    texts_of_lines(sentences.iter().map(String::as_str))
}
