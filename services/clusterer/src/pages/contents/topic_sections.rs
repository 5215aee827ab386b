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
        let topics = self.topics_of_unit(fact.source).into_iter();
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
        let closed = ranks.entries_from(RankedFact::is_current).map(|it| it.0);
        let mut fitting = SmallMap::default();
        for fact in current.chain(closed.take(COMPARED_MAX)).filter(fits) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;
    use domain::fact::Aspect;

    use super::*;
    use crate::judgements::example::sample_event;
    use crate::space::spill_file::SpillFile;

    #[test]
    fn current_facts_that_are_not_compared_stay_in_the_file() {
        const CURRENT: i64 = 590;
        let source = sample_event(1, "");
        let (mut facts, mut ranked) = (FactIndex::default(), RankedFacts::default());
        let mut in_order: Vec<RankedFact> = Vec::new();
        for number in 0..CURRENT + 10 {
            let object = format!("canoe {number}");
            let fact = fixtures::sample_fact(&source, ["Ann", "owns", &object], Aspect::Possession);
            let fact = Fact {
                recorded_at: fact.recorded_at + TimeDelta::seconds(number),
                valid_until: Some(fact.recorded_at).filter(|_| number >= CURRENT),
                ..fact
            };
            let rank = RankedFact::from_fact(&fact);
            facts.set_fact(fact.id, Some(&Arc::new(fact)));
            ranked.get_or_default(Aspect::Possession).insert(rank, 1);
            in_order.push(rank);
        }
        in_order.sort();
        let (_folder, file) = SpillFile::create_for_test();
        // What was used since the first call is spilled by the second.
        for _ in 0..2 {
            ranked.few_values_mut().for_each(|it| it.spill_unused(&file));
        }
        let stems = text::stem_words("canoe").into_iter().collect();
        let fitting = fitting_facts(Some(&ranked), &facts, &stems);
        let closed = &in_order[CURRENT as usize..];
        let expected = in_order[..COMPARED_MAX].iter().chain(closed);
        assert!(fitting.get(&Aspect::Possession).unwrap().keys().eq(expected));
        assert!(!file.is_damaged());
        file.damage();
        let between = &in_order[CURRENT as usize / 2];
        assert_eq!(ranked.get(&Aspect::Possession).unwrap().get(between), None);
        assert!(file.is_damaged(), "it was not read back before");
    }
}
