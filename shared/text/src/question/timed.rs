//! The times in a question: whether it asks about the past or the future, about the time at which something was said,
//! or about a beginning.

use crate::lexicon::{Class, is};
use crate::words;

/// Returns 1 if a question is about the future, -1 if it is about the past, and 0 otherwise.
pub(super) fn tense(lower: &str) -> f32 {
    let tokens = words(lower);
    let has = |list: &[&str]| tokens.iter().any(|it| list.contains(it));
    if tokens.iter().any(|it| is(it, Class::AsksFuture)) {
        1.0
    } else if has(&["did", "was", "were", "had"]) {
        -1.0
    } else {
        0.0
    }
}

/// Returns true if a question asks for a beginning: "when did he start to play", "since when".
pub(super) fn begins(lower: &str) -> bool {
    let begins = |it: &str| {
        ["start", "begin", "began", "first"]
            .iter()
            .any(|verb| it.starts_with(verb))
    };
    lower.starts_with("since") || words(lower).into_iter().any(begins)
}

/// Returns true if a question asks when something was said: "when did she mention the move", "when did they talk about
/// it". In "when did she say that ... would be", the question is about the later event itself.
pub(super) fn telling(lower: &str) -> bool {
    let tokens = words(lower);
    let did = tokens.iter().position(|it| matches!(*it, "did" | "was" | "were"));
    let after = did.map_or(&[][..], |at| &tokens[at + 1..]);
    let told = after.iter().position(|it| is(it, Class::Telling));
    told.is_some_and(|at| {
        !after[at + 1..].contains(&"that") && !after[..at].iter().any(|it| matches!(*it, "who" | "which"))
    })
}

/// Returns true if the answer may be a time or a length of time although the question has no "when".
pub(super) fn timely(lower: &str) -> bool {
    words(lower)
        .into_iter()
        .any(|it| is(it, Class::UnitOfTime) || is(it, Class::Timely))
}
