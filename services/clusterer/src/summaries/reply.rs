//! Parses the model's reply about a page and checks it against the lines of the page.

use std::collections::BTreeMap;

use domain::reading::LeftOut;
use serde::{Deserialize, Serialize};
use text::model_reply::{after_thoughts, last_object};

use super::ShownSection;
use super::shown::LineDigest;
use crate::grounding::Known;
use crate::model_sentence::{left_out, shown, summary_flaw};

/// Maximum number of sections read from a reply.
const SECTIONS_MAX: usize = 12;
/// Maximum length of a stored reply, in bytes.
const REPLY_BYTES_MAX: usize = 16_384;

/// The unchecked reply of a model about a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    summary: String,
    /// The lines that support the summary, numbered from 1.
    #[serde(default)]
    lines: Vec<u32>,
    sections: Vec<SectionSaid>,
}

/// The unchecked reply of a model about a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SectionSaid {
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
pub(crate) struct Stored {
    /// None if the model did not reply usably.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<Said>,
    /// The digests of the lines that were shown, section by section.
    pub(crate) shown: Vec<Vec<LineDigest>>,
}

/// The part of a reply that is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usable {
    /// One sentence of at most 240 characters about the page.
    pub(crate) summary: Option<String>,
    /// Sentences of the same kind about sections, by the place of the section on the page.
    pub(crate) sections: BTreeMap<usize, String>,
}

/// The result of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// The accepted parts.
    pub(crate) usable: Usable,
    /// The rejected parts.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Said {
    /// Finds the JSON object in a reply and parses it. Returns none if there is none or it is too long.
    pub(crate) fn read(reply: &str) -> Option<Said> {
        let (_, mut said) = last_object::<Said>(after_thoughts(reply)?)?;
        said.sections.truncate(SECTIONS_MAX);
        let bytes = serde_json::to_string(&said).ok()?.len();
        (bytes <= REPLY_BYTES_MAX).then_some(said)
    }
}

impl Stored {
    /// Returns the stored form of a reply about a page of which these sections were shown.
    pub(crate) fn of(said: Option<Said>, sections: &[ShownSection]) -> Stored {
        Stored {
            said,
            shown: sections.iter().map(|it| it.digests().collect()).collect(),
        }
    }

    /// Returns it as JSON.
    pub(crate) fn output(&self) -> String {
        // Serialising numbers, texts and lists of them cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses stored JSON, or returns none if it has another form.
    pub(crate) fn read(output: &str) -> Option<Stored> {
        serde_json::from_str(output).ok()
    }

    /// Checks the reply against the current lines of a page. Each cited line must be on the page with the text that
    /// the model was shown.
    pub(crate) fn check(&self, title: &str, now: &[ShownSection]) -> Checked {
        let mut checked = Checked::default();
        let Some(said) = &self.said else {
            return checked;
        };
        let lines = Lines::of(self, title, now);
        match lines.checked(&said.summary, &said.lines) {
            Ok(cited) => checked.usable.summary = Some(cited.summary),
            Err(why) => checked.left_out.push(left_out(&said.summary, why)),
        }
        for section in &said.sections {
            let is_own = |it: &u32| lines.section_of(*it) == Some(section.number);
            let cited = match section.lines.iter().all(is_own) {
                true => lines.checked(&section.summary, &section.lines),
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
    /// The place of the section of the first line that it cites.
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
    fn of(stored: &Stored, title: &'a str, now: &'a [ShownSection]) -> Lines<'a> {
        let shown = stored.shown.iter().zip(1..);
        let shown = shown.flat_map(|(digests, number)| digests.iter().map(move |it| (number, *it)));
        let line = |section: &'a ShownSection| {
            let texts = section.lines.iter().map(|it| it.text.as_str());
            section.digests().zip(texts.map(move |text| Now { section, text }))
        };
        Lines {
            title,
            shown: shown.collect(),
            now: now.iter().flat_map(line).collect(),
        }
    }

    /// Returns the section number of a line, or none if the model was shown no line of this number.
    fn section_of(&self, number: u32) -> Option<u32> {
        self.line(number).map(|it| it.0)
    }

    fn line(&self, number: u32) -> Option<&(u32, LineDigest)> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.shown.get(place)
    }

    /// Returns a summary in the form in which it is displayed, or the reason why it is rejected.
    fn checked(&self, summary: &str, cited: &[u32]) -> Result<Cited, &'static str> {
        let cited: Option<Vec<LineDigest>> = cited.iter().map(|it| self.line(*it).map(|it| it.1)).collect();
        let cited = cited.ok_or("cites a line that does not exist")?;
        let there: Option<Vec<&Now<'_>>> = cited.iter().map(|it| self.now.get(it)).collect();
        let there = there.ok_or("cites a line that is not on the page any more")?;
        let first = there.first().ok_or("cites no line")?;
        let titles = [self.title, &first.section.title];
        let known = Known::of(there.iter().map(|it| it.text).chain(titles));
        let summary = shown(summary);
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
    use crate::example::section;

    const WORK: &str = "Ann works at the bakery in Leeds";

    fn sections() -> Vec<ShownSection> {
        vec![
            section(
                0,
                "Work and studies",
                &["[3 March 2023] Ann works at the bakery in Leeds"],
            ),
            section(
                2,
                "What happened",
                &[
                    "[3 March 2023] Tom: I start at the bakery on Monday.",
                    "[2 April 2023] Tom: I baked 40 loaves before six.",
                ],
            ),
        ]
    }

    fn checked(reply: &Value, now: &[ShownSection]) -> Checked {
        let said = Said::read(&reply.to_string()).unwrap();
        Stored::of(Some(said), &sections()).check("Ann", now)
    }

    #[test]
    fn accepted_summaries_belong_to_the_page_and_to_the_section_of_their_lines() {
        let reply = json!({ "summary": WORK, "lines": [1], "sections": [
            { "number": 2, "summary": "Ann baked 40 loaves before six.", "lines": [3] }] });
        let found = checked(&reply, &sections());
        assert_eq!(found.left_out, []);
        assert_eq!(found.usable.summary.as_deref(), Some(WORK));
        let expected = BTreeMap::from([(2, "Ann baked 40 loaves before six.".to_owned())]);
        assert_eq!(found.usable.sections, expected, "Ann is in the title");
    }

    #[test]
    fn a_summary_counts_while_its_lines_are_unchanged() {
        let reply = json!({ "summary": WORK, "lines": [1], "sections": [
            { "number": 2, "summary": "Tom baked 40 loaves before six.", "lines": [3] }] });
        let mut now = sections();
        now[1].lines.remove(0);
        now.rotate_left(1);
        let found = checked(&reply, &now);
        assert_eq!((found.usable.summary.is_some(), found.usable.sections.len()), (true, 1));
        now[1].lines[0].text += " (until 5 June 2024)";
        let found = checked(&reply, &now);
        assert_eq!((found.usable.summary, found.usable.sections.len()), (None, 1));
        assert_eq!(found.left_out[0].why, "cites a line that is not on the page any more");
        now[0].title = "People".to_owned();
        assert_eq!(checked(&reply, &now).usable, Usable::default());
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
                "is about something else than its lines",
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
            let found = checked(&reply, &sections());
            let whys: Vec<&str> = found.left_out.iter().map(|it| it.why.as_str()).collect();
            assert_eq!(whys, [why], "{reply}");
            assert_eq!(found.usable.sections, BTreeMap::new(), "{reply}");
        }
    }

    #[test]
    fn a_stored_reply_is_parsed_and_a_reply_without_sections_is_refused() {
        let reply =
            "<think>{\"sections\": []}</think>Here: {\"summary\": \"A page.\", \"lines\": [1], \"sections\": []}";
        let stored = Stored::of(Said::read(reply), &sections());
        assert_eq!(stored.said.as_ref().map(|it| it.summary.as_str()), Some("A page."));
        assert_eq!(Stored::read(&stored.output()), Some(stored));
        let nothing = Stored::of(None, &sections());
        assert_eq!(Stored::read(&nothing.output()), Some(nothing));
        for unreadable in [
            "",
            "A page.",
            "{\"name\": \"ferns\", \"summary\": \"A fern.\", \"lines\": [1]}",
        ] {
            assert_eq!(Said::read(unreadable), None, "{unreadable}");
        }
    }
}
