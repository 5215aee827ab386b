//! Dimension > Page > Section: the navigable view of a memory (MemCog, section 3).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{FactId, PageId, UnitId};
use crate::time::TimeSpan;

/// The dimension by which a page groups the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Subjects of conversations.
    Topic,
    /// People.
    Figure,
    /// Places.
    Place,
    /// Likes, dislikes and wishes of people.
    Preference,
    /// Events, by month.
    Event,
}

impl Dimension {
    /// All dimensions, in the order in which they are listed.
    pub const ALL: [Dimension; 5] = [
        Dimension::Topic,
        Dimension::Figure,
        Dimension::Place,
        Dimension::Preference,
        Dimension::Event,
    ];

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Topic => "topic",
            Dimension::Figure => "figure",
            Dimension::Place => "place",
            Dimension::Preference => "preference",
            Dimension::Event => "event",
        }
    }
}

/// The kind of a link from one page to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The pages share people, places or units; symmetric.
    RelatedTo,
    /// The target comes next in time.
    TemporalNext,
    /// The target is the cause of this page.
    CausedBy,
    /// The two pages contradict each other; symmetric.
    ContrastsWith,
}

/// A typed link to another page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Link {
    /// The kind.
    pub kind: LinkKind,
    /// The target.
    pub page: PageId,
    /// Title of the target.
    pub title: String,
    /// Weight, 0 to 1.
    pub weight: f32,
}

/// The status of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PageStatus {
    /// Listed.
    #[default]
    Active,
    /// Neither read nor changed for a long time: not listed, but still found by a request for the page.
    Archived,
    /// All its content was retracted. The page exists only as of an earlier moment.
    Former,
}

/// What a memory knows about one subject, in sections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Page {
    /// Derived from the space, the dimension and the subject.
    pub id: PageId,
    /// The dimension it belongs to.
    pub dimension: Dimension,
    /// Name of the subject.
    pub title: String,
    /// One to three sentences. They begin with a language model's summary if there is one and the lines of the page
    /// support it.
    pub summary: String,
    /// Other names, sorted.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// At most eight keywords, strongest first.
    #[serde(default)]
    pub tags: Vec<String>,
    /// At most twelve, sorted by category, then time, then title.
    pub sections: Vec<Section>,
    /// At most sixteen, strongest first, ties by page.
    pub links: Vec<Link>,
    /// Mean confidence of its sections, 0 to 1.
    pub confidence: f32,
    /// Time at which the newest item on the page was observed.
    pub updated_at: DateTime<Utc>,
    /// Whether it is listed.
    #[serde(default)]
    pub status: PageStatus,
}

impl Page {
    /// Returns the page as it is today, without the lines that are kept for earlier moments. Returns `None` if nothing
    /// else is on it, as on the page of a person who is only mentioned.
    pub fn without_former_lines(mut self) -> Option<Page> {
        self.sections = self
            .sections
            .into_iter()
            .filter_map(Section::without_former_lines)
            .collect();
        (self.status != PageStatus::Former && !self.sections.is_empty()).then_some(self)
    }

    /// Returns the page as it was known at `as_of`, or `None` if nothing of it was known then. Lines stated after
    /// `as_of` are left out, lines removed after it are present, and facts that ended after it still hold. Names, tags
    /// and links are those of today; a caller that follows a link asks its target.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Page> {
        let mut page = self.clone();
        page.sections = page.sections.drain(..).filter_map(|it| it.known_at(as_of)).collect();
        let lines = page.sections.iter().flat_map(|it| &it.lines);
        let newest = lines.max_by(|a, b| (a.observed_at, &a.text).cmp(&(b.observed_at, &b.text)))?;
        let brought_back = self
            .sections
            .iter()
            .flat_map(|it| &it.former)
            .any(|it| it.was_in_section_at(as_of));
        let mut ends = self.sections.iter().flat_map(|it| &it.lines).filter_map(|it| it.until);
        let ends_later = ends.any(|it| it > as_of);
        if self.updated_at > as_of || brought_back || ends_later {
            // The summary may mention something later, or miss something that was on the page then.
            (page.summary, page.updated_at) = (newest.text.clone(), newest.observed_at);
            let sum: f32 = page.sections.iter().map(|it| it.confidence).sum();
            page.confidence = sum / page.sections.len() as f32;
        }
        if page.status == PageStatus::Former {
            page.status = PageStatus::Active;
        }
        Some(page)
    }
}

/// One part of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Section {
    /// Short title.
    pub title: String,
    /// The aspect of its facts, or `events`.
    pub category: String,
    /// A summary in one sentence of at most 240 characters; only a language model writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The lines, oldest first. A long section is reduced to its most informative lines.
    pub lines: Vec<Line>,
    /// Number of lines that this reduction removed.
    #[serde(default)]
    pub left_out: u32,
    /// Lines that were removed, or that stopped holding and were replaced: at most twelve, the last removed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerLine>,
    /// The time span of its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSpan>,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

impl Section {
    /// Maximum number of lines of a section, and of former lines.
    pub const LINES_MAX: usize = 12;

    /// Returns the section as it is today, without the lines that are kept for earlier moments. Returns `None` if
    /// nothing else is in it.
    pub fn without_former_lines(mut self) -> Option<Section> {
        self.former = Vec::new();
        (!self.lines.is_empty()).then_some(self)
    }

    /// Returns the section as it was known at `as_of`, or `None` if nothing of it was known then.
    pub fn known_at(mut self, as_of: DateTime<Utc>) -> Option<Section> {
        let all = self.lines.len();
        self.lines.retain(|it| it.observed_at <= as_of);
        let mut changed = self.lines.len() < all;
        let mut former = std::mem::take(&mut self.former);
        former.retain(|it| it.was_in_section_at(as_of));
        // If a fact has several former lines, the one that ended first after `as_of` is the one known then.
        former.sort_by_key(|it| it.known_until);
        let mut met: BTreeSet<FactId> = BTreeSet::new();
        for line in former.into_iter().map(|it| it.line) {
            if line.fact.is_none_or(|it| met.insert(it)) {
                self.lines.retain(|it| it.fact.is_none() || it.fact != line.fact);
                self.lines.push(line);
                changed = true;
            }
        }
        for line in &mut self.lines {
            let until = line.until.filter(|it| *it <= as_of);
            if until != line.until {
                // The summary may mention the later end.
                self.summary = None;
            }
            line.until = until;
        }
        if changed {
            // Time and summary may include something later, or miss something that was there then.
            (self.time, self.summary) = (None, None);
            // Lines that held then have priority, and newer ones; the section shows the kept lines oldest first.
            self.lines
                .sort_by_key(|it| (it.until.is_some(), Reverse((it.observed_at, it.fact, it.unit))));
            let over = self.lines.len().saturating_sub(Section::LINES_MAX);
            self.left_out = self.left_out.saturating_add(u32::try_from(over).unwrap_or(u32::MAX));
            self.lines.truncate(Section::LINES_MAX);
            self.lines
                .sort_by_key(|it| (it.until.is_some(), it.observed_at, it.fact, it.unit));
        }
        (!self.lines.is_empty()).then_some(self)
    }
}

/// A line that was in a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FormerLine {
    /// Time at which the line was removed or stopped holding.
    pub known_until: DateTime<Utc>,
    /// The line as it was.
    pub line: Line,
}

impl FormerLine {
    /// Returns true if the line was in the section at `as_of`.
    pub fn was_in_section_at(&self, as_of: DateTime<Utc>) -> bool {
        self.line.observed_at <= as_of && as_of < self.known_until
    }
}

/// One statement of a section with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Line {
    /// The statement.
    pub text: String,
    /// The unit the line comes from.
    pub unit: UnitId,
    /// Time at which that unit was observed.
    pub observed_at: DateTime<Utc>,
    /// The fact that the line states, if it states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<FactId>,
    /// Time at which the fact stopped holding, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}
