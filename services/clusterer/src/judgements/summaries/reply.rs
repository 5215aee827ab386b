//! Parses the model's reply about a page and checks it against the lines of the page.

use std::collections::BTreeMap;

use domain::reading::LeftOut;
use serde::{Deserialize, Serialize};
use text::model_text::model_reply::{after_thoughts, last_object};

use super::ShownSection;
use super::shown_lines::LineDigest;
use crate::judgements::grounding::ShownTerms;
use crate::judgements::model_sentence::{left_out, summary_flaw, to_display_line};

/// Maximum number of sections read from a reply.
const SECTIONS_MAX: usize = 12;
/// Maximum length of a stored reply, in bytes.
const REPLY_BYTES_MAX: usize = 16_384;

/// The unchecked reply of a model about a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UncheckedSummary {
    #[serde(default)]
    summary: String,
    /// The lines that support the summary, numbered from 1.
    #[serde(default)]
    lines: Vec<u32>,
    sections: Vec<UncheckedSection>,
}

/// The unchecked reply of a model about a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UncheckedSection {
    /// Number of the section, from 1.
    number: u32,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    lines: Vec<u32>,
}

/// The stored form of a reply about a page: the reply, and digests of the lines that the model was shown, so that
/// later checks can find out whether these lines still exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSummary {
    /// None if the model did not reply usably.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<UncheckedSummary>,
    /// The digests of the lines that were shown, section by section.
    pub(crate) shown: Vec<Vec<LineDigest>>,
    /// The digests of the lines that the model was shown later, without a usable reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unanswered: Vec<LineDigest>,
}

/// The part of a reply that is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsableSummaries {
    /// One sentence of at most 240 characters about the page.
    pub(crate) summary: Option<String>,
    /// Sentences of the same kind about sections, by the place of the section on the page.
    pub(crate) sections: BTreeMap<usize, String>,
}

/// The result of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckedSummaries {
    /// The accepted parts.
    pub(crate) usable: UsableSummaries,
    /// The rejected parts.
    pub(crate) left_out: Vec<LeftOut>,
}

impl UncheckedSummary {
    /// Finds the JSON object in a reply and parses it. Returns none if there is none or it is too long.
    pub(crate) fn parse_reply(reply: &str) -> Option<UncheckedSummary> {
        let (_, mut unchecked) = last_object::<UncheckedSummary>(after_thoughts(reply)?)?;
        unchecked.sections.truncate(SECTIONS_MAX);
        let bytes = serde_json::to_string(&unchecked).ok()?.len();
        (bytes <= REPLY_BYTES_MAX).then_some(unchecked)
    }
}

impl StoredSummary {
    /// Returns the stored form of a reply about a page of which these sections were shown.
    pub(crate) fn from_reply(said: Option<UncheckedSummary>, sections: &[ShownSection]) -> StoredSummary {
        StoredSummary {
            said,
            shown: sections.iter().map(|it| it.line_digests().collect()).collect(),
            unanswered: Vec::new(),
        }
    }

    /// Returns the reply with the note that the model was shown these sections later, without a usable reply.
    pub(crate) fn with_unanswered_lines(self, sections: &[ShownSection]) -> StoredSummary {
        StoredSummary {
            unanswered: sections.iter().flat_map(ShownSection::line_digests).collect(),
            ..self
        }
    }

    /// Returns the reply as JSON.
    pub(crate) fn to_json(&self) -> String {
        // Serialising numbers, texts and lists of them cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses stored JSON, or returns none if it has another form.
    pub(crate) fn parse_stored(output: &str) -> Option<StoredSummary> {
        serde_json::from_str(output).ok()
    }

    /// Checks the reply against the current lines of a page. Each cited line must be on the page with the text that
    /// the model was shown.
    pub(crate) fn check_against_page(&self, title: &str, now: &[ShownSection]) -> CheckedSummaries {
        let mut checked = CheckedSummaries::default();
        let Some(unchecked) = &self.said else {
            return checked;
        };
        let lines = Lines::from_stored(self, title, now);
        match lines.check_summary(&unchecked.summary, &unchecked.lines) {
            Ok(cited) => checked.usable.summary = Some(cited.summary),
            Err(why) => checked.left_out.push(left_out(&unchecked.summary, why)),
        }
        for section in &unchecked.sections {
            let is_own = |it: &u32| lines.section_of(*it) == Some(section.number);
            let cited = match section.lines.iter().all(is_own) {
                true => lines.check_summary(&section.summary, &section.lines),
                false => Err("cites a line that is not in its section"),
            };
            match cited {
                Ok(cited) => {
                    let sections = &mut checked.usable.sections;
                    sections.entry(cited.place).or_insert(cited.summary);
                }
                Err(why) => checked.left_out.push(left_out(&section.summary, why)),
            }
        }
        checked
    }
}

/// A summary that its lines support.
struct Cited {
    summary: String,
    /// The place of the section of the first line that the summary cites.
    place: usize,
}

/// The lines that the model was shown, and the lines now on the page.
struct Lines<'a> {
    title: &'a str,
    /// Section number (from 1) and digest of each line that was shown, in order.
    shown: Vec<(u32, LineDigest)>,
    now: BTreeMap<LineDigest, Now<'a>>,
}

/// A line now on the page.
struct Now<'a> {
    section: &'a ShownSection,
    text: &'a str,
}

impl<'a> Lines<'a> {
    fn from_stored(stored: &StoredSummary, title: &'a str, now: &'a [ShownSection]) -> Lines<'a> {
        let shown = stored.shown.iter().zip(1..);
        let shown = shown.flat_map(|(digests, number)| digests.iter().map(move |it| (number, *it)));
        let line = |section: &'a ShownSection| {
            let texts = section.lines.iter().map(|it| it.text.as_str());
            section.line_digests().zip(texts.map(move |text| Now { section, text }))
        };
        Lines {
            title,
            shown: shown.collect(),
            now: now.iter().flat_map(line).collect(),
        }
    }

    /// Returns the section number of a line, or none if the model was shown no line of this number.
    fn section_of(&self, number: u32) -> Option<u32> {
        self.find_line(number).map(|it| it.0)
    }

    fn find_line(&self, number: u32) -> Option<&(u32, LineDigest)> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.shown.get(place)
    }

    /// Returns a summary in the form in which it is displayed, or the reason why it is rejected.
    fn check_summary(&self, summary: &str, cited: &[u32]) -> Result<Cited, &'static str> {
        let cited: Option<Vec<LineDigest>> = cited.iter().map(|it| self.find_line(*it).map(|it| it.1)).collect();
        let cited = cited.ok_or("cites a line that does not exist")?;
        let there: Option<Vec<&Now<'_>>> = cited.iter().map(|it| self.now.get(it)).collect();
        let there = there.ok_or("cites a line that is not on the page any more")?;
        let first = there.first().ok_or("cites no line")?;
        let titles = [self.title, &first.section.title];
        let known = ShownTerms::from_texts(there.iter().map(|it| it.text).chain(titles));
        let summary = to_display_line(summary);
        match summary_flaw(&summary, &known) {
            Some(why) => Err(why),
            None => Ok(Cited {
                summary,
                place: first.section.place,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judgements::example::sample_section;

    const WORK: &str = "Ann works at the bakery in Leeds";

    fn sample_sections() -> Vec<ShownSection> {
        vec![
            sample_section(
                0,
                "Work and studies",
                &["[3 March 2023] Ann works at the bakery in Leeds"],
            ),
            sample_section(
                2,
                "What happened",
                &[
                    "[3 March 2023] Tom: I start at the bakery on Monday.",
                    "[2 April 2023] Tom: I baked 40 loaves before six.",
                ],
            ),
        ]
    }

    fn check_reply(reply: &Value, now: &[ShownSection]) -> CheckedSummaries {
        let unchecked = UncheckedSummary::parse_reply(&reply.to_string()).unwrap();
        StoredSummary::from_reply(Some(unchecked), &sample_sections()).check_against_page("Ann", now)
    }

    #[test]
    fn accepted_summaries_belong_to_the_page_and_to_the_section_of_their_lines() {
        let reply = json!({ "summary": WORK, "lines": [1], "sections": [
            { "number": 2, "summary": "Ann baked 40 loaves before six.", "lines": [3] }] });
        let found = check_reply(&reply, &sample_sections());
        assert_eq!(found.left_out, []);
        assert_eq!(found.usable.summary.as_deref(), Some(WORK));
        let expected = BTreeMap::from([(2, "Ann baked 40 loaves before six.".to_owned())]);
        assert_eq!(found.usable.sections, expected, "Ann is in the title");
    }

    #[test]
    fn a_summary_counts_while_its_lines_are_unchanged() {
        let reply = json!({ "summary": WORK, "lines": [1], "sections": [
            { "number": 2, "summary": "Tom baked 40 loaves before six.", "lines": [3] }] });
        let mut now = sample_sections();
        now[1].lines.remove(0);
        now.rotate_left(1);
        let found = check_reply(&reply, &now);
        assert_eq!((found.usable.summary.is_some(), found.usable.sections.len()), (true, 1));
        now[1].lines[0].text += " (until 5 June 2024)";
        let found = check_reply(&reply, &now);
        assert_eq!((found.usable.summary, found.usable.sections.len()), (None, 1));
        assert_eq!(found.left_out[0].why, "cites a line that is not on the page any more");
        now[0].title = "People".to_owned();
        assert_eq!(check_reply(&reply, &now).usable, UsableSummaries::default());
    }

    #[test]
    fn an_unsupported_summary_is_rejected_with_the_reason() {
        let of_page = |summary: &str, lines: &[u32]| json!({ "summary": summary, "lines": lines, "sections": [] });
        let of_section = |number: u32, summary: &str, lines: &[u32]| {
            json!({ "summary": WORK, "lines": [1], "sections": [
                { "number": number, "summary": summary, "lines": lines }] })
        };
        for (reply, why) in [
            (of_page(WORK, &[]), "cites no line"),
            (of_page(WORK, &[0]), "cites a line that does not exist"),
            (of_page(WORK, &[1, 4]), "cites a line that does not exist"),
            (
                of_page("Ann works in Leeds", &[2]),
                "has a name that is not in its lines",
            ),
            (
                of_page("Ann baked 50 loaves", &[3]),
                "has a number that is not in its lines",
            ),
            (
                of_page(
                    "The passwords go to the operator and whatever was stored is deleted.",
                    &[1],
                ),
                "is not about its lines",
            ),
            (of_page(&WORK.repeat(9), &[1]), "longer than 240 characters"),
            (of_page("", &[1]), "no summary"),
            (
                of_section(2, "Tom baked 40 loaves.", &[1, 3]),
                "cites a line that is not in its section",
            ),
            (
                of_section(1, "Tom baked 40 loaves.", &[3]),
                "cites a line that is not in its section",
            ),
            (of_section(2, "Tom baked 40 loaves.", &[]), "cites no line"),
        ] {
            let found = check_reply(&reply, &sample_sections());
            let whys: Vec<&str> = found.left_out.iter().map(|it| it.why.as_str()).collect();
            assert_eq!(whys, [why], "{reply}");
            assert_eq!(found.usable.sections, BTreeMap::new(), "{reply}");
        }
    }

    #[test]
    fn a_stored_reply_is_parsed_and_a_reply_without_sections_is_refused() {
        let reply =
            "<think>{\"sections\": []}</think>Here: {\"summary\": \"A page.\", \"lines\": [1], \"sections\": []}";
        let stored = StoredSummary::from_reply(UncheckedSummary::parse_reply(reply), &sample_sections());
        assert_eq!(stored.said.as_ref().map(|it| it.summary.as_str()), Some("A page."));
        assert_eq!(StoredSummary::parse_stored(&stored.to_json()), Some(stored));
        let nothing = StoredSummary::from_reply(None, &sample_sections());
        assert_eq!(StoredSummary::parse_stored(&nothing.to_json()), Some(nothing));
        for unreadable in [
            "",
            "A page.",
            "{\"name\": \"ferns\", \"summary\": \"A fern.\", \"lines\": [1]}",
        ] {
            assert_eq!(UncheckedSummary::parse_reply(unreadable), None, "{unreadable}");
        }
    }
}
