//! Finds the places where a clause may begin, and its verb if the verb does not follow the subject directly.

use super::super::lexicon::{
    BEFORE_REMEMBER, BEFORE_YOU_KNOW, CLAUSE_JOINERS, JOBS, NOUN_OPENERS, REPORTS, SUBORDINATORS, YOU_WORDS, is_number,
};
use crate::facts::clauses::subject::ClauseSubject;
use crate::facts::clauses::token::{Gap, Word};

/// Returns true if a clause may begin at a word.
pub(super) fn may_begin_clause(words: &[Word], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|it| &words[it]) else {
        return true;
    };
    if before.is_in_list(&REPORTS) {
        return before.lower == "says" && before.gap == Gap::None;
    }
    before.gap != Gap::None || before.is_in_list(&CLAUSE_JOINERS) || told_again(words, at) || words[at].lower == "who"
}

/// Returns true after words that take the next clause as known: "Now that I live in Kiel", "you know I'm allergic",
/// "remember that I'm vegan".
fn told_again(words: &[Word], at: usize) -> bool {
    let that = words[at - 1].lower == "that";
    let Some(last) = at.checked_sub(1 + usize::from(that)) else {
        return false;
    };
    let before = |back: usize| last.checked_sub(back).map_or("", |it| words[it].lower.as_str());
    if that && before(0) == "now" {
        return true;
    }
    match before(0) {
        // "Do you know I ..." is a question, and "I didn't know I ..." reports an earlier belief.
        "know" => YOU_WORDS.contains(before(1)) && !BEFORE_YOU_KNOW.contains(before(2)),
        "remember" | "forget" => last == 0 || BEFORE_REMEMBER.contains(before(1)),
        _ => false,
    }
}

/// Returns true if the clause with its subject at `at` is subordinate: "since I moved to Kiel I sleep better". The main
/// clause begins at the next "I" or "she".
pub(super) fn is_subordinate(words: &[Word], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |it| words[it].lower.as_str());
    SUBORDINATORS.contains(before(1)) || before(1) == "that" && before(2) == "now"
}

/// Returns the index of the verb of a subject, after words between the two: "my cousin Ana, a nurse, lives", "Ben, who
/// lives".
pub(super) fn find_verb_start(words: &[Word], who: &ClauseSubject) -> usize {
    let next = who.next;
    let Some(word) = words.get(next).filter(|_| next > 0) else {
        return next;
    };
    if word.lower == "who" {
        return next + 1;
    }
    let between = words[next - 1].gap == Gap::Comma && (word.is_in_list(&NOUN_OPENERS) || is_number(&word.lower));
    let job = words[next..].iter().take(BETWEEN).any(|it| it.is_in_list(&JOBS)) || is_number(&word.lower);
    let end = (next..words.len().min(next + BETWEEN)).find(|it| words[*it].gap != Gap::None);
    match end {
        Some(end) if between && job && words[end].gap == Gap::Comma => end + 1,
        Some(_) | None => next,
    }
}

/// Largest number of words between a subject and its verb.
const BETWEEN: usize = 7;
