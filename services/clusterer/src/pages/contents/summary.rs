//! Writes the one or two sentences at the head of a page. They begin with a language model's sentence if there is
//! one.

use domain::page::{Dimension, Section};
use text::gloss::PageTexts;

use crate::pages::inputs::buckets::bucket::Bucket;
use crate::pages::inputs::page_inputs::{PageInputs, Subject};

/// Maximum number of facts and of other pages in a summary.
const NAMED_MAX: usize = 3;
/// Aspects that describe a person, in the order in which the summary lists them.
const TELLING: [&str; 6] = ["attribute", "work", "place", "relation", "habit", "plan"];

impl PageInputs {
    /// Returns a language model's sentence about a page, followed by the number and dates of mentions.
    pub(crate) fn summary_led_by(&self, sentence: &str, subject: &Subject, texts: &PageTexts) -> String {
        let buckets = self.buckets_of_subject(subject);
        let spoken_of = match subject {
            Subject::Entity(_) => self.spoken_of("Spoken of", subject, &buckets, texts),
            Subject::Taste(_) => String::new(),
            Subject::Topic(_) | Subject::Month(_) => self.spoken_of("Came up", subject, &buckets, texts),
        };
        format!("{sentence} {spoken_of}").trim_end().to_owned()
    }

    /// Returns one or two sentences about a subject.
    pub(crate) fn build_summary(
        &self,
        subject: &Subject,
        sections: &[Section],
        buckets: &[&Bucket],
        texts: &PageTexts,
    ) -> String {
        let current = |it: &Section| -> Vec<String> {
            let lines = it.lines.iter().filter(|it| it.until.is_none());
            lines.map(|it| it.text.trim_end_matches('.').to_owned()).collect()
        };
        match subject {
            Subject::Entity(_) => {
                let mut facts: Vec<String> = TELLING
                    .iter()
                    .flat_map(|name| sections.iter().filter(move |it| it.category == *name))
                    .filter_map(|it| current(it).pop())
                    .collect();
                facts.truncate(NAMED_MAX);
                let facts = if facts.is_empty() {
                    String::new()
                } else {
                    format!("{}. ", facts.join("; "))
                };
                format!("{facts}{}", self.spoken_of("Spoken of", subject, buckets, texts))
                    .trim_end()
                    .to_owned()
            }
            Subject::Taste(_) => {
                let lines: Vec<String> = sections.iter().flat_map(current).collect();
                let newest: Vec<&str> = lines.iter().rev().take(NAMED_MAX).map(String::as_str).collect();
                if newest.is_empty() {
                    [texts.translate("Nothing of it holds any more"), texts.translate(".")].concat()
                } else {
                    format!("{}.", newest.join("; "))
                }
            }
            Subject::Topic(id) => {
                let summary = self.topics.get(id).and_then(|it| it.summary.as_deref());
                let came_up = self.spoken_of("Came up", subject, buckets, texts);
                match summary {
                    Some(summary) => format!("{summary} {came_up}").trim_end().to_owned(),
                    None => came_up,
                }
            }
            Subject::Month(_) => self.spoken_of("Came up", subject, buckets, texts),
        }
    }

    /// Returns a sentence such as `Spoken of 12 times, 3 May 2024 to 7 July 2024, with Ana; boats.`
    fn spoken_of(&self, verb: &str, subject: &Subject, buckets: &[&Bucket], texts: &PageTexts) -> String {
        let count: usize = buckets.iter().map(|it| it.times.len()).sum();
        let first = buckets.iter().filter_map(|it| self.contents.times_of_bucket(it).next());
        let last = buckets
            .iter()
            .filter_map(|it| self.contents.times_of_bucket(it).next_back());
        let (Some(first), Some(last)) = (first.min(), last.max()) else {
            return String::new();
        };
        let (first, last) = (texts.format_day(&first.0), texts.format_day(&last.0));
        let when = match (count, first == last) {
            (1, _) => "once, on {first}",
            (_, true) => "{count} times, on {first}",
            (_, false) => "{count} times, {first} to {last}",
        };
        let count = count.to_string();
        let parts = [
            ("{count}", count.as_str()),
            ("{first}", first.as_str()),
            ("{last}", last.as_str()),
        ];
        let spoken_of = texts.fill(&format!("{verb} {when}"), &parts);
        let mut with: Vec<&str> = Vec::new();
        for (about, _) in buckets.iter().flat_map(|it| self.contents.nearest_things(it, 24)) {
            let other = self
                .covering_subject(about)
                .filter(|it| it != subject && !matches!(it, Subject::Month(_)));
            let head = other.and_then(|it| self.heads.get(&it));
            let head = head.filter(|it| it.dimension != Dimension::Preference && !with.contains(&it.title.as_str()));
            with.extend(head.map(|it| it.title.as_str()));
            if with.len() == NAMED_MAX {
                break;
            }
        }
        let with = if with.is_empty() {
            String::new()
        } else {
            texts.fill(", with {names}", &[("{names}", with.join("; ").as_str())])
        };
        format!("{spoken_of}{with}{}", texts.translate("."))
    }
}
