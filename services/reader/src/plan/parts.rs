//! Parts of a question while it is divided.

use crate::plan::phrase::Token;

/// Parts that a rule makes of a phrase. `None` if the rule does not fit; empty if the phrase stays whole.
pub(crate) type Parts = Option<Vec<Vec<Token>>>;

/// Returns a phrase without conjunctions at its ends.
pub(crate) fn trim_conjunctions(phrase: &[Token]) -> Vec<Token> {
    let joins = |it: &Token| it.is_any_of(&["and", "or", "but", "then", "also", "so"]);
    let from = phrase.iter().position(|it| !joins(it)).unwrap_or(phrase.len());
    let to = phrase.iter().rposition(|it| !joins(it)).map_or(from, |it| it + 1);
    let mut out = phrase[from..to.max(from)].to_vec();
    if let Some(last) = out.last_mut() {
        last.comma = false;
    }
    out
}
