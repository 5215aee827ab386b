//! Whether a sentence that a language model wrote to be shown is borne out by the lines that it cites.

use std::collections::BTreeSet;

use domain::reading::LeftOut;
use text::{Nouns, is_stop, one_line};

use crate::grounding::{Flaw, Known, lower_words};

/// Most characters of a summary.
const SUMMARY_CHARS_MAX: usize = 240;
/// Most of what is left out that is kept, in bytes.
const LEFT_OUT_BYTES: usize = 120;
/// Kinds of things that have names of their own. A capitalised word that opens a sentence and may name one is a name.
const NAMED_KINDS: [&str; 4] = ["person", "location", "organization", "social group"];

/// Returns a text as it is shown: on one line, without marks around it.
pub(crate) fn shown(text: &str) -> String {
    let line = one_line(text);
    let marks = ['"', '\u{201c}', '\u{201d}', '`', '*', '#', ' '];
    line.trim_matches(marks).to_owned()
}

/// Returns why a summary is not used; none if it is.
pub(crate) fn summary_flaw(summary: &str, known: &Known) -> Option<&'static str> {
    if summary.is_empty() {
        return Some("no summary");
    }
    if summary.chars().count() > SUMMARY_CHARS_MAX {
        return Some("longer than 240 characters");
    }
    let why = flaw(summary, known);
    let is_of_them = || known.holds_most_of(summary, &BTreeSet::new());
    why.or_else(|| (!is_of_them()).then_some("is about something else than its lines"))
}

/// Returns why the lines do not bear a text out; none if they do.
pub(crate) fn flaw(text: &str, known: &Known) -> Option<&'static str> {
    let flaw = known.flaw(text);
    let has_unknown_name = || capitalised(text).any(|it| !is_borne_out(&it, known));
    match flaw {
        Some(Flaw::Hidden) => Some("has characters that nobody sees"),
        Some(Flaw::Number) => Some("has a number that is not in its lines"),
        Some(Flaw::Name) => Some("has a name that is not in its lines"),
        None => has_unknown_name().then_some("has a name that is not in its lines"),
    }
}

/// Returns the beginning of something that is not used, with the reason.
pub(crate) fn left_out(what: &str, why: &str) -> LeftOut {
    LeftOut {
        what: what[..what.floor_char_boundary(LEFT_OUT_BYTES)].to_owned(),
        why: why.to_owned(),
    }
}

/// A word with a capital letter.
struct Capitalised {
    lower: String,
    opens_sentence: bool,
}

/// Returns the words of a text that begin with a capital letter.
fn capitalised(text: &str) -> impl Iterator<Item = Capitalised> {
    text::sentences(text).into_iter().flat_map(|sentence| {
        let words = text::words(sentence).into_iter().enumerate();
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

/// Returns true if a word with a capital letter occurs in the lines, or opens a sentence and is none that names somebody or some
/// place.
fn is_borne_out(word: &Capitalised, known: &Known) -> bool {
    let is_plain = || {
        let lower = word.lower.as_str();
        is_stop(lower) || Nouns::builtin().is_none_of(&NAMED_KINDS, std::slice::from_ref(&word.lower))
    };
    known.has_word(&word.lower) || is_stop(&word.lower) || word.opens_sentence && is_plain()
}
