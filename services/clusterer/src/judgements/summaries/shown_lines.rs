//! Selects the lines of a page that the model is shown.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use domain::id::{FactId, UnitId};
use domain::page::{Line, Page};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use text::gloss::PageTexts;
use text::one_line;

use crate::space::page_language::texts_of_sections;

/// Maximum number of lines shown of a page, divided equally among its sections.
const LINES_MAX: usize = 60;
/// Maximum number of records of all units but the first. An import refuses readings with more.
const RECORDS_MAX: usize = 64;
/// Maximum number of bytes shown of one line.
const LINE_BYTES: usize = 300;
/// Marks the end of a truncated line.
const CUT: &str = " [cut]";

/// The first eight bytes of the SHA-256 of a section's title and one of its lines in the form in which the model is
/// shown them; in JSON, 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct LineDigest(u64);

impl From<LineDigest> for String {
    fn from(it: LineDigest) -> String {
        format!("{:016x}", it.0)
    }
}

impl TryFrom<String> for LineDigest {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<LineDigest, std::num::ParseIntError> {
        u64::from_str_radix(&text, 16).map(LineDigest)
    }
}

/// A section of a page in the form in which the model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSection {
    /// Place of the section on the page, from 0.
    pub place: usize,
    /// Title of the section.
    pub title: String,
    /// Lines of the section, at least one.
    pub lines: Vec<ShownLine>,
}

/// A line of a page in the form in which the model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLine {
    /// The unit the line comes from.
    pub unit: UnitId,
    /// The day of the statement, its text, and the date of its end, if it ended; "(no longer)" if the date is not known.
    pub text: String,
}

impl ShownSection {
    /// Returns the digest of each line.
    pub(crate) fn line_digests(&self) -> impl Iterator<Item = LineDigest> {
        self.lines.iter().map(|it| line_digest(&self.title, &it.text))
    }
}

/// Returns the part of a page that the model is shown: the latest lines of each section, without lines whose unit
/// would exceed the limit of records. `records` returns the number of records of a unit, and `has_unknown_end` whether
/// the time at which a fact ended is unknown. Dates are in the language of the page.
pub(crate) fn shown_of(
    page: &Page,
    records: impl Fn(UnitId) -> usize,
    has_unknown_end: impl Fn(FactId) -> bool,
) -> Vec<ShownSection> {
    let texts = texts_of_sections(&page.sections);
    let nonempty_sections = page.sections.iter().enumerate().filter(|it| !it.1.lines.is_empty());
    let sections: Vec<_> = nonempty_sections.collect();
    let each = LINES_MAX / sections.len().max(1);
    let mut met: BTreeSet<UnitId> = BTreeSet::new();
    let mut records_left = RECORDS_MAX;
    let mut fits = |unit: UnitId| {
        // The records of the first unit do not count towards the limit.
        let more = match met.is_empty() || met.contains(&unit) {
            true => 0,
            false => records(unit),
        };
        let fits = more <= records_left;
        if fits {
            records_left -= more;
            met.insert(unit);
        }
        fits
    };
    let mut shown = Vec::new();
    for (place, section) in sections {
        let mut lines: Vec<&Line> = latest_lines(&section.lines, each);
        lines.retain(|it| fits(it.unit));
        let shown_line = |line: &Line| shown_line(line, texts, line.fact.is_some_and(&has_unknown_end));
        let lines: Vec<ShownLine> = lines.into_iter().map(shown_line).collect();
        if !lines.is_empty() {
            shown.push(ShownSection {
                place,
                title: one_line(&section.title),
                lines,
            });
        }
    }
    shown
}

/// Returns at most `count` lines in their order: those that still hold before those that ended, later ones first.
fn latest_lines(lines: &[Line], count: usize) -> Vec<&Line> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&at| (lines[at].until.is_some(), Reverse(lines[at].observed_at), Reverse(at)));
    order.truncate(count);
    order.sort_unstable();
    order.into_iter().map(|at| &lines[at]).collect()
}

/// Returns a line with its day and its end. If only the day on which somebody mentioned the end is known, the end has
/// no date.
fn shown_line(line: &Line, texts: &PageTexts, has_unknown_end: bool) -> ShownLine {
    let until = line.until.map(|it| match has_unknown_end {
        true => " (no longer)".to_owned(),
        false => format!(" (until {})", texts.format_day(&it)),
    });
    let text = one_line(&line.text);
    let (text, cut) = match text.len() <= LINE_BYTES {
        true => (text.as_str(), ""),
        false => (&text[..text.floor_char_boundary(LINE_BYTES)], CUT),
    };
    ShownLine {
        unit: line.unit,
        text: format!(
            "[{}] {text}{cut}{}",
            texts.format_day(&line.observed_at),
            until.unwrap_or_default()
        ),
    }
}

fn line_digest(title: &str, line: &str) -> LineDigest {
    let digest: [u8; 32] = Sha256::digest(format!("{title}\n{line}").as_bytes()).into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    LineDigest(u64::from_be_bytes(first))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::page::{Dimension, PageStatus, Section};

    use super::*;
    use crate::judgements::example::sample_event;

    /// Returns a page with these numbers of lines in its sections.
    fn page_with_lines(lines: &[u32]) -> Page {
        let line = |number: u32| Line {
            text: format!("fern\n{number}"),
            unit: sample_event(number, "").id,
            observed_at: DateTime::UNIX_EPOCH,
            fact: None,
            until: (number == 1).then_some(DateTime::UNIX_EPOCH),
        };
        let section = |(place, count): (usize, &u32)| Section {
            title: format!("section {place}"),
            category: "events".to_owned(),
            summary: None,
            lines: (1..=*count).map(line).collect(),
            left_out: 0,
            former: Vec::new(),
            time: None,
            confidence: 1.0,
        };
        Page {
            id: domain::id::PageId::from_uuid(Default::default()),
            dimension: Dimension::Figure,
            title: "Ann".to_owned(),
            summary: String::new(),
            aliases: Vec::new(),
            tags: Vec::new(),
            sections: lines.iter().enumerate().map(section).collect(),
            links: Vec::new(),
            confidence: 1.0,
            updated_at: DateTime::UNIX_EPOCH,
            status: PageStatus::Active,
        }
    }

    fn line_counts(shown: &[ShownSection]) -> Vec<(usize, usize)> {
        shown.iter().map(|it| (it.place, it.lines.len())).collect()
    }

    #[test]
    fn a_shown_line_has_its_day_its_text_and_its_end() {
        let shown = shown_of(&page_with_lines(&[2]), |_| 1, |_| false);
        let texts: Vec<&str> = shown[0].lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "[1 January 1970] fern 1 (until 1 January 1970)",
                "[1 January 1970] fern 2"
            ]
        );
    }

    #[test]
    fn an_end_at_an_unknown_time_has_no_date() {
        let mut page = page_with_lines(&[2]);
        page.sections[0].lines[0].fact = Some(FactId::from_uuid(Default::default()));
        let shown = |unknown: bool| shown_of(&page, |_| 1, |_| unknown)[0].lines[0].text.clone();
        assert_eq!(shown(true), "[1 January 1970] fern 1 (no longer)");
        assert_eq!(shown(false), "[1 January 1970] fern 1 (until 1 January 1970)");
    }

    #[test]
    fn dates_are_in_the_language_of_the_page() {
        let mut page = page_with_lines(&[2]);
        page.sections[0].lines[0].text = "Carmen vive en Lisboa con mi hermana".to_owned();
        let shown = shown_of(&page, |_| 1, |_| false);
        let first = "[1 de enero de 1970] Carmen vive en Lisboa con mi hermana (until 1 de enero de 1970)";
        assert_eq!(shown[0].lines[0].text, first);
    }

    #[test]
    fn each_section_is_shown_in_part_within_the_limit_of_records() {
        assert_eq!(
            line_counts(&shown_of(&page_with_lines(&[12, 0, 3]), |_| 1, |_| false)),
            [(0, 12), (2, 3)]
        );
        assert_eq!(
            line_counts(&shown_of(&page_with_lines(&[12; 12]), |_| 1, |_| false)),
            [5; 12].into_iter().enumerate().collect::<Vec<_>>()
        );
        // The first unit does not count, four other units have 64 records, and the second section has lines of the
        // same units.
        assert_eq!(
            line_counts(&shown_of(&page_with_lines(&[12, 12]), |_| 16, |_| false)),
            [(0, 5), (1, 5)]
        );
    }

    #[test]
    fn the_latest_lines_that_hold_are_shown() {
        let page = page_with_lines(&[70]);
        let shown = shown_of(&page, |_| 0, |_| false);
        let texts: Vec<&str> = shown[0].lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts.len(), 60);
        assert_eq!(texts[0], "[1 January 1970] fern 11");
        assert_eq!(texts[59], "[1 January 1970] fern 70");
        // The first line ended.
        assert_eq!(latest_lines(&page.sections[0].lines[..3], 2).len(), 2);
        assert!(
            latest_lines(&page.sections[0].lines[..3], 2)
                .iter()
                .all(|it| it.until.is_none())
        );
    }

    #[test]
    fn a_digest_depends_on_section_and_line_and_is_hexadecimal() {
        let [one, other] = [page_with_lines(&[2]), page_with_lines(&[0, 2])].map(|it| shown_of(&it, |_| 1, |_| false));
        let digests = |it: &[ShownSection]| it[0].line_digests().collect::<Vec<LineDigest>>();
        let (one, other) = (digests(&one), digests(&other));
        let all: BTreeSet<LineDigest> = one.iter().chain(&other).copied().collect();
        assert_eq!(all.len(), 4);
        let written = serde_json::to_string(&one).unwrap();
        assert_eq!(written.len(), 2 * 18 + 3, "{written}");
        assert_eq!(serde_json::from_str::<Vec<LineDigest>>(&written).unwrap(), one);
        assert!(serde_json::from_str::<Vec<LineDigest>>("[\"fern\"]").is_err());
    }
}
