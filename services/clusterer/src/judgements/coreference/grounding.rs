//! Checks whether the reasoning of a model may be quoted: the two events must support it, and the quote must not look
//! like other text.

use std::collections::BTreeSet;

use domain::unit::Unit;

use super::prompt::shown_text;
use crate::judgements::grounding::{Flaw, ShownTerms};

/// Maximum length of quoted reasoning, in characters.
const CHARS_MAX: usize = 300;
/// Words for comparing two events. They need not occur in the events. Compared as stems.
const COMPARING: &str = "event same one two both different differ separate another other earlier later first second next again \
    day date time week month year morning evening place people person talk tell told mention say said describe refer discuss \
    happen share involve continue follow lead cause reason result plan part piece contrast detail add report announce before \
    after already still now then while although though likely seem show suggest mean identical similar related topic thing \
    about occur did done";
/// Quotation marks that are replaced by an apostrophe, so that nothing inside a quote can end it.
const QUOTATION_MARKS: [char; 8] = [
    '"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '`', '\u{ff02}',
];

/// Returns a reasoning in quotable form, or none if it may not be quoted.
pub(super) fn to_quotable_form(reasoning: &str, events: [&Unit; 2]) -> Option<String> {
    if why_not(reasoning, events).is_some() {
        return None;
    }
    let plain = reasoning.trim().replace(QUOTATION_MARKS, "'");
    Some(plain.trim_end_matches('.').to_owned())
}

/// Returns the reason why a reasoning is not quoted, or `None` if it is quoted.
pub(super) fn why_not(reasoning: &str, events: [&Unit; 2]) -> Option<&'static str> {
    let reasoning = reasoning.trim();
    if reasoning.is_empty() {
        return Some("no reasoning");
    }
    if reasoning.chars().count() > CHARS_MAX {
        return Some("longer than 300 characters");
    }
    // Compare with the text that the model was shown, not with the whole events.
    let shown = events.map(shown_text);
    let texts = shown.iter().map(String::as_str);
    // The reasoning may speak of the two events.
    let known = ShownTerms::from_texts(texts).accept_in_words(2);
    match known.find_flaw(reasoning) {
        Some(Flaw::Hidden) => return Some("has invisible characters"),
        Some(Flaw::Number) => return Some("has a number that is in neither event"),
        Some(Flaw::Name) => return Some("has a name that is in neither event"),
        None => {}
    }
    let comparing: BTreeSet<String> = text::stem_words(COMPARING).into_iter().collect();
    (!known.holds_most_of(reasoning, &comparing)).then_some("is not about the events")
}
