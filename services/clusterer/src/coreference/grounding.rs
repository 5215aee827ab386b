//! Whether the reasoning of a language model may be quoted: it stands on the two events, and cannot pass for anything else.

use std::collections::BTreeSet;

use chrono::DateTime;
use domain::unit::Unit;

use super::prompt::shown;

/// Longest reasoning that is quoted, in characters.
const CHARS_MAX: usize = 300;
/// Words with which two events are compared, as stems; they need not occur in one.
const COMPARING: &str = "event same one two both different differ separate another other earlier later first second next again \
    day date time week month year morning evening place people person talk tell told mention say said describe refer discuss \
    happen share involve continue follow lead cause reason result plan part piece contrast detail add report announce before \
    after already still now then while although though likely seem show suggest mean identical similar related topic thing \
    about occur did done";
/// Quotation marks, in whose place an apostrophe is put: nothing ends the quote but its end.
const QUOTATION_MARKS: [char; 8] = [
    '"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '`', '\u{ff02}',
];

/// Returns a reasoning as it is quoted; none if it cannot be.
pub(super) fn quotable(reasoning: &str, events: [&Unit; 2]) -> Option<String> {
    if why_not(reasoning, events).is_some() {
        return None;
    }
    let plain = reasoning.trim().replace(QUOTATION_MARKS, "'");
    Some(plain.trim_end_matches('.').to_owned())
}

/// Returns why a reasoning is not quoted; none if it is.
pub(super) fn why_not(reasoning: &str, events: [&Unit; 2]) -> Option<&'static str> {
    let reasoning = reasoning.trim();
    if reasoning.is_empty() {
        return Some("no reasoning");
    }
    if reasoning.chars().count() > CHARS_MAX {
        return Some("longer than 300 characters");
    }
    if has_hidden(reasoning) {
        return Some("has characters that nobody sees");
    }
    let known = Known::of(events);
    if digits(reasoning).any(|it| !known.numbers.contains(it)) {
        return Some("has a number that is in neither event");
    }
    if text::names(reasoning)
        .into_iter()
        .any(|it| !known.has_name(reasoning, it))
    {
        return Some("has a name that is in neither event");
    }
    let stems = text::stems(reasoning);
    let comparing: BTreeSet<String> = text::stems(COMPARING).into_iter().collect();
    let unknown = stems
        .iter()
        .filter(|it| !known.stems.contains(*it) && !comparing.contains(*it));
    (2 * unknown.count() > stems.len()).then_some("is about something else than the events")
}

/// What the two events hold that a reasoning may speak of.
struct Known {
    numbers: BTreeSet<String>,
    words: BTreeSet<String>,
    stems: BTreeSet<String>,
}

impl Known {
    fn of(events: [&Unit; 2]) -> Known {
        let mut known = Known {
            numbers: BTreeSet::new(),
            words: BTreeSet::new(),
            stems: BTreeSet::new(),
        };
        for event in events {
            // No more than the model was shown.
            let shown = shown(event);
            known.numbers.extend(digits(&shown).map(str::to_owned));
            known.stems.extend(text::stems(&shown));
            known.words.extend(lower_words(&shown));
        }
        known
    }

    /// Returns true if one of the words of a name occurs in the events, or if it names a day, a month or another time. A single
    /// word that opens a sentence is no name.
    fn has_name(&self, reasoning: &str, name: &str) -> bool {
        let words = lower_words(name);
        let opens = |sentence: &&str| sentence.trim_start().starts_with(name);
        if words.len() < 2 && text::sentences(reasoning).iter().any(opens) {
            return true;
        }
        words
            .iter()
            .any(|word| self.words.contains(word) || self.stems.contains(&text::stem(word)) || is_time(word))
    }
}

fn has_hidden(text: &str) -> bool {
    let mut before = None;
    text.chars().any(|next| {
        let hidden = text::is_hidden(next, before);
        before = Some(next);
        hidden
    })
}

/// Returns the runs of digits of a text, without zeros in front.
fn digits(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|it: char| !it.is_ascii_digit());
    runs.filter(|it| !it.is_empty())
        .map(|it| match it.trim_start_matches('0') {
            "" => "0",
            bare => bare,
        })
}

/// Returns the words of a text in lower case, without "'s".
fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = text::words(&lower).into_iter();
    words.map(|it| it.trim_end_matches("'s").to_owned()).collect()
}

/// Returns true if a word names a month, a weekday or another time.
fn is_time(word: &str) -> bool {
    text::time::words::is_named(word) || !text::time::find(word, DateTime::UNIX_EPOCH.fixed_offset()).is_empty()
}
