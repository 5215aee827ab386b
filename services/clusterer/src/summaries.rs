//! Summaries of pages and of their sections by a language model: of which pages it is asked, and how much of its reply is used. All
//! of it is pure; `summary_call` makes the calls.
//!
//! The rules sum up every page. A page of [`SUMMARISED_FROM`] lines is shown to the model, and again once half of its lines were
//! not shown then, or half of the lines that were shown are gone. What the model said of the page or of a section counts as long
//! as each line that it cites is there and reads as it did.

use std::collections::BTreeSet;

use domain::id::{PageId, ReadingId, UnitId};
use domain::page::Dimension;
use domain::reading::{Reading, ReadingKind};
use sha2::{Digest, Sha256};

use crate::looked_up::{LookedUp, Place, Saying};

pub(crate) mod prompt;
pub(crate) mod reply;
mod shown;

pub(crate) use shown::shown_of;
pub use shown::{ShownLine, ShownSection};

use reply::{Said, Stored, Usable};
use shown::LineDigest;

/// Lines from which a page is summed up.
pub(crate) const SUMMARISED_FROM: usize = 6;

/// A page with the reading in which a model sums it up.
pub type SummaryPlace = Place<PageId>;

/// The pages of one space that are summed up, each with the lines that a model would be shown.
pub(crate) type Summaries = LookedUp<PageId, PageSummary>;

/// A page about which a language model is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryQuestion {
    /// Where what it says goes.
    pub place: SummaryPlace,
    /// SHA-256 of the dimension of the page and of what it is about, in hexadecimal digits.
    pub digest: String,
    /// The title of the page.
    pub title: String,
    /// What the model is shown, at least six lines.
    pub shown: Vec<ShownSection>,
}

/// What the reading of a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSummary {
    reading: ReadingId,
    stored: Stored,
    /// The lines that the model was shown.
    lines: BTreeSet<LineDigest>,
    /// The units that may come from the records of which it was shown something.
    units: BTreeSet<UnitId>,
    /// Whether it was made with the prompt of now. Else it counts until there is one that was.
    is_current: bool,
}

impl PageSummary {
    /// Returns what a reading says of a page; none if it is a reading of something else, or does not say what was shown.
    pub fn of(reading: &Reading) -> Option<PageSummary> {
        if reading.kind != ReadingKind::Page {
            return None;
        }
        let mut stored = Stored::read(&reading.output)?;
        if reading.failure.is_some() {
            stored.said = None;
        }
        Some(PageSummary {
            reading: reading.id,
            lines: stored.shown.iter().flatten().copied().collect(),
            stored,
            units: reading
                .shown()
                .flat_map(|it| [UnitId::turn(it), UnitId::event(it)])
                .collect(),
            is_current: reading.prompt == prompt::PROMPT,
        })
    }

    /// Returns what of it can be used for a page that has this title and these lines now.
    pub(crate) fn usable(&self, title: &str, sections: &[ShownSection]) -> Usable {
        self.stored.check(title, sections).usable
    }

    /// Returns true if so much of a page is as it was when the model was asked that it is not asked again.
    pub(crate) fn covers(&self, lines: &BTreeSet<LineDigest>) -> bool {
        let is_most_of = |some: &BTreeSet<LineDigest>, all: &BTreeSet<LineDigest>| {
            let missing = all.difference(some).count();
            2 * missing < all.len()
        };
        self.is_current && is_most_of(&self.lines, lines) && is_most_of(lines, &self.lines)
    }
}

impl Saying for PageSummary {
    type Size = BTreeSet<LineDigest>;

    fn reading(&self) -> ReadingId {
        self.reading
    }

    fn shows(&self, unit: UnitId) -> bool {
        self.units.contains(&unit)
    }

    fn is_fresh(&self, lines: &BTreeSet<LineDigest>) -> bool {
        self.covers(lines)
    }
}

/// Returns what is stored of a reply to a question about a page; none if nothing can be read from it.
pub fn page_output(question: &SummaryQuestion, reply: &str) -> Option<String> {
    let said = Said::read(reply)?;
    Some(Stored::of(Some(said), &question.shown).output())
}

/// Returns the SHA-256 of the dimension of a page and of what it is about, in hexadecimal digits. No ids are part of it, so the page
/// about the same thing has the same digest in another space.
pub(crate) fn page_digest(dimension: Dimension, about: &str) -> String {
    let digest = Sha256::digest(format!("{}\n{about}", dimension.name()).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
