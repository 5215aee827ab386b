use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::id::PageId;
use domain::page::{Dimension, FormerLine, Line, Page, PageStatus, Section};

use super::MemoryAsOf;
use super::names::normalise_name;
use super::posting_lists::Posts;

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
    pub(super) fn put_page(&mut self, page: Page) {
        self.remove_page(page.id);
        self.update_index(&page, true);
        self.all.insert(page.id, Arc::new(page));
    }

    pub(super) fn remove_page(&mut self, id: PageId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.by_name.size_in_bytes()
    }

    fn update_index(&mut self, page: &Page, add: bool) {
        let place = (page.dimension, sort_key(page), page.id);
        if add {
            self.placed.insert(place);
        } else {
            self.placed.remove(&place);
        }
        for name in std::iter::once(&page.title).chain(&page.aliases) {
            self.by_name.add_or_remove(normalise_name(name), page.id, add);
        }
        let size = size_of_page(page);
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

fn sort_key(page: &Page) -> String {
    let first = current_lines(page).map(|it| it.observed_at).min();
    match (page.dimension, first) {
        (Dimension::Event, Some(first)) => first.format("%+").to_string(),
        (Dimension::Topic | Dimension::Figure | Dimension::Place | Dimension::Preference | Dimension::Event, _) => {
            normalise_name(&page.title)
        }
    }
}

fn size_of_page(page: &Page) -> usize {
    let all = current_lines(page).chain(former_lines(page).map(|it| &it.line));
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
fn former_lines(page: &Page) -> impl Iterator<Item = &FormerLine> {
    page.sections.iter().flat_map(|it| &it.former)
}

fn current_lines(page: &Page) -> impl Iterator<Item = &Line> {
    page.sections.iter().flat_map(|it| &it.lines)
}

impl<'a> MemoryAsOf<'a> {
    /// Returns a page as it was known at the moment. Later lines, the ends of facts that were recorded later, and
    /// withdrawn or forgotten content are left out; lines that were removed later are included. Returns `None` if no
    /// line remains. Inside of a scope the page has no links, and it is not returned if its lines do not contain its
    /// title.
    pub fn find_page(self, id: PageId) -> Option<Arc<Page>> {
        let stored = self.memory.pages.all.get(&id)?;
        let has_former_lines = former_lines(stored).next().is_some();
        let has_current_lines = current_lines(stored).next().is_some();
        if self.scope.is_none()
            && has_current_lines
            && !has_former_lines
            && !current_lines(stored).any(|it| self.is_line_altered(it))
        {
            return Some(Arc::clone(stored));
        }
        let mut page = Page::clone(stored);
        page.sections = page
            .sections
            .drain(..)
            .filter_map(|it| self.restrict_section(it))
            .collect();
        page.status = match (page.status, self.as_of) {
            (PageStatus::Former, None) => return None,
            (PageStatus::Former | PageStatus::Active, _) => PageStatus::Active,
            (PageStatus::Archived, _) => PageStatus::Archived,
        };
        let (first, last) = (
            current_lines(&page).next()?.clone(),
            current_lines(&page).max_by_key(|it| it.observed_at)?.clone(),
        );
        let has_current_lines = |it: &Line| (it.fact, it.unit, it.text.clone(), it.until);
        if self.scope.is_none()
            && current_lines(&page)
                .map(has_current_lines)
                .eq(current_lines(stored).map(has_current_lines))
        {
            return Some(Arc::new(page));
        }
        page.updated_at = last.observed_at;
        page.summary = if first.text == last.text {
            first.text
        } else {
            format!("{} {}", first.text, last.text)
        };
        let has_current_lines: BTreeSet<String> =
            current_lines(&page).flat_map(|it| text::stem_words(&it.text)).collect();
        page.tags
            .retain(|it| text::stem_words(it).iter().any(|stem| has_current_lines.contains(stem)));
        page.links.retain(|it| self.has_page(it.page));
        if self.scope.is_some() {
            // Names may come from units outside of the scope.
            let is_said = |it: &str| text::stem_words(it).iter().all(|stem| has_current_lines.contains(stem));
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
    pub fn pages_of_dimension(self, dimension: Dimension) -> impl Iterator<Item = Arc<Page>> + 'a {
        let first = (dimension, String::new(), PageId::from_uuid(uuid::Uuid::nil()));
        let placed = self.memory.pages.placed.range(first..);
        let within = placed.take_while(move |it| it.0 == dimension);
        within.filter_map(move |it| self.find_page(it.2))
    }

    /// Returns the pages with this title or alias, by dimension, then id.
    pub fn pages_called(self, name: &str) -> Vec<Arc<Page>> {
        let ids = self.memory.pages.by_name.values_of_key(&normalise_name(name));
        let mut found: Vec<Arc<Page>> = ids.filter_map(|it| self.find_page(it)).collect();
        found.sort_by_key(|it| (it.dimension, it.id));
        found
    }

    /// Returns true if a page exists and has at least one line at the moment.
    pub fn has_page(self, id: PageId) -> bool {
        let Some(page) = self.memory.pages.all.get(&id) else {
            return false;
        };
        let stood = |it: &&FormerLine| self.as_of.is_some_and(|as_of| it.was_in_section_at(as_of));
        let back = former_lines(page).filter(stood).map(|it| &it.line);
        current_lines(page).chain(back).any(|it| self.tells_line(it))
    }

    fn tells_line(self, line: &Line) -> bool {
        // The page may be stored before the fact that a line of it names.
        let fact = line.fact.filter(|it| self.memory.facts.get(*it).is_some());
        let has_fact = fact.is_none_or(|it| self.find_fact(it).is_some());
        self.covers_moment(line.observed_at) && has_fact && self.may_show_unit(line.unit)
    }

    /// Returns true if a line is left out or has another end at the moment.
    fn is_line_altered(self, line: &Line) -> bool {
        !self.tells_line(line) || self.known_end_of_line(line) != line.until
    }

    fn known_end_of_line(self, line: &Line) -> Option<chrono::DateTime<chrono::Utc>> {
        let until = line.until.filter(|it| self.covers_moment(*it))?;
        let fact = line.fact.and_then(|it| self.find_fact(it));
        // The end may have been recorded after it happened.
        fact.is_none_or(|it| it.valid_until.is_some()).then_some(until)
    }

    fn restrict_section(self, mut section: Section) -> Option<Section> {
        let (before, left_out) = (section.lines.len(), section.left_out);
        if section.lines.iter().any(|it| self.is_line_altered(it)) {
            // The summary may be based on lines that are left out.
            section.summary = None;
        }
        let mut section = match self.as_of {
            Some(as_of) => section.known_at(as_of)?,
            None => section.without_former_lines()?,
        };
        section.lines.retain(|it| self.tells_line(it));
        for line in &mut section.lines {
            line.until = self.known_end_of_line(line);
        }
        section.left_out = left_out;
        if section.lines.len() < before {
            (section.time, section.left_out) = (None, 0);
        }
        (!section.lines.is_empty()).then_some(section)
    }
}
