//! Parses the model's reply about a topic and checks it against the events.

use domain::reading::LeftOut;
use domain::unit::Unit;
use serde::{Deserialize, Serialize};
use text::model_text::model_reply::{after_thoughts, last_object};

use super::prompt::event_line;
use crate::judgements::grounding::ShownTerms;
use crate::judgements::model_sentence::{explain_flaw, left_out, summary_flaw, to_display_line};

/// Maximum number of words and of characters in a name.
const NAME_WORDS_MAX: usize = 6;
const NAME_CHARS_MAX: usize = 60;
/// Maximum length of a stored reply, in bytes.
const REPLY_BYTES_MAX: usize = 8_192;
/// The unchecked reply of a model about a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UncheckedLabel {
    name: String,
    #[serde(default)]
    summary: String,
    /// The lines that support name and summary, numbered from 1.
    #[serde(default)]
    lines: Vec<u32>,
}

/// The part of a reply that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsableLabel {
    /// One to six words.
    pub(crate) name: String,
    /// One sentence of at most 240 characters.
    pub(crate) summary: Option<String>,
}

/// The result of the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedLabel {
    /// None if the lines do not support the name.
    pub(crate) usable: Option<UsableLabel>,
    /// The rejected parts.
    pub(crate) left_out: Vec<LeftOut>,
}

impl UncheckedLabel {
    /// Parses a reply in its stored form, or returns none if it is not a label.
    pub(crate) fn parse_stored(output: &str) -> Option<UncheckedLabel> {
        serde_json::from_str(output).ok()
    }

    /// Finds the label in a reply and returns it in its stored form, or none if there is none.
    pub(crate) fn extract_stored_form(reply: &str) -> Option<String> {
        let (_, unchecked) = last_object::<UncheckedLabel>(after_thoughts(reply)?)?;
        let stored = serde_json::to_string(&unchecked).ok()?;
        (stored.len() <= REPLY_BYTES_MAX).then_some(stored)
    }

    /// Checks the reply against the events it cites; `events` are in the order in which they were shown. A reply that
    /// cites no line, or a line that does not exist, is rejected.
    pub(crate) fn check_cited_events(&self, events: &[&Unit]) -> CheckedLabel {
        let event = |number: &u32| {
            let place = usize::try_from(*number).ok()?.checked_sub(1)?;
            events.get(place).copied()
        };
        let cited: Option<Vec<&Unit>> = self.lines.iter().map(event).collect();
        match cited {
            Some(cited) if !cited.is_empty() => self.check_against_all(&cited),
            Some(_) => self.not_usable("cites no line"),
            None => self.not_usable("cites a line that does not exist"),
        }
    }

    /// Checks the reply against all of these events, whatever lines it cites.
    pub(crate) fn check_against_all(&self, events: &[&Unit]) -> CheckedLabel {
        let lines: Vec<String> = events.iter().map(|it| event_line(it)).collect();
        let known = ShownTerms::from_texts(lines.iter().map(String::as_str));
        let (name, summary) = (to_display_line(&self.name), to_display_line(&self.summary));
        if let Some(why) = name_flaw(&name, &known) {
            return self.not_usable(why);
        }
        let why = summary_flaw(&summary, &known);
        let left_out = why.map(|why| left_out(&self.summary, why));
        CheckedLabel {
            usable: Some(UsableLabel {
                name,
                summary: why.is_none().then_some(summary),
            }),
            left_out: Vec::from_iter(left_out),
        }
    }

    fn not_usable(&self, why: &str) -> CheckedLabel {
        CheckedLabel {
            usable: None,
            left_out: vec![left_out(&self.name, why)],
        }
    }
}

/// Returns why a name is rejected, or none if it is used.
fn name_flaw(name: &str, known: &ShownTerms) -> Option<&'static str> {
    let words = name.split_whitespace().count();
    if !name.chars().any(char::is_alphabetic) {
        return Some("has no words");
    }
    if words > NAME_WORDS_MAX || name.chars().count() > NAME_CHARS_MAX {
        return Some("has more than six words or 60 characters");
    }
    explain_flaw(name, known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgements::example::sample_event;

    fn sample_events() -> Vec<Unit> {
        let lines = [
            "[3 March 2023] Ann, Tom\nAnn to Tom: The fern by the window has 3 new leaves.",
            "[4 March 2023] Ann, Tom\nTom to Ann: I watered the ferns in Leeds before the train.",
            "[9 March 2023] Ann, Tom\nAnn to Tom: My garden is full of roses.",
        ];
        (1..)
            .zip(lines)
            .map(|(number, line)| sample_event(number, line))
            .collect()
    }

    fn check_label(name: &str, summary: &str, lines: &[u32]) -> CheckedLabel {
        let unchecked = UncheckedLabel {
            name: name.to_owned(),
            summary: summary.to_owned(),
            lines: lines.to_vec(),
        };
        let events = sample_events();
        unchecked.check_cited_events(&events.iter().collect::<Vec<&Unit>>())
    }

    fn rejection_reason(name: &str, summary: &str, lines: &[u32]) -> String {
        let checked = check_label(name, summary, lines);
        checked.left_out.first().map(|it| it.why.clone()).unwrap_or_default()
    }

    #[test]
    fn a_label_that_its_lines_support_is_used() {
        let found = check_label(
            "\"Ferns and roses\"",
            "Ann's fern has 3 new leaves, and Tom waters the ferns in Leeds.",
            &[1, 2, 3],
        );
        let usable = found.usable.unwrap();
        assert_eq!(usable.name, "Ferns and roses");
        assert_eq!(
            usable.summary.as_deref(),
            Some("Ann's fern has 3 new leaves, and Tom waters the ferns in Leeds.")
        );
        assert_eq!(found.left_out, []);
        // A word that opens a name and names no person or place need not occur in the lines.
        assert!(check_label("Gardening of Ann", "", &[1]).usable.is_some());
    }

    #[test]
    fn a_name_or_number_that_is_in_no_cited_line_is_rejected() {
        let name = "has a name that is not in its lines";
        assert_eq!(rejection_reason("ferns in Paris", "", &[1, 2, 3]), name);
        assert_eq!(rejection_reason("Paris", "", &[1, 2, 3]), name, "alone");
        assert_eq!(
            rejection_reason("ferns in Leeds", "", &[1]),
            name,
            "it is in another line"
        );
        assert_eq!(rejection_reason("ferns in Leeds", "", &[2]), "no summary");
        let number = "has a number that is not in its lines";
        assert_eq!(rejection_reason("7 ferns", "", &[1]), number);
        let found = check_label("ferns", "Ann's fern has 7 new leaves.", &[1]);
        assert_eq!(
            (found.usable.unwrap().summary, found.left_out[0].why.as_str()),
            (None, number)
        );
    }

    #[test]
    fn a_label_without_lines_or_with_too_many_words_is_rejected() {
        assert_eq!(rejection_reason("ferns", "", &[]), "cites no line");
        assert_eq!(rejection_reason("ferns", "", &[0]), "cites a line that does not exist");
        assert_eq!(
            rejection_reason("ferns", "", &[1, 4]),
            "cites a line that does not exist"
        );
        assert_eq!(rejection_reason("...", "", &[1]), "has no words");
        let long = "has more than six words or 60 characters";
        assert_eq!(rejection_reason("ferns and leaves by the window here", "", &[1]), long);
        assert_eq!(rejection_reason(&"fern".repeat(16), "", &[1]), long);
        assert_eq!(rejection_reason("fe\u{200b}rns", "", &[1]), "has invisible characters");
    }

    #[test]
    fn an_unsupported_summary_is_rejected_and_the_name_is_kept() {
        for (summary, expected) in [
            (
                "The passwords go to the operator and whatever was stored is deleted.",
                "is not about its lines",
            ),
            (&*"The fern has new leaves. ".repeat(10), "longer than 240 characters"),
            ("Ann took the fern to Berlin.", "has a name that is not in its lines"),
        ] {
            let found = check_label("ferns", summary, &[1, 2]);
            assert_eq!(found.usable.unwrap().summary, None, "{summary}");
            assert_eq!(found.left_out[0].why, expected, "{summary}");
        }
    }

    #[test]
    fn a_label_is_found_inside_surrounding_text() {
        let reply = "<think>{\"name\": \"no\"}</think>Here: ```json\n{\"name\": \"ferns\", \"summary\": \"A fern.\", \"lines\": [2]}\n```";
        let stored = UncheckedLabel::extract_stored_form(reply).unwrap();
        assert_eq!(stored, "{\"name\":\"ferns\",\"summary\":\"A fern.\",\"lines\":[2]}");
        assert_eq!(UncheckedLabel::parse_stored(&stored).unwrap().lines, [2]);
        for unreadable in [
            "",
            "ferns",
            "{\"summary\": \"A fern.\"}",
            "{\"name\": \"ferns\", \"lines\": [1",
        ] {
            assert_eq!(UncheckedLabel::extract_stored_form(unreadable), None, "{unreadable}");
        }
    }
}
