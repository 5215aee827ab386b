//! Checks of a clause: whether its verb fits its subject, and whether it reports another clause.

use crate::facts::Subject;
use crate::facts::clauses::clause::Clause;
use crate::facts::clauses::subject::ClauseSubject;
use crate::facts::clauses::token::Word;
use crate::facts::clauses::verb_group::{Group, Shape};
use crate::facts::lexicon::AFTER_SAY;

/// Returns true if the verb can belong to the subject; a name and a bare verb ("Ana live") do not go together.
pub(super) fn verb_fits_subject(who: &ClauseSubject, words: &[Word], group: &Group) -> bool {
    if group.shape == Shape::Modal && !group.can {
        return false;
    }
    let they = who.pronoun && words.get(who.next - 1).is_some_and(|it| it.lower == "they");
    let third = matches!(&who.subject, Subject::Name(_)) && who.role.is_none() && !they;
    let last = words
        .get(group.next.saturating_sub(1))
        .map_or("", |it| it.lower.as_str());
    !(third && group.shape == Shape::Present && !last.ends_with('s') && group.positive)
}

/// "Ben says he lives in Oslo": returns the index at which the reported clause begins; `None` if the verb is not "say".
pub(super) fn find_reported_clause(clause: &Clause<'_>) -> Option<usize> {
    if clause.group.base != "say" {
        return None;
    }
    let mut at = clause.group.next;
    while clause.words.get(at).is_some_and(|it| it.is_in_list(&AFTER_SAY)) {
        at += 1;
    }
    Some(at)
}
