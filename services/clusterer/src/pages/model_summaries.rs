//! Puts the summaries by a language model on pages, and determines the pages about which it has to be asked.

use std::collections::BTreeSet;

use domain::id::{EntityId, PageId, ReadingId, SpaceId, TopicId, UnitId};
use domain::page::Page;
use domain::unit::{Grain, Status, Unit};

use super::Pages;
use super::known::{Known, Subject};
use crate::summaries::{
    PageSummary, SUMMARISED_FROM, ShownSection, SummaryPlace, SummaryQuestion, page_digest, shown_of,
};

impl Pages {
    /// Returns the pages whose readings have to be looked up. Call it after [`Pages::changed`], and call
    /// [`Pages::changed`] again after the readings were applied.
    pub fn unlooked(&self) -> Vec<SummaryPlace> {
        self.summaries.unlooked()
    }

    /// Marks all pages about which the model has to be asked, so that their readings are looked up again: another
    /// process or an import may have stored one.
    pub fn look_for_open(&mut self) {
        self.summaries.look_for_open();
    }

    /// Applies the readings that were found for `places`; a page without one is summarised by the rules.
    pub fn take_in(&mut self, places: &[SummaryPlace], summaries: &[PageSummary]) {
        for page in self.summaries.take_in(places, summaries) {
            self.affected.extend(self.subjects.get(&page).cloned());
        }
    }

    /// Sets the pages for which a user rejected the summary by a language model.
    pub fn set_unsummed(&mut self, pages: &BTreeSet<PageId>) {
        let other = self.unsummed.symmetric_difference(pages);
        let subjects = other.filter_map(|it| self.subjects.get(it)).cloned();
        self.affected.extend(subjects);
        self.unsummed.clone_from(pages);
    }

    /// Returns at most `limit` questions about pages for a language model, most lines first, ties by id, as of the
    /// last call of [`Pages::changed`]. They cover pages that were looked up, are not archived, have no reading or
    /// have changed since, and whose summary no user rejected.
    pub fn questions(&self, space: &SpaceId, limit: usize) -> Vec<SummaryQuestion> {
        let due = self.summaries.due();
        let mut due: Vec<(SummaryPlace, usize)> = due.map(|(place, lines)| (place, lines.len())).collect();
        due.sort_by_key(|it| (std::cmp::Reverse(it.1), it.0.of));
        let due = due.into_iter().filter(|it| !self.unsummed.contains(&it.0.of));
        due.filter_map(|it| self.question(space, it.0)).take(limit).collect()
    }

    fn question(&self, space: &SpaceId, place: SummaryPlace) -> Option<SummaryQuestion> {
        let subject = self.subjects.get(&place.of)?;
        let is_archived = self
            .border
            .zip(self.age.get(subject))
            .is_some_and(|(border, age)| *age < border);
        if is_archived {
            return None;
        }
        let page = self.page(space, subject)?.page;
        Some(SummaryQuestion {
            place,
            digest: self.known.digest(space, subject, &page)?,
            shown: self.known.shown(&page),
            title: page.title,
        })
    }

    /// Puts the summaries by a language model on a page, as far as its lines support them.
    pub(super) fn sum_up(&mut self, space: &SpaceId, subject: &Subject, page: &mut Page) {
        let told: usize = page.sections.iter().map(|it| it.lines.len()).sum();
        let shown = match told >= SUMMARISED_FROM {
            true => self.known.shown(page),
            false => Vec::new(),
        };
        let lines: BTreeSet<_> = shown.iter().flat_map(ShownSection::digests).collect();
        let digest = match lines.len() >= SUMMARISED_FROM {
            true => self.known.digest(space, subject, page),
            false => None,
        };
        let Some(digest) = digest else {
            self.summaries.remove(&page.id);
            return;
        };
        let place = SummaryPlace {
            of: page.id,
            reading: ReadingId::page(space, &digest),
        };
        self.summaries.set(place, lines);
        if self.unsummed.contains(&page.id) {
            return;
        }
        let Some(said) = self.summaries.saying(&page.id) else {
            return;
        };
        let usable = said.usable(&page.title, &shown);
        if let Some(summary) = usable.summary {
            page.summary = self.known.summary_led_by(&summary, subject);
        }
        for (place, summary) in usable.sections {
            let section = page.sections.get_mut(place);
            section.into_iter().for_each(|it| it.summary = Some(summary.clone()));
        }
    }
}

impl Known {
    /// Records the event as a possible founder of a topic. The page of the topic is identified by the caller's id of
    /// the event's first record.
    pub(super) fn note_founder(&mut self, unit: &Unit) {
        if unit.grain != Grain::Event {
            return;
        }
        let topic = TopicId::derive(unit.id);
        let is_used = match unit.status {
            Status::Active | Status::Merged => true,
            Status::Superseded | Status::Archived => false,
        };
        match unit.external_ids.first().filter(|_| is_used) {
            Some(id) => self.founders.insert(topic, id.as_str().into()),
            None => self.founders.remove(&topic),
        };
    }

    /// Returns the part of a page that a model is shown.
    fn shown(&self, page: &Page) -> Vec<ShownSection> {
        let records = |unit: UnitId| self.store.units.get(&unit).map_or(1, |it| it.records);
        shown_of(page, records)
    }

    /// Returns the digest that identifies the page of a subject in any space. Returns none for a topic whose id
    /// derives from another topic's id.
    fn digest(&self, space: &SpaceId, subject: &Subject, page: &Page) -> Option<String> {
        let about = match subject {
            Subject::Entity(id) | Subject::Taste(id) => self.lasting_name(space, *id)?,
            Subject::Topic(id) => self.founders.get(id)?.to_string(),
            Subject::Month(month) => month.key(),
        };
        Some(page_digest(page.dimension, &about))
    }

    /// Returns the name from which the id of an entity derives, or else its displayed name.
    fn lasting_name(&self, space: &SpaceId, id: EntityId) -> Option<String> {
        let mut names = self.names.of(id).map(|it| it.as_str());
        let lasting = names.find(|it| EntityId::derive(space, it) == id);
        let shown = || self.names.get(id).map(|it| it.name.clone());
        lasting.map(str::to_owned).or_else(shown)
    }
}
