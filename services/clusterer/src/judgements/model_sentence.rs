//! Checks whether a sentence that a language model wrote for display is supported by the lines it cites.

use std::collections::BTreeSet;

use domain::reading::LeftOut;
use text::{Nouns, is_stop, one_line};

use crate::judgements::grounding::{Flaw, ShownTerms, lower_words};

/// Maximum length of a summary, in characters.
const SUMMARY_CHARS_MAX: usize = 240;
/// Maximum length of the quoted beginning of rejected text, in bytes.
const LEFT_OUT_BYTES: usize = 120;
/// Kinds of nouns that have proper names. A capitalised word that opens a sentence counts as a name if it may be one
/// of these.
const NAMED_KINDS: [&str; 4] = ["person", "location", "organization", "social group"];

/// Returns a text in the form in which it is displayed: on one line, without quotation or formatting marks around it.
pub(crate) fn to_display_line(text: &str) -> String {
    let line = one_line(text);
    let marks = ['"', '\u{201c}', '\u{201d}', '`', '*', '#', ' '];
    line.trim_matches(marks).to_owned()
}

/// Returns why a summary is rejected, or none if it is used.
pub(crate) fn summary_flaw(summary: &str, known: &ShownTerms) -> Option<&'static str> {
    if summary.is_empty() {
        return Some("no summary");
    }
    if summary.chars().count() > SUMMARY_CHARS_MAX {
        return Some("longer than 240 characters");
    }
    let why = explain_flaw(summary, known);
    let is_of_them = || known.holds_most_of(summary, &BTreeSet::new());
    why.or_else(|| (!is_of_them()).then_some("is not about its lines"))
}

/// Returns why the lines do not support a text, or none if they do.
pub(crate) fn explain_flaw(text: &str, known: &ShownTerms) -> Option<&'static str> {
    let flaw = known.find_flaw(text);
    let has_unknown_name = || capitalised_words(text).any(|it| !is_borne_out(&it, known));
    match flaw {
        Some(Flaw::Hidden) => Some("has invisible characters"),
        Some(Flaw::Number) => Some("has a number that is not in its lines"),
        Some(Flaw::Name) => Some("has a name that is not in its lines"),
        None => has_unknown_name().then_some("has a name that is not in its lines"),
    }
}

/// Returns the beginning of a rejected text and the reason.
pub(crate) fn left_out(what: &str, why: &str) -> LeftOut {
    LeftOut {
        what: what[..what.floor_char_boundary(LEFT_OUT_BYTES)].to_owned(),
        why: why.to_owned(),
    }
}

/// A capitalised word.
struct Capitalised {
    lower: String,
    opens_sentence: bool,
}

/// Returns the capitalised words of a text.
fn capitalised_words(text: &str) -> impl Iterator<Item = Capitalised> {
    text::split_sentences(text).into_iter().flat_map(|sentence| {
        let words = text::split_words(sentence).into_iter().enumerate();
        words
            .filter(|it| it.1.starts_with(char::is_uppercase))
            .flat_map(|(at, word)| {
                lower_words(word).into_iter().map(move |lower| Capitalised {
                    lower,
                    opens_sentence: at == 0,
                })
            })
            .collect::<Vec<Capitalised>>()
    })
}

/// Returns true if a capitalised word occurs in the lines, or if it opens a sentence and cannot be the name of a
/// person or place.
fn is_borne_out(word: &Capitalised, known: &ShownTerms) -> bool {
    let is_plain = || {
        let lower = word.lower.as_str();
        is_stop(lower) || Nouns::builtin().is_none_of(&NAMED_KINDS, std::slice::from_ref(&word.lower))
    };
    known.has_word(&word.lower) || is_stop(&word.lower) || word.opens_sentence && is_plain()
}
