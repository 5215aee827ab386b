//! Links between pages: related subjects, next in time, causes, and contrasts.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use domain::fact::Aspect;
use domain::id::{EntityId, TopicId};
use domain::page::{Dimension, Link, LinkKind};

use crate::pages::contents::sections::{LINES_MAX, round_to_hundredths};
use crate::pages::inputs::buckets::bucket::{Bucket, most_frequent};
use crate::pages::inputs::facts::{opposite_taste, taste_of_fact};
use crate::pages::inputs::names::Name;
use crate::pages::inputs::page_inputs::{Head, PageInputs, Subject};

/// Maximum number of links of a page.
const LINKS_MAX: usize = 16;
/// Maximum number of neighbours considered for each name; the others are mentioned together with it only once or
/// twice.
const LOOKED_AT: usize = 96;
/// Maximum number of contrasting links.
const CONTRASTS_MAX: usize = 8;
/// Maximum number of links that come from facts (`FACT_LINKS_MAX`), and their weight (`FACT_LINK_WEIGHT`).
const FACT_LINKS_MAX: usize = 6;
const FACT_LINK_WEIGHT: f32 = 0.6;
/// Maximum number of facts of one aspect or about one thing that are checked for contrasts.
const CLOSED_LOOKED_AT: usize = 200;
/// Maximum number of links to causes.
const REASONS_MAX: usize = 2;

impl PageInputs {
    /// Returns the links of a page, strongest first, ties by page; `own` is the number of units of the page.
    pub(crate) fn build_links(&self, subject: &Subject, buckets: &[&Bucket], own: usize) -> Vec<Link> {
        let mut out = self.related_links(subject, buckets, own);
        match subject {
            Subject::Entity(id) => {
                out.extend(self.link_to_subject(LinkKind::RelatedTo, &Subject::Taste(*id), 1.0));
                self.add_fact_links(*id, &mut out);
                self.add_cause_links(subject, buckets, &mut out);
                self.add_replacement_links(*id, &mut out);
            }
            Subject::Taste(id) => {
                out.extend(self.link_to_subject(LinkKind::RelatedTo, &Subject::Entity(*id), 1.0));
                self.add_opposite_taste_links(*id, &mut out);
            }
            Subject::Topic(id) => {
                self.taken_back(*id, &mut out);
                let order = |it: &domain::topic::Topic| (it.first_seen, it.id);
                let own = self.topics.get(id).map(order);
                let later = self.topics.values().filter(|it| Some(order(it)) > own);
                let next = later.min_by_key(|it| order(it)).map(|it| Subject::Topic(it.id));
                out.extend(next.and_then(|it| self.link_to_subject(LinkKind::TemporalNext, &it, 0.5)));
            }
            Subject::Month(_) => {
                let later = (Bound::Excluded(subject), Bound::Unbounded);
                let next = self.heads.range::<Subject, _>(later).next();
                out.extend(next.and_then(|it| self.link_to_subject(LinkKind::TemporalNext, it.0, 0.5)));
            }
        }
        out.sort_by(|a, b| {
            b.weight
                .total_cmp(&a.weight)
                .then(a.page.cmp(&b.page))
                .then(a.kind.cmp(&b.kind))
        });
        out.truncate(LINKS_MAX);
        out
    }

    fn related_links(&self, subject: &Subject, buckets: &[&Bucket], own: usize) -> Vec<Link> {
        let mut counts: BTreeMap<Subject, u32> = BTreeMap::new();
        for (about, count) in buckets
            .iter()
            .flat_map(|it| self.contents.nearest_things(it, LOOKED_AT))
        {
            if let Some(other) = self.covering_subject(about).filter(|it| it != subject) {
                *counts.entry(other).or_default() += count;
            }
        }
        let weight = |count: u32| round_to_hundredths((count as f32 / own.max(1) as f32).clamp(0.01, 1.0));
        let heads = counts
            .iter()
            .filter_map(|(other, count)| Some((*count, self.heads.get(other)?)));
        let mut heads: Vec<(u32, &Head)> = heads.collect();
        heads.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
        let mut places_left: BTreeMap<Dimension, usize> = Dimension::ALL.map(|it| (it, max_related_pages(it))).into();
        heads.retain(|it| {
            let places_left = places_left.entry(it.1.dimension).or_default();
            let fits = *places_left > 0;
            *places_left -= usize::from(fits);
            fits
        });
        let links = heads.iter();
        links
            .map(|(count, head)| head.to_link(LinkKind::RelatedTo, weight(*count)))
            .collect()
    }

    fn add_cause_links(&self, subject: &Subject, buckets: &[&Bucket], out: &mut Vec<Link>) {
        let mut counts: BTreeMap<EntityId, u32> = BTreeMap::new();
        let reasons = buckets
            .iter()
            .flat_map(|it| most_frequent(it.reasons.counts(), LOOKED_AT));
        for (name, count) in reasons {
            if let Some(entity) = self.names.owner_of_name(name) {
                *counts.entry(entity).or_default() += count;
            }
        }
        let mut counts: Vec<(u32, Subject)> = counts.into_iter().map(|it| (it.1, Subject::Entity(it.0))).collect();
        counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let links = counts
            .iter()
            .filter(|it| it.1 != *subject)
            .filter_map(|(count, cause)| {
                let weight = round_to_hundredths((*count as f32 * 0.25).min(1.0));
                self.link_to_subject(LinkKind::CausedBy, cause, weight)
            });
        out.extend(links.take(REASONS_MAX));
    }

    /// Adds links to figures whose preferences are opposite to those on this page.
    fn add_opposite_taste_links(&self, entity: EntityId, out: &mut Vec<Link>) {
        let mut others: Vec<Subject> = Vec::new();
        let ranks = self
            .facts
            .facts_about_entity(entity)
            .and_then(|it| it.get(&Aspect::Preference));
        let best = ranks.into_iter().flat_map(|it| it.keys()).take(LINES_MAX);
        for fact in best.filter_map(|it| self.facts.get(it.id)) {
            let Some(taste) = taste_of_fact(fact) else {
                continue;
            };
            let contrary = self
                .facts
                .entities_with_taste(&opposite_taste(&taste))
                .filter(|it| *it != entity);
            others.extend(contrary.take(LINKS_MAX).map(Subject::Taste));
        }
        self.add_contrast_links(count_subjects(others.into_iter()), out);
    }

    /// Adds links to entities that current facts connect with this one.
    fn add_fact_links(&self, id: EntityId, out: &mut Vec<Link>) {
        let about = self.facts.facts_about_entity(id).into_iter().flat_map(|it| it.values());
        let about = about.flat_map(|it| it.iter().take(LOOKED_AT).take_while(|it| it.0.is_current()));
        let about = about.filter_map(|it| self.names.owner_of_name(&Name::from_normalised(Arc::clone(it.1))));
        let naming = self.facts_naming_entity(id).take(LOOKED_AT);
        let naming = naming.filter(|it| it.is_current());
        let naming = naming.filter_map(|it| self.facts.get(it.id)?.entity);
        let others = count_subjects(about.chain(naming).filter(|it| *it != id).map(Subject::Entity));
        for (_, other) in others.into_iter().take(FACT_LINKS_MAX) {
            let Some(link) = self.link_to_subject(LinkKind::RelatedTo, &other, FACT_LINK_WEIGHT) else {
                continue;
            };
            match out.iter_mut().find(|it| it.page == link.page) {
                Some(known) => known.weight = known.weight.max(link.weight),
                None => out.push(link),
            }
        }
    }

    /// Adds links to the entities that this one replaced or that replaced it, such as homes, jobs and partners.
    fn add_replacement_links(&self, id: EntityId, out: &mut Vec<Link>) {
        let naming = self.facts_naming_entity(id).take(CLOSED_LOOKED_AT);
        let others = naming
            .filter_map(|it| self.facts.get(it.id))
            .flat_map(|it| self.facts.closed_and_closing_facts(it))
            .filter_map(|it| self.object_entity(it));
        let others = count_subjects(others.filter(|it| *it != id).map(Subject::Entity));
        self.add_contrast_links(others, out);
    }

    /// Adds links to the topics with facts that closed facts of this topic or were closed by them.
    fn taken_back(&self, id: TopicId, out: &mut Vec<Link>) {
        let ranked = self.facts_of_topic_page(id);
        let ranks = ranked.values().flat_map(|it| it.keys().take(CLOSED_LOOKED_AT));
        let others = ranks
            .filter_map(|it| self.facts.get(it.id))
            .flat_map(|it| self.facts.closed_and_closing_facts(it))
            .flat_map(|it| self.topics_showing_fact(it));
        let others = count_subjects(others.filter(|it| *it != id).map(Subject::Topic));
        self.add_contrast_links(others, out);
    }

    fn add_contrast_links(&self, counted: Vec<(u32, Subject)>, out: &mut Vec<Link>) {
        let links = counted.into_iter().filter_map(|(count, other)| {
            let weight = round_to_hundredths((0.5 + 0.25 * (count - 1) as f32).min(1.0));
            self.link_to_subject(LinkKind::ContrastsWith, &other, weight)
        });
        out.extend(links.take(CONTRASTS_MAX));
    }

    fn link_to_subject(&self, kind: LinkKind, to: &Subject, weight: f32) -> Option<Link> {
        self.heads.get(to).map(|head| head.to_link(kind, weight))
    }
}

impl Head {
    fn to_link(&self, kind: LinkKind, weight: f32) -> Link {
        Link {
            kind,
            page: self.id,
            title: self.title.clone(),
            weight,
        }
    }
}

/// Counts repeated subjects, most frequent first, ties by subject.
fn count_subjects(subjects: impl Iterator<Item = Subject>) -> Vec<(u32, Subject)> {
    let mut counts: BTreeMap<Subject, u32> = BTreeMap::new();
    subjects.for_each(|it| *counts.entry(it).or_default() += 1);
    let mut out: Vec<(u32, Subject)> = counts.into_iter().map(|it| (it.1, it.0)).collect();
    out.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    out
}

/// Returns the maximum number of related pages of a dimension, so that one dimension does not crowd out the others.
fn max_related_pages(dimension: Dimension) -> usize {
    match dimension {
        Dimension::Topic | Dimension::Figure => 4,
        Dimension::Place => 3,
        Dimension::Event => 2,
        Dimension::Preference => 0,
    }
}
