//! The times in a question: whether it asks about the past or the future, about the time at which something was said,
//! or about a beginning.

use crate::lexicon::{Class, is_in_class, words_of_class};
use crate::split_words;

/// Returns 1 if a question is about the future, -1 if it is about the past, and 0 otherwise.
pub(super) fn tense_sign(lower: &str) -> f32 {
    let tokens = split_words(lower);
    let has = |class: Class| tokens.iter().any(|it| is_in_class(it, class));
    if has(Class::AsksFuture) {
        1.0
    } else if has(Class::AsksPastState) {
        -1.0
    } else {
        0.0
    }
}

/// Returns true if a question asks for a beginning: "when did he start to play", "since when".
pub(super) fn asks_for_beginning(lower: &str) -> bool {
    let begins = |it: &str| {
        words_of_class(Class::BeginningStem)
            .iter()
            .any(|stem| it.starts_with(stem))
    };
    lower.starts_with("since") || split_words(lower).into_iter().any(begins)
}

/// Returns true if a question asks when something was said: "when did she mention the move", "when did they talk about
/// it". In "when did she say that ... would be", the question is about the later event itself.
pub(super) fn asks_when_told(lower: &str) -> bool {
    let tokens = split_words(lower);
    let did = tokens.iter().position(|it| is_in_class(it, Class::BeforeTelling));
    let after = did.map_or(&[][..], |at| &tokens[at + 1..]);
    let verb_at = after.iter().position(|it| is_in_class(it, Class::Telling));
    verb_at.is_some_and(|at| {
        !after[at + 1..].contains(&"that") && !after[..at].iter().any(|it| matches!(*it, "who" | "which"))
    })
}

/// Returns true if the answer may be a time or a length of time although the question has no "when".
pub(super) fn may_have_time_answer(lower: &str) -> bool {
    split_words(lower)
        .into_iter()
        .any(|it| is_in_class(it, Class::UnitOfTime) || is_in_class(it, Class::Timely))
}
