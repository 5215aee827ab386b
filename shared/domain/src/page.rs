//! Dimension > Page > Section: the view of a memory that can be walked through (MemCog, section 3).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{FactId, PageId, UnitId};
use crate::time::TimeSpan;

/// The side from which a page looks at the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// What was talked about.
    Topic,
    /// People.
    Figure,
    /// Places.
    Place,
    /// What people like, dislike and want done.
    Preference,
    /// What happened, by month.
    Event,
}

impl Dimension {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Dimension; 5] = [
        Dimension::Topic,
        Dimension::Figure,
        Dimension::Place,
        Dimension::Preference,
        Dimension::Event,
    ];

    /// Returns the name, as it is written in JSON.
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

/// How a page leads to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// They share people, places or units; both ways.
    RelatedTo,
    /// The target comes next in time.
    TemporalNext,
    /// The target brought this one about.
    CausedBy,
    /// The two stand against each other; both ways.
    ContrastsWith,
}

/// A typed link to another page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Link {
    /// How.
    pub kind: LinkKind,
    /// Where to.
    pub page: PageId,
    /// Title of the target.
    pub title: String,
    /// 0 to 1.
    pub weight: f32,
}

/// Whether a page is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PageStatus {
    /// In the lists.
    #[default]
    Active,
    /// Neither read nor changed for long: left out of lists, still found when asked for.
    Archived,
    /// All that stood on it was taken back: there as of a moment before, else not.
    Former,
}

/// What a memory knows of one thing, in sections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Page {
    /// Derived from the space, the dimension and what it is about.
    pub id: PageId,
    /// Where it stands.
    pub dimension: Dimension,
    /// Name of what it is about.
    pub title: String,
    /// One to three sentences. They begin with what a language model wrote of the page, if one did and the lines of the page bear it
    /// out.
    pub summary: String,
    /// Other names, sorted.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// At most eight keywords, strongest first.
    #[serde(default)]
    pub tags: Vec<String>,
    /// At most twelve, by category, then time, then title.
    pub sections: Vec<Section>,
    /// At most sixteen, strongest first, ties by page.
    pub links: Vec<Link>,
    /// 0 to 1: mean of its sections.
    pub confidence: f32,
    /// When the newest thing on it was observed.
    pub updated_at: DateTime<Utc>,
    /// Whether it is offered.
    #[serde(default)]
    pub status: PageStatus,
}

impl Page {
    /// Returns the page as it is read: without what is kept for earlier moments; none if that is all, or if nothing stands
    /// on it, as of a page of somebody who is only named.
    pub fn now(mut self) -> Option<Page> {
        self.sections = self.sections.into_iter().filter_map(Section::now).collect();
        (self.status != PageStatus::Former && !self.sections.is_empty()).then_some(self)
    }

    /// Returns the page as far as it was known at `as_of`, none if nothing of it was: lines told later are left out, those
    /// taken away later still stand there, and what ceased to hold later still held. Names, tags and links are those of
    /// today; whoever follows a link asks its target.
    pub fn known_at(&self, as_of: DateTime<Utc>) -> Option<Page> {
        let mut page = self.clone();
        page.sections = page.sections.drain(..).filter_map(|it| it.known_at(as_of)).collect();
        let lines = page.sections.iter().flat_map(|it| &it.lines);
        let newest = lines.max_by(|a, b| (a.observed_at, &a.text).cmp(&(b.observed_at, &b.text)))?;
        let brought_back = self.sections.iter().flat_map(|it| &it.former).any(|it| it.stood(as_of));
        let mut ends = self.sections.iter().flat_map(|it| &it.lines).filter_map(|it| it.until);
        let ends_later = ends.any(|it| it > as_of);
        if self.updated_at > as_of || brought_back || ends_later {
            // What the summary tells may have come later, or leaves out what stood there.
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
    /// What it says, in one sentence of at most 240 characters; only a language model writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it says, a line each, oldest first; long ones are compressed to the lines that say most.
    pub lines: Vec<Line>,
    /// Lines that were left out by compression.
    #[serde(default)]
    pub left_out: u32,
    /// Lines that were taken away, or that ceased to hold and gave way: at most twelve, those that went last first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerLine>,
    /// The time it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSpan>,
    /// 0 to 1.
    pub confidence: f32,
}

impl Section {
    /// Most lines of a section, and most former ones.
    pub const LINES_MAX: usize = 12;

    /// Returns the section as it is read: without what is kept for earlier moments; none if that is all.
    pub fn now(mut self) -> Option<Section> {
        self.former = Vec::new();
        (!self.lines.is_empty()).then_some(self)
    }

    /// Returns the section as far as it was known at `as_of`; none if nothing of it was.
    pub fn known_at(mut self, as_of: DateTime<Utc>) -> Option<Section> {
        let all = self.lines.len();
        self.lines.retain(|it| it.observed_at <= as_of);
        let mut changed = self.lines.len() < all;
        let mut former = std::mem::take(&mut self.former);
        former.retain(|it| it.stood(as_of));
        // Of what was known otherwise more than once, how it was known then is what ended first.
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
                // It may tell the end that came later.
                self.summary = None;
            }
            line.until = until;
        }
        if changed {
            // It may tell what came later, or leave out what was there.
            (self.time, self.summary) = (None, None);
            // What held then comes first, and the newest; shown are both oldest first.
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

/// A line that stood in a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FormerLine {
    /// When it was taken away, or ceased to hold.
    pub known_until: DateTime<Utc>,
    /// The line as it was.
    pub line: Line,
}

impl FormerLine {
    /// Says whether the line stood there at `as_of`.
    pub fn stood(&self, as_of: DateTime<Utc>) -> bool {
        self.line.observed_at <= as_of && as_of < self.known_until
    }
}

/// One statement of a section with what it stands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Line {
    /// The statement.
    pub text: String,
    /// The unit it comes from.
    pub unit: UnitId,
    /// When that was observed.
    pub observed_at: DateTime<Utc>,
    /// The fact it tells, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<FactId>,
    /// When it ceased to hold, of a fact that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}
