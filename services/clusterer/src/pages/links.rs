//! Links between pages: related subjects, next in time, causes, and contrasts.

use std::collections::BTreeMap;
use std::ops::Bound;

use domain::fact::Aspect;
use domain::id::{EntityId, TopicId};
use domain::page::{Dimension, Link, LinkKind};

use super::bucket::Bucket;
use super::facts::{holds, opposite, taste};
use super::known::{Head, Known, Subject};
use super::sections::{LINES_MAX, rounded};

/// Maximum number of links of a page.
const LINKS_MAX: usize = 16;
/// Maximum number of neighbours considered for each name; the others are mentioned together with it only once or
/// twice.
const LOOKED_AT: usize = 96;
/// Maximum number of contrasting links.
const CONTRASTS_MAX: usize = 8;
/// Maximum number of links that come from facts (`TOLD_MAX`), and their weight (`TOLD`).
const TOLD_MAX: usize = 6;
const TOLD: f32 = 0.6;
/// Maximum number of facts of one aspect or about one thing that are checked for contrasts.
const CLOSED_LOOKED_AT: usize = 200;
/// Maximum number of links to causes.
const REASONS_MAX: usize = 2;

impl Known {
    /// Returns the links of a page, strongest first, ties by page; `own` is the number of units behind the page.
    pub(super) fn links(&self, subject: &Subject, buckets: &[&Bucket], own: usize) -> Vec<Link> {
        let mut out = self.related(subject, buckets, own);
        match subject {
            Subject::Entity(id) => {
                out.extend(self.link(LinkKind::RelatedTo, &Subject::Taste(*id), 1.0));
                self.told(*id, &mut out);
                self.reasons(subject, buckets, &mut out);
                self.replaced(*id, &mut out);
            }
            Subject::Taste(id) => {
                out.extend(self.link(LinkKind::RelatedTo, &Subject::Entity(*id), 1.0));
                self.contrasts(*id, &mut out);
            }
            Subject::Topic(id) => {
                self.taken_back(*id, &mut out);
                let order = |it: &domain::topic::Topic| (it.first_seen, it.id);
                let own = self.topics.get(id).map(order);
                let later = self.topics.values().filter(|it| Some(order(it)) > own);
                let next = later.min_by_key(|it| order(it)).map(|it| Subject::Topic(it.id));
                out.extend(next.and_then(|it| self.link(LinkKind::TemporalNext, &it, 0.5)));
            }
            Subject::Month(_) => {
                let later = (Bound::Excluded(subject), Bound::Unbounded);
                let next = self.heads.range::<Subject, _>(later).next();
                out.extend(next.and_then(|it| self.link(LinkKind::TemporalNext, it.0, 0.5)));
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

    fn related(&self, subject: &Subject, buckets: &[&Bucket], own: usize) -> Vec<Link> {
        let mut counts: BTreeMap<Subject, u32> = BTreeMap::new();
        for (about, count) in buckets.iter().flat_map(|it| it.near.top().take(LOOKED_AT)) {
            if let Some(other) = self.subject(about).filter(|it| it != subject) {
                *counts.entry(other).or_default() += count;
            }
        }
        let weight = |count: u32| rounded((count as f32 / own.max(1) as f32).clamp(0.01, 1.0));
        let heads = counts
            .iter()
            .filter_map(|(other, count)| Some((*count, self.heads.get(other)?)));
        let mut heads: Vec<(u32, &Head)> = heads.collect();
        heads.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
        let mut left: BTreeMap<Dimension, usize> = Dimension::ALL.map(|it| (it, quota(it))).into();
        heads.retain(|it| {
            let left = left.entry(it.1.dimension).or_default();
            let fits = *left > 0;
            *left -= usize::from(fits);
            fits
        });
        let links = heads.iter();
        links
            .map(|(count, head)| head.link(LinkKind::RelatedTo, weight(*count)))
            .collect()
    }

    fn reasons(&self, subject: &Subject, buckets: &[&Bucket], out: &mut Vec<Link>) {
        let mut counts: BTreeMap<EntityId, u32> = BTreeMap::new();
        for (name, count) in buckets.iter().flat_map(|it| it.reasons.top().take(LOOKED_AT)) {
            if let Some(entity) = self.names.owner(name) {
                *counts.entry(entity).or_default() += count;
            }
        }
        let mut counts: Vec<(u32, Subject)> = counts.into_iter().map(|it| (it.1, Subject::Entity(it.0))).collect();
        counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let links = counts
            .iter()
            .filter(|it| it.1 != *subject)
            .filter_map(|(count, cause)| {
                let weight = rounded((*count as f32 * 0.25).min(1.0));
                self.link(LinkKind::CausedBy, cause, weight)
            });
        out.extend(links.take(REASONS_MAX));
    }

    /// Adds links to figures whose preferences are opposite to those on this page.
    fn contrasts(&self, entity: EntityId, out: &mut Vec<Link>) {
        let mut others: Vec<Subject> = Vec::new();
        let ranks = self.facts.about(entity).and_then(|it| it.get(&Aspect::Preference));
        for rank in ranks.into_iter().flat_map(|it| it.keys()).take(LINES_MAX) {
            let Some(taste) = self.facts.get(rank.3).and_then(taste) else {
                continue;
            };
            let contrary = self.facts.having(&opposite(&taste)).filter(|it| *it != entity);
            others.extend(contrary.take(LINKS_MAX).map(Subject::Taste));
        }
        self.contrasting(counted(others.into_iter()), out);
    }

    /// Adds links to entities that current facts connect with this one.
    fn told(&self, id: EntityId, out: &mut Vec<Link>) {
        let about = self.facts.about(id).into_iter().flat_map(|it| it.values());
        let about = about.flat_map(|it| it.iter().take(LOOKED_AT).take_while(|it| holds(it.0)));
        let about = about.filter_map(|it| self.names.owner(it.1));
        let naming = self.named(id).take(LOOKED_AT).filter(|it| holds(it.0));
        let naming = naming.filter_map(|it| it.1);
        let others = counted(about.chain(naming).filter(|it| *it != id).map(Subject::Entity));
        for (_, other) in others.into_iter().take(TOLD_MAX) {
            let Some(link) = self.link(LinkKind::RelatedTo, &other, TOLD) else {
                continue;
            };
            match out.iter_mut().find(|it| it.page == link.page) {
                Some(known) => known.weight = known.weight.max(link.weight),
                None => out.push(link),
            }
        }
    }

    /// Adds links to the entities that replaced this one in someone's life or that it replaced: homes, jobs,
    /// partners.
    fn replaced(&self, id: EntityId, out: &mut Vec<Link>) {
        let naming = self
            .named(id)
            .take(CLOSED_LOOKED_AT)
            .filter_map(|it| self.facts.get(it.0.3));
        let others = naming
            .flat_map(|it| self.facts.against(it))
            .filter_map(|it| self.meant(it));
        let others = counted(others.filter(|it| *it != id).map(Subject::Entity));
        self.contrasting(others, out);
    }

    /// Adds links to the topics with facts that closed facts of this topic or were closed by them.
    fn taken_back(&self, id: TopicId, out: &mut Vec<Link>) {
        let told = self.placed.told(id).into_iter().flat_map(|it| it.values());
        let told = told
            .flat_map(|it| it.keys().take(CLOSED_LOOKED_AT))
            .filter_map(|it| self.facts.get(it.3));
        let others = told
            .flat_map(|it| self.facts.against(it))
            .flat_map(|it| self.placed.topics_of(it.source));
        let others = counted(others.filter(|it| *it != id).map(Subject::Topic));
        self.contrasting(others, out);
    }

    fn contrasting(&self, counted: Vec<(u32, Subject)>, out: &mut Vec<Link>) {
        let links = counted.into_iter().filter_map(|(count, other)| {
            let weight = rounded((0.5 + 0.25 * (count - 1) as f32).min(1.0));
            self.link(LinkKind::ContrastsWith, &other, weight)
        });
        out.extend(links.take(CONTRASTS_MAX));
    }

    fn link(&self, kind: LinkKind, to: &Subject, weight: f32) -> Option<Link> {
        self.heads.get(to).map(|head| head.link(kind, weight))
    }
}

impl Head {
    fn link(&self, kind: LinkKind, weight: f32) -> Link {
        Link {
            kind,
            page: self.id,
            title: self.title.clone(),
            weight,
        }
    }
}

/// Counts repeated subjects, most frequent first, ties by subject.
fn counted(subjects: impl Iterator<Item = Subject>) -> Vec<(u32, Subject)> {
    let mut counts: BTreeMap<Subject, u32> = BTreeMap::new();
    subjects.for_each(|it| *counts.entry(it).or_default() += 1);
    let mut out: Vec<(u32, Subject)> = counts.into_iter().map(|it| (it.1, it.0)).collect();
    out.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    out
}

/// Returns the maximum number of related pages of a dimension, so that one dimension does not crowd out the others.
fn quota(dimension: Dimension) -> usize {
    match dimension {
        Dimension::Topic | Dimension::Figure => 4,
        Dimension::Place => 3,
        Dimension::Event => 2,
        Dimension::Preference => 0,
    }
}
