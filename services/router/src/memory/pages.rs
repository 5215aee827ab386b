use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::id::PageId;
use domain::page::{Dimension, FormerLine, Line, Page, PageStatus, Section};

use super::Known;
use super::names::normalised;
use super::posts::Posts;

/// The position of a page in its dimension: events by their first line, others by title; ties by id.
type Place = (Dimension, String, PageId);

/// Pages by id, dimension and name.
#[derive(Clone, Default)]
pub(super) struct Pages {
    all: BTreeMap<PageId, Arc<Page>>,
    placed: BTreeSet<Place>,
    by_name: Posts<String, PageId>,
    bytes: usize,
}

impl Pages {
    pub(super) fn put(&mut self, page: Page) {
        self.remove(page.id);
        self.index(&page, true);
        self.all.insert(page.id, Arc::new(page));
    }

    pub(super) fn remove(&mut self, id: PageId) {
        if let Some(old) = self.all.remove(&id) {
            self.index(&old, false);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.by_name.bytes()
    }

    fn index(&mut self, page: &Page, add: bool) {
        let place = (page.dimension, order(page), page.id);
        if add {
            self.placed.insert(place);
        } else {
            self.placed.remove(&place);
        }
        for name in std::iter::once(&page.title).chain(&page.aliases) {
            self.by_name.set(normalised(name), page.id, add);
        }
        let size = size(page);
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

fn order(page: &Page) -> String {
    let first = lines(page).map(|it| it.observed_at).min();
    match (page.dimension, first) {
        (Dimension::Event, Some(first)) => first.format("%+").to_string(),
        (Dimension::Topic | Dimension::Figure | Dimension::Place | Dimension::Preference | Dimension::Event, _) => {
            normalised(&page.title)
        }
    }
}

fn size(page: &Page) -> usize {
    let all = lines(page).chain(former(page).map(|it| &it.line));
    let lines: usize = all.map(|it| 136 + it.text.len()).sum();
    let links: usize = page.links.iter().map(|it| 64 + it.title.len()).sum();
    let names = page.aliases.iter().chain(&page.tags);
    512 + 3 * page.title.len()
        + page.summary.len()
        + page
            .sections
            .iter()
            .map(|it| 184 + it.summary.as_ref().map_or(0, String::len))
            .sum::<usize>()
        + lines
        + links
        + names.map(|it| 48 + 2 * it.len()).sum::<usize>()
}

/// Returns the lines that are kept for earlier moments.
fn former(page: &Page) -> impl Iterator<Item = &FormerLine> {
    page.sections.iter().flat_map(|it| &it.former)
}

fn lines(page: &Page) -> impl Iterator<Item = &Line> {
    page.sections.iter().flat_map(|it| &it.lines)
}

impl<'a> Known<'a> {
    /// Returns a page as it was known at the moment. Later lines, the ends of facts that were recorded later, and
    /// withdrawn or forgotten content are left out; lines that were removed later are included. Returns `None` if no
    /// line remains. Inside of a scope the page has no links, and it is not returned if its lines do not contain its
    /// title.
    pub fn page(self, id: PageId) -> Option<Arc<Page>> {
        let stored = self.memory.pages.all.get(&id)?;
        let kept = former(stored).next().is_some();
        let told = lines(stored).next().is_some();
        if self.scope.is_none() && told && !kept && !lines(stored).any(|it| self.changes(it)) {
            return Some(Arc::clone(stored));
        }
        let mut page = Page::clone(stored);
        page.sections = page.sections.drain(..).filter_map(|it| self.section(it)).collect();
        page.status = match (page.status, self.as_of) {
            (PageStatus::Former, None) => return None,
            (PageStatus::Former | PageStatus::Active, _) => PageStatus::Active,
            (PageStatus::Archived, _) => PageStatus::Archived,
        };
        let (first, last) = (
            lines(&page).next()?.clone(),
            lines(&page).max_by_key(|it| it.observed_at)?.clone(),
        );
        let told = |it: &Line| (it.fact, it.unit, it.text.clone(), it.until);
        if self.scope.is_none() && lines(&page).map(told).eq(lines(stored).map(told)) {
            return Some(Arc::new(page));
        }
        page.updated_at = last.observed_at;
        page.summary = if first.text == last.text {
            first.text
        } else {
            format!("{} {}", first.text, last.text)
        };
        let told: BTreeSet<String> = lines(&page).flat_map(|it| text::stems(&it.text)).collect();
        page.tags
            .retain(|it| text::stems(it).iter().any(|stem| told.contains(stem)));
        page.links.retain(|it| self.lives(it.page));
        if self.scope.is_some() {
            // Names may come from units outside of the scope.
            let is_said = |it: &str| text::stems(it).iter().all(|stem| told.contains(stem));
            if !is_said(&page.title) {
                return None;
            }
            page.aliases.retain(|it| is_said(it));
            page.links.clear();
            for section in page.sections.iter_mut().filter(|it| !is_said(&it.title)) {
                section.title.clone_from(&section.category);
            }
        }
        let confidences = page.sections.iter().map(|it| it.confidence);
        page.confidence = confidences.sum::<f32>() / page.sections.len().max(1) as f32;
        Some(Arc::new(page))
    }

    /// Returns the pages of a dimension, including archived ones: events by their first line, others by title, ties by
    /// id.
    pub fn pages(self, dimension: Dimension) -> impl Iterator<Item = Arc<Page>> + 'a {
        let first = (dimension, String::new(), PageId::from_uuid(uuid::Uuid::nil()));
        let placed = self.memory.pages.placed.range(first..);
        let within = placed.take_while(move |it| it.0 == dimension);
        within.filter_map(move |it| self.page(it.2))
    }

    /// Returns the pages with this title or alias, by dimension, then id.
    pub fn pages_called(self, name: &str) -> Vec<Arc<Page>> {
        let ids = self.memory.pages.by_name.get(&normalised(name));
        let mut found: Vec<Arc<Page>> = ids.filter_map(|it| self.page(it)).collect();
        found.sort_by_key(|it| (it.dimension, it.id));
        found
    }

    /// Returns true if a page exists and has at least one line at the moment.
    pub fn lives(self, id: PageId) -> bool {
        let Some(page) = self.memory.pages.all.get(&id) else {
            return false;
        };
        let stood = |it: &&FormerLine| self.as_of.is_some_and(|as_of| it.stood(as_of));
        let back = former(page).filter(stood).map(|it| &it.line);
        lines(page).chain(back).any(|it| self.tells_line(it))
    }

    fn tells_line(self, line: &Line) -> bool {
        // The page may be stored before the fact that a line of it names.
        let fact = line.fact.filter(|it| self.memory.facts.get(*it).is_some());
        let told = fact.is_none_or(|it| self.fact(it).is_some());
        self.knows(line.observed_at) && told && self.tells(line.unit)
    }

    /// Returns true if a line is left out or has another end at the moment.
    fn changes(self, line: &Line) -> bool {
        !self.tells_line(line) || self.ended(line) != line.until
    }

    fn ended(self, line: &Line) -> Option<chrono::DateTime<chrono::Utc>> {
        let until = line.until.filter(|it| self.knows(*it))?;
        let fact = line.fact.and_then(|it| self.fact(it));
        // The end may have been recorded after it happened.
        fact.is_none_or(|it| it.valid_until.is_some()).then_some(until)
    }

    fn section(self, mut section: Section) -> Option<Section> {
        let (before, left_out) = (section.lines.len(), section.left_out);
        if section.lines.iter().any(|it| self.changes(it)) {
            // The summary may be based on lines that are left out.
            section.summary = None;
        }
        let mut section = match self.as_of {
            Some(as_of) => section.known_at(as_of)?,
            None => section.now()?,
        };
        section.lines.retain(|it| self.tells_line(it));
        for line in &mut section.lines {
            line.until = self.ended(line);
        }
        section.left_out = left_out;
        if section.lines.len() < before {
            (section.time, section.left_out) = (None, 0);
        }
        (!section.lines.is_empty()).then_some(section)
    }
}
