//! Puts the summaries by a language model on pages, and determines the pages about which it has to be asked.

use std::collections::BTreeSet;

use domain::fact::Fact;
use domain::id::{EntityId, FactId, PageId, ReadingId, SpaceId, TopicId, UnitId};
use domain::page::Page;
use domain::unit::{Grain, Status, Unit};

use crate::judgements::summaries::{
    PageSummary, SUMMARISED_FROM, ShownSection, SummaryQuestion, SummarySubject, page_digest, shown_of,
};
use crate::pages::Pages;
use crate::pages::inputs::page_inputs::{PageInputs, Subject};
use crate::space::page_language::texts_of_sections;

impl Pages {
    /// Returns the pages whose readings have to be looked up. Call it after [`Pages::take_changes`], and call
    /// [`Pages::take_changes`] again after the readings were applied.
    pub fn pages_to_look_up(&self) -> Vec<SummarySubject> {
        self.summaries.subjects_to_look_up()
    }

    /// Marks all pages about which the model has to be asked, so that their readings are looked up again: another
    /// process or an import may have stored one.
    pub fn mark_open_questions(&mut self) {
        self.summaries.mark_open_questions();
    }

    /// Applies the readings that were found for `places`; a page without one is summarised by the rules.
    pub fn apply_readings(&mut self, places: &[SummarySubject], summaries: &[PageSummary]) {
        for page in self.summaries.apply_readings(places, summaries) {
            self.affected.extend(self.subjects.get(&page).cloned());
        }
    }

    /// Sets the pages for which a user rejected the summary by a language model.
    pub fn set_pages_with_rejected_summary(&mut self, pages: &BTreeSet<PageId>) {
        let other = self.pages_with_rejected_summary.symmetric_difference(pages);
        let subjects = other.filter_map(|it| self.subjects.get(it)).cloned();
        self.affected.extend(subjects);
        self.pages_with_rejected_summary.clone_from(pages);
    }

    /// Returns at most `limit` questions about pages for a language model, most lines first, ties by id, as of the
    /// last call of [`Pages::take_changes`]. They cover pages that were looked up, are not archived, have no reading or
    /// have changed since, and whose summary no user rejected.
    pub fn open_questions(&self, space: &SpaceId, limit: usize) -> Vec<SummaryQuestion> {
        let due = self.summaries.subjects_to_ask_about();
        let mut due: Vec<(SummarySubject, usize)> = due.map(|(place, lines)| (place, lines.len())).collect();
        due.sort_by_key(|it| (std::cmp::Reverse(it.1), it.0.of));
        let due = due
            .into_iter()
            .filter(|it| !self.pages_with_rejected_summary.contains(&it.0.of));
        due.filter_map(|it| self.build_question(space, it.0))
            .take(limit)
            .collect()
    }

    fn build_question(&self, space: &SpaceId, place: SummarySubject) -> Option<SummaryQuestion> {
        let subject = self.subjects.get(&place.of)?;
        let is_archived = self
            .border
            .zip(self.age.get(subject))
            .is_some_and(|(border, age)| *age < border);
        if is_archived {
            return None;
        }
        let page = self.build_page(space, subject)?.page;
        Some(SummaryQuestion {
            place,
            digest: self.known.subject_digest(space, subject, &page)?,
            shown: self.known.shown_sections(&page),
            title: page.title,
        })
    }

    /// Puts the summaries by a language model on a page, as far as its lines support them.
    pub(crate) fn sum_up(&mut self, space: &SpaceId, subject: &Subject, page: &mut Page) {
        let line_count: usize = page.sections.iter().map(|it| it.lines.len()).sum();
        let shown = match line_count >= SUMMARISED_FROM {
            true => self.known.shown_sections(page),
            false => Vec::new(),
        };
        let lines: BTreeSet<_> = shown.iter().flat_map(ShownSection::line_digests).collect();
        let digest = match lines.len() >= SUMMARISED_FROM {
            true => self.known.subject_digest(space, subject, page),
            false => None,
        };
        let Some(digest) = digest else {
            self.summaries.remove(&page.id);
            return;
        };
        let place = SummarySubject {
            of: page.id,
            reading: ReadingId::of_page(space, &digest),
        };
        self.summaries.set_subject(place, lines.into_iter().collect());
        if self.pages_with_rejected_summary.contains(&page.id) {
            return;
        }
        let Some(stored_summary) = self.summaries.find_content(&page.id) else {
            return;
        };
        let usable = stored_summary.usable_part(&page.title, &shown);
        if let Some(summary) = usable.summary {
            page.summary = self
                .known
                .summary_led_by(&summary, subject, texts_of_sections(&page.sections));
        }
        for (place, summary) in usable.sections {
            let section = page.sections.get_mut(place);
            section.into_iter().for_each(|it| it.summary = Some(summary.clone()));
        }
    }
}

impl PageInputs {
    /// Records the event as a possible founder of a topic. The page of the topic is identified by the caller's id of
    /// the event's first record.
    pub(crate) fn note_founder(&mut self, unit: &Unit) {
        if unit.grain != Grain::Event {
            return;
        }
        let topic = TopicId::from_founding_unit(unit.id);
        let is_used = match unit.status {
            Status::Active | Status::Merged => true,
            Status::Superseded | Status::Archived => false,
        };
        match unit.external_ids.first().filter(|_| is_used) {
            Some(id) => self.founders.insert(topic, id.as_str().into()),
            None => self.founders.remove(topic),
        };
    }

    /// Returns the part of a page that a model is shown.
    fn shown_sections(&self, page: &Page) -> Vec<ShownSection> {
        let records = |unit: UnitId| self.contents.units.count_records(unit).map_or(1, |it| it as usize);
        let has_unknown_end = |fact: FactId| self.facts.get(fact).is_some_and(Fact::ended_at_unknown_time);
        shown_of(page, records, has_unknown_end)
    }

    /// Returns the digest that identifies the page of a subject in any space. Returns none for a topic whose id
    /// derives from another topic's id.
    fn subject_digest(&self, space: &SpaceId, subject: &Subject, page: &Page) -> Option<String> {
        let about = match subject {
            Subject::Entity(id) | Subject::Taste(id) => self.lasting_name(space, *id)?,
            Subject::Topic(id) => self.founders.get(*id)?.to_string(),
            Subject::Month(month) => month.to_key(),
        };
        Some(page_digest(page.dimension, &about))
    }

    /// Returns the name from which the id of an entity derives, or else its displayed name.
    fn lasting_name(&self, space: &SpaceId, id: EntityId) -> Option<String> {
        let mut names = self.names.names_of_entity(id).map(|it| it.as_str());
        let lasting = names.find(|it| EntityId::from_name(space, it) == id);
        let shown = || self.names.find_entity(id).map(|it| it.name.clone());
        lasting.map(str::to_owned).or_else(shown)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::judgements::example::sample_event;
    use crate::pages::inputs::buckets::bucket::Month;
    use crate::space::spill_file::SpillFile;

    #[test]
    fn the_lines_that_a_model_is_shown_are_selected_without_reading_units_back() {
        let (_folder, file) = SpillFile::create_for_test();
        let mut inputs = PageInputs::default();
        for number in 0..9 {
            let sample = sample_event(number, "");
            inputs.apply_unit(&Unit {
                text: format!("Ann and Bea counted {number} boats and 3 ferries near the harbour of Bergen."),
                // The records of the first unit do not count towards the limit of 64 records.
                records: sample.records.repeat(21),
                ..sample
            });
        }
        let subject = Subject::Month(Month::from_date(&DateTime::UNIX_EPOCH));
        let head = inputs.current_head(&"home".parse().unwrap(), &subject).unwrap();
        let page = inputs.build_page(&subject, &head);
        assert_eq!(page.sections[0].lines.len(), 9);
        (0..2).for_each(|_| inputs.spill_unused(&file));
        file.damage();
        let shown = inputs.shown_sections(&page);
        assert_eq!(shown[0].lines.len(), 1 + 3);
        assert!(!file.is_damaged());
    }
}
