//! Builds a page from the known facts, units and names.

use chrono::{DateTime, Utc};
use domain::fact::Aspect;
use domain::page::{Page, PageStatus, Section};

use super::known::{Head, Known, Subject};
use super::sections::{Ranks, rounded};

/// Maximum number of sections of a page. The next constants limit tags and other names.
const SECTIONS_MAX: usize = 12;
const TAGS_MAX: usize = 8;
const ALIASES_MAX: usize = 16;

impl Known {
    /// Builds the page of a subject from its head.
    pub(super) fn page(&self, subject: &Subject, head: &Head) -> Page {
        let buckets = self.buckets(subject);
        let own = buckets.iter().map(|it| it.times.len()).sum();
        let events = self.events(&buckets);
        let mut sections: Vec<Section> = match subject {
            Subject::Entity(id) => {
                let mut sections = self.fact_sections(*id, &[]);
                if head.dimension == domain::page::Dimension::Place {
                    let named = self.named(*id).map(|it| it.0);
                    let ranks = Ranks::naming(named, self.named_in(&self.taken, *id).map(|it| it.0));
                    sections.extend(self.facts_section("What people have to do with it", "place", &ranks));
                }
                sections
            }
            Subject::Taste(id) => self.fact_sections(*id, &[Aspect::Preference, Aspect::Instruction]),
            Subject::Topic(id) => self.told_sections(*id),
            Subject::Month(_) => Vec::new(),
        };
        sections.extend(events);
        let start = |it: &Section| it.time.as_ref().map(|it| it.start);
        sections.sort_by(|a, b| (&a.category, start(a), &a.title).cmp(&(&b.category, start(b), &b.title)));
        sections.truncate(SECTIONS_MAX);
        let shown = || sections.iter().filter(|it| !it.lines.is_empty());
        let sure = shown().map(|it| it.confidence).sum::<f32>() / shown().count().max(1) as f32;
        let lines = sections.iter().flat_map(|it| &it.lines).map(|it| it.observed_at);
        let seen = buckets
            .iter()
            .filter_map(|it| it.times.keys().next_back())
            .map(|it| it.0);
        let updated_at: Option<DateTime<Utc>> = lines.chain(seen).max();
        Page {
            id: head.id,
            dimension: head.dimension,
            title: head.title.clone(),
            summary: self.summary(subject, &sections, &buckets),
            aliases: self.aliases(subject),
            tags: self.tags(subject),
            links: self.links(subject, &buckets, own),
            confidence: rounded(sure),
            updated_at: updated_at.unwrap_or_default(),
            status: PageStatus::Active,
            sections,
        }
    }

    fn aliases(&self, subject: &Subject) -> Vec<String> {
        let (Subject::Entity(id) | Subject::Taste(id)) = subject else {
            return Vec::new();
        };
        let entity = self.names.get(*id);
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

    fn tags(&self, subject: &Subject) -> Vec<String> {
        let Subject::Topic(id) = subject else {
            return Vec::new();
        };
        let keywords = self.topics.get(id).into_iter().flat_map(|it| &it.keywords);
        keywords.take(TAGS_MAX).cloned().collect()
    }
}
