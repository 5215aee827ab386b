//! Summarization of pages and their sections by a language model: which pages it is asked about, and how much of its
//! reply is used. Everything here is pure; `summary_call` makes the calls.
//!
//! The rules summarise every page. The model is also shown each page of [`SUMMARISED_FROM`] or more lines, and again
//! once half of the page's lines were not shown, or half of the shown lines are gone. Its sentence about the page or
//! about a section counts as long as each line that it cites is on the page with the same text, and at most a quarter of
//! the page's lines are new: of 60 lines of pages about four talks, 16 stated something that was no longer
//! true.

use std::collections::BTreeSet;

use domain::id::{PageId, ReadingId, UnitId};
use domain::page::Dimension;
use domain::reading::{Reading, ReadingKind};
use sha2::{Digest, Sha256};

use crate::judgements::reading_lookup::{ReadingContent, ReadingLookups, ReadingSubject};

pub(crate) mod prompt;
pub(crate) mod reply;
mod shown_lines;

pub(crate) use shown_lines::shown_of;
pub use shown_lines::{ShownLine, ShownSection};

use reply::{StoredSummary, UncheckedSummary, UsableSummaries};
use shown_lines::LineDigest;

/// Minimum number of lines of a page that the model summarises.
pub(crate) const SUMMARISED_FROM: usize = 6;

/// A page and the reading in which a model summarises it.
pub type SummarySubject = ReadingSubject<PageId>;

/// The pages of one space that the model summarises, each with the lines that it would be shown.
pub(crate) type Summaries = ReadingLookups<PageId, PageSummary>;

/// A question to the language model about a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryQuestion {
    /// The page, and the reading that stores the reply.
    pub place: SummarySubject,
    /// SHA-256 of the page's dimension and subject, in hexadecimal.
    pub digest: String,
    /// The title of the page.
    pub title: String,
    /// The sections that the model is shown, with at least six lines in all.
    pub shown: Vec<ShownSection>,
}

/// The content of the reading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSummary {
    reading: ReadingId,
    stored: StoredSummary,
    /// The lines that the model was shown.
    lines: BTreeSet<LineDigest>,
    /// The lines of the last question. They differ from `lines` if the model did not answer it and a former reply was
    /// kept.
    asked: BTreeSet<LineDigest>,
    /// The units that may derive from the records that the model was shown.
    units: BTreeSet<UnitId>,
    /// True if the reading was made with the current prompt. An older one counts until a current one exists.
    is_current: bool,
}

impl PageSummary {
    /// Returns the content of the reading of a page. Returns none for a reading of another kind, or if the shown
    /// lines cannot be read from it.
    pub fn from_reading(reading: &Reading) -> Option<PageSummary> {
        if reading.kind != ReadingKind::Page {
            return None;
        }
        let mut stored = StoredSummary::parse_stored(&reading.output)?;
        if reading.failure.is_some() {
            stored.said = None;
        }
        let lines: BTreeSet<LineDigest> = stored.shown.iter().flatten().copied().collect();
        let asked = match stored.unanswered.is_empty() {
            true => lines.clone(),
            false => stored.unanswered.iter().copied().collect(),
        };
        Some(PageSummary {
            reading: reading.id,
            lines,
            asked,
            stored,
            units: reading
                .records_seen_by_model()
                .flat_map(|it| [UnitId::of_turn(it), UnitId::of_event(it)])
                .collect(),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }

    /// Returns the part that can be used for a page that now has this title and these lines: nothing once more than a
    /// quarter of the lines are new, since the new lines may make the summary outdated.
    pub(crate) fn usable_part(&self, title: &str, sections: &[ShownSection]) -> UsableSummaries {
        let lines: BTreeSet<LineDigest> = sections.iter().flat_map(ShownSection::line_digests).collect();
        if 4 * lines.difference(&self.lines).count() > lines.len() {
            return UsableSummaries::default();
        }
        self.stored.check_against_page(title, sections).usable
    }

    /// Returns true if so much of the page is unchanged since the model was asked that it is not asked again.
    pub(crate) fn covers_lines(&self, lines: &BTreeSet<LineDigest>) -> bool {
        let is_most_of = |some: &BTreeSet<LineDigest>, all: &BTreeSet<LineDigest>| {
            let missing = all.difference(some).count();
            2 * missing < all.len()
        };
        self.is_current && is_most_of(&self.asked, lines) && is_most_of(lines, &self.asked)
    }
}

impl ReadingContent for PageSummary {
    type Size = Box<[LineDigest]>;

    fn reading_id(&self) -> ReadingId {
        self.reading
    }

    fn has_shown_unit(&self, unit: UnitId) -> bool {
        self.units.contains(&unit)
    }

    fn is_fresh(&self, lines: &Self::Size) -> bool {
        self.covers_lines(&lines.iter().copied().collect())
    }
}

/// Returns the stored form of a reply to a question about a page, or none if the reply cannot be parsed.
pub fn page_output(question: &SummaryQuestion, reply: &str) -> Option<String> {
    let unchecked = UncheckedSummary::parse_reply(reply)?;
    Some(StoredSummary::from_reply(Some(unchecked), &question.shown).to_json())
}

/// Returns the output to store if the model did not answer the question about a page: the former reply, with the lines
/// of the question. Returns none if nothing of that reply can be used for the page as it is now.
pub(crate) fn unanswered_output(question: &SummaryQuestion, former: &Reading) -> Option<String> {
    let summary = PageSummary::from_reading(former)?;
    let is_usable = summary.usable_part(&question.title, &question.shown) != UsableSummaries::default();
    is_usable.then(|| summary.stored.with_unanswered_lines(&question.shown).to_json())
}

/// Returns the SHA-256 of a page's dimension and subject, in hexadecimal. No ids are part of it, so the page about
/// the same subject has the same digest in another space.
pub(crate) fn page_digest(dimension: Dimension, about: &str) -> String {
    let digest = Sha256::digest(format!("{}\n{about}", dimension.name()).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use domain::id::{RecordId, SpaceId};

    use super::*;
    use crate::judgements::example::sample_section;

    const LINES: [&str; 6] = [
        "[3 March 2023] Ann: I sold 3 jars of honey.",
        "[4 March 2023] Ann: The cello string broke.",
        "[5 March 2023] Ann: We moved the kitchen sink.",
        "[6 March 2023] Ann: The puppy chewed a shoe.",
        "[7 March 2023] Ann: I ran along the river.",
        "[8 March 2023] Ann: Snow closed the road.",
    ];
    const SUMMARY: &str = "Ann sold 3 jars of honey.";

    fn space() -> SpaceId {
        "home".parse().unwrap()
    }

    fn sample_question(lines: &[&str]) -> SummaryQuestion {
        let place = SummarySubject {
            of: PageId::from_uuid(Default::default()),
            reading: ReadingId::of_page(&space(), "ann"),
        };
        SummaryQuestion {
            place,
            digest: "ann".to_owned(),
            title: "Ann".to_owned(),
            shown: vec![sample_section(0, "What happened", lines)],
        }
    }

    fn reading_with_output(output: String) -> Reading {
        let record = RecordId::from_external_id(&space(), "1");
        Reading {
            kind: ReadingKind::Page,
            prompt: prompt::PROMPT.to_owned(),
            output,
            ..fixtures::sample_reading(&space(), record)
        }
    }

    #[test]
    fn a_usable_summary_stays_if_the_model_does_not_answer_about_the_changed_page() {
        let reply = format!("{{\"summary\": \"{SUMMARY}\", \"lines\": [1], \"sections\": []}}");
        let former = reading_with_output(page_output(&sample_question(&LINES), &reply).unwrap());
        let question = sample_question(&LINES[..2]);
        let is_asked_about = |reading: &Reading| {
            let lines = question.shown.iter().flat_map(ShownSection::line_digests).collect();
            !PageSummary::from_reading(reading).unwrap().covers_lines(&lines)
        };
        let kept = reading_with_output(unanswered_output(&question, &former).unwrap());
        assert_eq!((is_asked_about(&former), is_asked_about(&kept)), (true, false));
        let summary = PageSummary::from_reading(&kept).unwrap();
        let usable = summary.usable_part(&question.title, &question.shown);
        assert_eq!(usable.summary.as_deref(), Some(SUMMARY));
        // The cited line is gone.
        assert_eq!(unanswered_output(&sample_question(&LINES[1..3]), &former), None);
        let failed = Reading {
            failure: Some("away".to_owned()),
            ..former
        };
        assert_eq!(unanswered_output(&question, &failed), None);
    }
}
