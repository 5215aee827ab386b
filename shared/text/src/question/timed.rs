//! What a question says of time: whether it asks of what was or will be, of when something was told or began.

use crate::lexicon::{Class, is};
use crate::words;

/// Says whether a question asks what will be, 1, or what was, -1.
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

/// "When did he start to play", "since when".
pub(super) fn begins(lower: &str) -> bool {
    let begins = |it: &str| {
        ["start", "begin", "began", "first"]
            .iter()
            .any(|verb| it.starts_with(verb))
    };
    lower.starts_with("since") || words(lower).into_iter().any(begins)
}

/// "When did she mention the move", "when did they talk about it"; what somebody said that ... would be is asked for itself.
pub(super) fn telling(lower: &str) -> bool {
    let tokens = words(lower);
    let did = tokens.iter().position(|it| matches!(*it, "did" | "was" | "were"));
    let after = did.map_or(&[][..], |at| &tokens[at + 1..]);
    let told = after.iter().position(|it| is(it, Class::Telling));
    told.is_some_and(|at| {
        !after[at + 1..].contains(&"that") && !after[..at].iter().any(|it| matches!(*it, "who" | "which"))
    })
}

/// Says whether what is asked for may be a time or a length of time although no "when" asks for it.
pub(super) fn timely(lower: &str) -> bool {
    words(lower)
        .into_iter()
        .any(|it| is(it, Class::UnitOfTime) || is(it, Class::Timely))
}
