//! Selects the facts of a topic page.
//!
//! A topic contains whole events, and people speak of several things at once: "I sold the canoe, and Mia has a cold".
//! The page of the topic "canoe" shows the fact about the canoe only.

use std::collections::BTreeSet;

use domain::fact::Fact;
use domain::id::TopicId;
use domain::page::Section;
use text::facts::fact_sentence;

use crate::pages::inputs::facts::{FactIndex, RankedFact};
use crate::pages::inputs::page_inputs::PageInputs;
use crate::pages::inputs::topic_facts::RankedFacts;
use crate::space::small_map::SmallMap;

/// Maximum number of current facts, and of closed facts, that are compared with the topic, for each aspect.
const COMPARED_MAX: usize = 96;

impl PageInputs {
    /// Returns the sections of the facts of a topic, by aspect: facts that contain a word of its label or of its
    /// keywords.
    pub(crate) fn topic_sections(&self, id: TopicId) -> Vec<Section> {
        let stems = self.stems_of_topic(id);
        let current = fitting_facts(self.facts_by_topic.facts_of_topic(id), &self.facts, &stems);
        let withdrawn = self.facts_by_topic.withdrawn_facts_of_topic(id);
        let withdrawn = fitting_facts(withdrawn, &self.withdrawn_facts, &stems);
        self.by_aspect(Some(&current), Some(&withdrawn), &[])
    }

    /// Returns the facts that the page of a topic may show, best first for each aspect.
    pub(super) fn facts_of_topic_page(&self, id: TopicId) -> RankedFacts {
        let facts = self.facts_by_topic.facts_of_topic(id);
        fitting_facts(facts, &self.facts, &self.stems_of_topic(id))
    }

    /// Returns the topics on whose pages a fact may be shown.
    pub(super) fn topics_showing_fact(&self, fact: &Fact) -> impl Iterator<Item = TopicId> {
        let topics = self.facts_by_topic.topics_of(fact.source).into_iter();
        topics.filter(|it| contains_stem(fact, &self.stems_of_topic(*it)))
    }

    fn stems_of_topic(&self, id: TopicId) -> BTreeSet<String> {
        let topic = self.topics.get(&id).into_iter();
        let texts = topic.flat_map(|it| it.keywords.iter().chain([&it.label]));
        texts.flat_map(|it| text::stem_words(it)).collect()
    }
}

/// Returns the ranked facts that contain one of the stems.
fn fitting_facts(ranked: Option<&RankedFacts>, facts: &FactIndex, stems: &BTreeSet<String>) -> RankedFacts {
    let fits = |it: &&RankedFact| facts.get(it.id).is_some_and(|it| contains_stem(it, stems));
    let mut out = RankedFacts::default();
    for (aspect, ranks) in ranked.into_iter().flat_map(SmallMap::iter) {
        let current = ranks.keys().take_while(|it| it.is_current()).take(COMPARED_MAX);
        let closed = ranks.keys().skip_while(|it| it.is_current()).take(COMPARED_MAX);
        let mut fitting = SmallMap::default();
        for fact in current.chain(closed).filter(fits) {
            fitting.insert(*fact, 1);
        }
        if !fitting.is_empty() {
            out.insert(*aspect, fitting);
        }
    }
    out
}

fn contains_stem(fact: &Fact, stems: &BTreeSet<String>) -> bool {
    text::stem_words(&fact_sentence(fact))
        .iter()
        .any(|it| stems.contains(it))
}
