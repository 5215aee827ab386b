use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::id::PageId;
use domain::page::{Dimension, Line, Page, Section};

use super::Known;
use super::names::normalised;
use super::posts::Posts;

/// Where a page stands in its dimension: events by their first line, others by title; ties by id.
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
    let lines: usize = lines(page).map(|it| 128 + it.text.len()).sum();
    let links: usize = page.links.iter().map(|it| 64 + it.title.len()).sum();
    let names = page.aliases.iter().chain(&page.tags);
    512 + 3 * page.title.len()
        + page.summary.len()
        + 160 * page.sections.len()
        + lines
        + links
        + names.map(|it| 48 + 2 * it.len()).sum::<usize>()
}

fn lines(page: &Page) -> impl Iterator<Item = &Line> {
    page.sections.iter().flat_map(|it| &it.lines)
}

impl<'a> Known<'a> {
    /// Returns a page with what was known: without later lines, without the ends of facts that were not told yet, without what
    /// is withdrawn or forgotten. A page of which nothing is left is none.
    pub fn page(self, id: PageId) -> Option<Arc<Page>> {
        let page = self.memory.pages.all.get(&id)?;
        if !lines(page).any(|it| self.changes(it)) {
            return Some(Arc::clone(page));
        }
        let mut page = Page::clone(page);
        let before = lines(&page).count();
        page.sections = page.sections.drain(..).filter_map(|it| self.section(it)).collect();
        let (first, last) = (
            lines(&page).next()?.clone(),
            lines(&page).max_by_key(|it| it.observed_at)?.clone(),
        );
        if lines(&page).count() == before {
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
        let confidences = page.sections.iter().map(|it| it.confidence);
        page.confidence = confidences.sum::<f32>() / page.sections.len().max(1) as f32;
        Some(Arc::new(page))
    }

    /// Returns the pages of a dimension, archived ones too: events by their first line, others by title, ties by id.
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

    /// Says whether a page is there with anything on it.
    pub fn lives(self, id: PageId) -> bool {
        let page = self.memory.pages.all.get(&id);
        page.is_some_and(|page| lines(page).any(|it| self.tells(it)))
    }

    fn tells(self, line: &Line) -> bool {
        let withdrawn = line.fact.is_some_and(|it| self.memory.facts.is_withdrawn(it));
        self.knows(line.observed_at) && !withdrawn && !self.memory.is_forgotten(line.unit)
    }

    /// Says whether a line is left out or reads otherwise.
    fn changes(self, line: &Line) -> bool {
        !self.tells(line) || self.ended(line) != line.until
    }

    fn ended(self, line: &Line) -> Option<chrono::DateTime<chrono::Utc>> {
        let until = line.until.filter(|it| self.knows(*it))?;
        let fact = line.fact.and_then(|it| self.fact(it));
        // The end may have been told later than it came.
        fact.is_none_or(|it| it.valid_until.is_some()).then_some(until)
    }

    fn section(self, mut section: Section) -> Option<Section> {
        let before = section.lines.len();
        section.lines.retain(|it| self.tells(it));
        for line in &mut section.lines {
            line.until = self.ended(line);
        }
        if section.lines.len() < before {
            (section.time, section.left_out) = (None, 0);
        }
        (!section.lines.is_empty()).then_some(section)
    }
}
