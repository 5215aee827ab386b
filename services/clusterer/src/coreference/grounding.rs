//! Whether the reasoning of a language model may be quoted: it stands on the two events, and cannot pass for anything else.

use std::collections::BTreeSet;

use domain::unit::Unit;

use super::prompt::shown;
use crate::grounding::{Flaw, Known};

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
    // No more than the model was shown.
    let shown = events.map(shown);
    let known = Known::of(shown.iter().map(String::as_str));
    match known.flaw(reasoning) {
        Some(Flaw::Hidden) => return Some("has characters that nobody sees"),
        Some(Flaw::Number) => return Some("has a number that is in neither event"),
        Some(Flaw::Name) => return Some("has a name that is in neither event"),
        None => {}
    }
    let comparing: BTreeSet<String> = text::stems(COMPARING).into_iter().collect();
    (!known.holds_most_of(reasoning, &comparing)).then_some("is about something else than the events")
}
