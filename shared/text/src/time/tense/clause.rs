//! Clauses after a past verb that may be about another time: "mom called, dinner is friday".

use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::tense::verb_forms::{may_be_present_be, tense_cue};
use crate::time::token::{Tense, Token};
use crate::time_words::lexicon::Class;

/// Returns the tense from token `i` on, after a past verb, if the token or the clause that it begins leaves the past.
/// The tense is open in a clause about the present, and unsure if nothing shows which weekday or month is meant.
pub(crate) fn left_past(tokens: &[Token<'_>], i: usize) -> Option<Tense> {
    let (word, next) = (&*tokens[i].lower, word_at(tokens, i + 1));
    if may_be_present_be(word) && names_time(tokens, i + 1 + usize::from(matches!(next, "on" | "in"))) {
        return Some(Tense::Open);
    }
    if matches!(word, "can" | "must") {
        return Some(Tense::Open);
    }
    // "He asked if we could come Sunday" may lie in the future; with "could not" or "could have", the event did not
    // happen.
    if words_of_class(WordClass::UnsureAuxiliary).contains(&word) && !matches!(next, "not" | "have") {
        return Some(Tense::Unsure);
    }
    let begins = i > 0 && tokens[i - 1].sentence == tokens[i].sentence && separates_clauses(&tokens[i - 1]);
    let clause = first_clause(&tokens[i..]);
    if !begins || !(clause.iter().any(is_time) || announces_day(clause)) || has_own(clause) {
        return None;
    }
    if clause
        .iter()
        .any(|it| may_be_present_be(&it.lower) || is_in_class(&it.lower, WordClass::TellsPresent))
    {
        return Some(Tense::Open);
    }
    may_look_ahead(clause).then_some(Tense::Unsure)
}

/// Returns true if words without a tense may be about the future: "moving out sunday", "first day monday", "new one in
/// january", "it stays till march". A weekday at the start continues the report about the past: "Saturday in Porto".
pub(crate) fn may_look_ahead(words: &[Token<'_>]) -> bool {
    let Some(first) = words.first() else { return false };
    let doing = first.class == Class::Other && first.lower.len() > 4 && first.lower.ends_with("ing");
    let announces = |before: Option<usize>| {
        before.map(|it| &words[it]).is_some_and(|it| {
            let thing = matches!(it.class, Class::Other | Class::Unit(_)) || it.lower == "one";
            thing && !is_in_class(&it.lower, WordClass::PlacesWeekday)
        })
    };
    let bare = |at: usize| match words[at].class {
        Class::Weekday(..) => announces(at.checked_sub(1)),
        Class::Month(..) => {
            let placed = |it: usize| is_in_class(&words[it].lower, WordClass::BeforeMonthAhead);
            at.checked_sub(1).is_some_and(placed) && announces(at.checked_sub(2))
        }
        _ => false,
    };
    let time = words.iter().any(is_time);
    let announced = (0..words.len()).any(bare) || announces_day(words);
    time && doing || announced && !words.iter().any(|it| is_in_class(&it.lower, WordClass::ClauseSubject))
}

/// Returns true if the words describe an event and then name its day: "results on the 20th", "Whitlow, 26 August", "no
/// nights from 1 sept". A day at the start continues a report instead: "On the 20th, at last".
fn announces_day(words: &[Token<'_>]) -> bool {
    let day = |it: Option<&Token<'_>>| it.is_some_and(|it| matches!(it.class, Class::Digits(..) | Class::Ordinal(_)));
    let dated = |at: usize| match words[at].class {
        Class::Month(..) => day(words.get(at + 1)) || at.checked_sub(1).is_some_and(|it| day(words.get(it))),
        Class::Ordinal(_) => {
            at > 1 && words[at - 1].lower == "the" && is_in_class(&words[at - 2].lower, WordClass::OpensDay)
        }
        _ => false,
    };
    let announces = |it: &&Token<'_>| it.class == Class::Other && !is_in_class(&it.lower, WordClass::PlacesWeekday);
    let first = (0..words.len()).find(|&at| dated(at));
    first.is_some_and(|first| words[..first].iter().any(|it| announces(&it)))
}

/// Returns true if the clause that token `i` begins only gives a reason or describes a person. Its tense then does not
/// apply to the words before it: "no increase in March, because of Ida, who told him off".
pub(crate) fn gives_reason(tokens: &[Token<'_>], i: usize) -> bool {
    let word = &*tokens[i].lower;
    let describes = matches!(word, "who" | "which");
    i > 0 && (describes && tokens[i - 1].lower == "," || words_of_class(WordClass::GivesReason).contains(&word))
}

/// Returns the tokens up to the next mark or conjunction that separates clauses.
fn first_clause<'a, 'b>(tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    let sentence = tokens[0].sentence;
    let end = tokens
        .iter()
        .position(|it| it.sentence != sentence || separates_clauses(it))
        .unwrap_or(tokens.len());
    &tokens[..end]
}

/// Returns true if one of the words has its own tense.
fn has_own(words: &[Token<'_>]) -> bool {
    (0..words.len()).any(|i| {
        let last = i.checked_sub(1).map_or("", |it| &*words[it].lower);
        tense_cue(last, &words[i].lower, word_at(words, i + 1)) != Tense::Open
    })
}

fn separates_clauses(token: &Token<'_>) -> bool {
    // A full stop before a lower-case letter ends no sentence, but it may end a clause.
    matches!(&*token.lower, "," | ";" | ":" | "." | "..." | "…" | "-" | "–" | "—")
        || is_in_class(&token.lower, WordClass::PartsClauses)
}

fn names_time(tokens: &[Token<'_>], i: usize) -> bool {
    tokens.get(i).is_some_and(is_time)
}

fn is_time(token: &Token<'_>) -> bool {
    matches!(token.class, Class::Weekday(..) | Class::Month(..))
}

fn word_at<'a>(tokens: &'a [Token<'_>], i: usize) -> &'a str {
    tokens.get(i).map_or("", |it| &*it.lower)
}
