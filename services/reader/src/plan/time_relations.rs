//! Relations of time: the event in question, and the event that gives its time.

use super::phrase::{Token, replace_pronouns};
use crate::plan::parts::{Parts, trim_conjunctions};
use crate::word_lists::{AMOUNT_WORDS, DATE_WORDS, TIME_MARKERS, WORDS_BEFORE_ASKED_TIME};

/// Returns the two events of a relation of time: "what did Ann do AFTER she moved to Oslo", "AFTER she moved, what did
/// Ann do", "how long BETWEEN the move and the party".
pub(super) fn split_time_relation(phrase: &[Token]) -> Parts {
    split_leading_clause(phrase)
        .or_else(|| split_between_events(phrase))
        .or_else(|| split_measured_clause(phrase))
        .or_else(|| split_trailing_clause(phrase))
}

fn split_leading_clause(phrase: &[Token]) -> Parts {
    let first = phrase.first()?;
    let asks = first.lower == "when" && phrase.get(1)?.is_auxiliary_verb();
    if !first.is_in_list(&TIME_MARKERS) || asks {
        return None;
    }
    let end = phrase.iter().position(|it| it.comma)? + 1;
    let (clause, main) = (&phrase[1..end], phrase.get(end..)?);
    pair_clauses(main, clause, phrase)
}

fn split_trailing_clause(phrase: &[Token]) -> Parts {
    let at = (2..phrase.len().saturating_sub(1)).find(|&it| {
        let asking = phrase[it].lower == "when"
            && (phrase[it - 1].is_in_list(&WORDS_BEFORE_ASKED_TIME) || phrase[it + 1].is_auxiliary_verb());
        phrase[it].is_in_list(&TIME_MARKERS) && !asking && !is_date_only(&phrase[it + 1..])
    })?;
    pair_clauses(&phrase[..at], &phrase[at + 1..], phrase)
}

/// "How long AFTER the move did Ann marry": the auxiliary ends the clause.
fn split_measured_clause(phrase: &[Token]) -> Parts {
    let at = (1..phrase.len()).find(|&it| phrase[it].is_any_of(&["before", "after", "since", "until"]))?;
    let amount = phrase.first()?.lower == "how"
        && phrase[1..at]
            .iter()
            .all(|it| !it.is_content_word() || it.is_in_list(&AMOUNT_WORDS));
    let end = (at + 1..phrase.len()).find(|&it| phrase[it].is_auxiliary_verb())?;
    let (clause, main) = (&phrase[at + 1..end], &phrase[end..]);
    (amount && !is_date_only(clause)).then(|| pair_clauses(main, clause, phrase))?
}

/// "How many days passed BETWEEN the move AND the party".
fn split_between_events(phrase: &[Token]) -> Parts {
    let at = phrase.iter().position(|it| it.lower == "between")?;
    let and = (at + 2..phrase.len()).find(|&it| phrase[it].lower == "and")?;
    let measures = phrase[..at]
        .iter()
        .all(|it| !it.is_content_word() || it.is_in_list(&AMOUNT_WORDS))
        && phrase.first()?.lower == "how";
    let (one, other) = (&phrase[at + 1..and], &phrase[and + 1..]);
    (measures && !is_date_only(one) && !is_date_only(other)).then(|| pair_clauses(one, other, phrase))?
}

fn pair_clauses(main: &[Token], clause: &[Token], sentence: &[Token]) -> Parts {
    let says = |it: &[Token]| {
        it.iter()
            .any(|it| it.is_content_word() && !it.is_in_list(&AMOUNT_WORDS))
    };
    if !says(main) || !says(clause) {
        return None;
    }
    Some(vec![
        trim_conjunctions(&replace_pronouns(main, sentence)),
        trim_conjunctions(&replace_pronouns(clause, sentence)),
    ])
}

/// Returns true if the clause is only a date.
fn is_date_only(clause: &[Token]) -> bool {
    let date = |it: &Token| {
        !it.is_content_word()
            || it.is_in_list(&DATE_WORDS)
            || text::time::words::is_named(&it.lower)
            || it.text.starts_with(|it: char| it.is_ascii_digit())
    };
    clause.iter().all(date)
}
