//! Builds a page from the known facts, units and names.

use chrono::{DateTime, Utc};
use domain::fact::Aspect;
use domain::page::{Page, PageStatus, Section};

use crate::pages::contents::sections::{Ranks, round_to_hundredths};
use crate::pages::inputs::page_inputs::{Head, PageInputs, Subject};
use crate::space::page_language::texts_of_sections;

/// Maximum number of sections of a page. The next constants limit tags and other names.
const SECTIONS_MAX: usize = 12;
const TAGS_MAX: usize = 8;
const ALIASES_MAX: usize = 16;

impl PageInputs {
    /// Builds the page of a subject from its head.
    pub(crate) fn build_page(&self, subject: &Subject, head: &Head) -> Page {
        let buckets = self.buckets_of_subject(subject);
        let own = buckets.iter().map(|it| it.times.len()).sum();
        let events = self.events_section(&buckets);
        let mut sections: Vec<Section> = match subject {
            Subject::Entity(id) => {
                let mut sections = self.fact_sections(*id, &[]);
                if head.dimension == domain::page::Dimension::Place {
                    let (current, taken) = (self.facts_naming_entity(*id), self.named_in(&self.withdrawn_facts, *id));
                    let ranks = Ranks::from_facts_naming_place(current, taken);
                    sections.extend(self.facts_section("What people have to do with it", "place", &ranks));
                }
                sections
            }
            Subject::Taste(id) => self.fact_sections(*id, &[Aspect::Preference, Aspect::Instruction]),
            Subject::Topic(id) => self.topic_sections(*id),
            Subject::Month(_) => Vec::new(),
        };
        sections.extend(events);
        let start = |it: &Section| it.time.as_ref().map(|it| it.start);
        sections.sort_by(|a, b| (&a.category, start(a), &a.title).cmp(&(&b.category, start(b), &b.title)));
        sections.truncate(SECTIONS_MAX);
        let texts = texts_of_sections(&sections);
        for section in &mut sections {
            section.title = texts.translate(&section.title).to_owned();
        }
        let shown = || sections.iter().filter(|it| !it.lines.is_empty());
        let sure = shown().map(|it| it.confidence).sum::<f32>() / shown().count().max(1) as f32;
        let lines = sections.iter().flat_map(|it| &it.lines).map(|it| it.observed_at);
        let last_mentions = buckets
            .iter()
            .filter_map(|it| self.contents.times_of_bucket(it).next_back())
            .map(|it| it.0);
        let updated_at: Option<DateTime<Utc>> = lines.chain(last_mentions).max();
        Page {
            id: head.id,
            dimension: head.dimension,
            title: head.title.clone(),
            summary: self.build_summary(subject, &sections, &buckets, texts),
            aliases: self.subject_aliases(subject),
            tags: self.subject_tags(subject),
            links: self.build_links(subject, &buckets, own),
            confidence: round_to_hundredths(sure),
            updated_at: updated_at.unwrap_or_default(),
            status: PageStatus::Active,
            sections,
        }
    }

    fn subject_aliases(&self, subject: &Subject) -> Vec<String> {
        let (Subject::Entity(id) | Subject::Taste(id)) = subject else {
            return Vec::new();
        };
        let entity = self.names.find_entity(*id);
        let mut out: Vec<String> = entity
            .into_iter()
            .flat_map(|it| it.aliases.iter().chain(&it.roles))
            .cloned()
            .collect();
        out.sort();
        out.dedup();
        out.truncate(ALIASES_MAX);
        out
    }

    fn subject_tags(&self, subject: &Subject) -> Vec<String> {
        let Subject::Topic(id) = subject else {
            return Vec::new();
        };
        let keywords = self.topics.get(id).into_iter().flat_map(|it| &it.keywords);
        keywords.take(TAGS_MAX).cloned().collect()
    }
}
