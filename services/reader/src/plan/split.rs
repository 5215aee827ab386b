//! Query decomposition: the parts of a question, found by rule.

use super::conjunctions::{keep_between_phrase, split_choice, split_comparison, split_list, split_subjects};
use super::phrase::{Token, read_tokens, render_phrase, replace_pronouns};
use super::time_relations::split_time_relation;
use crate::plan::parts::{Parts, trim_conjunctions};
use crate::word_lists::{CARRYING_AUXILIARIES, QUESTION_WORDS, SAYING_VERBS};

/// Level from which a part is not split again.
const DEPTH: usize = 3;

/// The rules in order; the first one that fits splits a phrase.
const RULES: [fn(&[Token]) -> Parts; 8] = [
    split_joined_questions,
    split_time_relation,
    split_relative_clause,
    split_choice,
    split_comparison,
    keep_between_phrase,
    split_subjects,
    split_list,
];

/// Returns the parts of a question in order, without the whole question.
pub(super) fn split_question(question: &str) -> Vec<String> {
    let sentences: Vec<Vec<Token>> = text::split_sentences(question)
        .into_iter()
        .map(read_tokens)
        .filter(|it| it.iter().any(Token::is_content_word))
        .take(8)
        .collect();
    let mut out = Vec::new();
    let several = sentences.len() > 1;
    for sentence in sentences {
        split_phrase(&sentence, usize::from(several), &mut out);
    }
    out.iter().map(|it| render_phrase(it)).collect()
}

fn split_phrase(phrase: &[Token], depth: usize, out: &mut Vec<Vec<Token>>) {
    let found = RULES
        .iter()
        .filter(|_| depth < DEPTH)
        .find_map(|rule| rule(phrase))
        .unwrap_or_default();
    if found.is_empty() && depth > 0 {
        out.push(phrase.to_vec());
    }
    for it in found {
        split_phrase(&it, depth + 1, out);
    }
}

/// Returns two joined questions: "where did Ann move AND WHAT did she do there", "WHEN AND WHERE did Ann marry".
fn split_joined_questions(phrase: &[Token]) -> Parts {
    let two = phrase.first()?.is_in_list(&QUESTION_WORDS)
        && phrase.get(1)?.lower == "and"
        && phrase.get(2)?.is_in_list(&QUESTION_WORDS);
    if two {
        let first = [&phrase[..1], &phrase[3..]].concat();
        return Some(vec![first, phrase[2..].to_vec()]);
    }
    let clause = phrase[0].lower == "when" && !phrase.get(1)?.is_auxiliary_verb();
    let asks = phrase.iter().any(Token::can_open_question) && !clause;
    let at = (2..phrase.len().saturating_sub(1)).find(|&it| {
        let joins = phrase[it - 1].lower == "and" || phrase[it - 1].comma && phrase[0].can_open_question();
        joins && is_question_start(phrase, it)
    })?;
    let end = if phrase[at - 1].lower == "and" { at - 1 } else { at };
    let (left, right) = (&phrase[..end], &phrase[at..]);
    if !asks || left.len() < 2 || right.len() < 2 || !left.iter().any(Token::is_content_word) {
        return None;
    }
    Some(vec![trim_conjunctions(left), replace_pronouns(right, left)])
}

/// Returns true if a clause that asks starts at `at`: a question word, or an auxiliary with a subject after it.
fn is_question_start(phrase: &[Token], at: usize) -> bool {
    let follows = || {
        let next = &phrase[at + 1];
        next.is_name() || next.is_any_of(&["he", "she", "they", "it", "i", "you", "we"]) || next.is_determiner()
    };
    phrase[at].is_in_list(&QUESTION_WORDS) || phrase[at].is_auxiliary_verb() && follows()
}

/// Returns a relative clause and the rest: "where does THE FRIEND WHO gave Ann a bike live". The clause comes first,
/// since it leads to the rest.
fn split_relative_clause(phrase: &[Token]) -> Parts {
    let fits = |at: usize| {
        let (noun, marker) = (&phrase[at - 1], &phrase[at]);
        marker.is_any_of(&["who", "that", "which", "whose", "where"])
            && noun.is_content_word()
            && !noun.is_in_list(&SAYING_VERBS)
            && !noun.comma
    };
    let (at, start) = (2..phrase.len().saturating_sub(1))
        .filter(|&it| fits(it))
        .find_map(|it| Some((it, find_noun_phrase_start(phrase, it)?)))?;
    let carried = start > 0 && phrase[start - 1].is_in_list(&CARRYING_AUXILIARIES) && phrase.len() > at + 2;
    let comma = (at + 1..phrase.len() - 1).find(|&it| phrase[it].comma);
    let end = comma.map_or(phrase.len() - usize::from(carried), |it| it + 1);
    let (group, clause) = (&phrase[start..at], &phrase[at + 1..end]);
    let main = [&phrase[..at], &phrase[end..]].concat();
    let subject = clause.first()?;
    let inner = subject.is_name()
        || subject.is_determiner()
        || subject.is_any_of(&["he", "she", "they", "i", "you", "we", "it"]);
    let clause_question = match phrase[at].lower.as_str() {
        "whose" => [to_possessive(group), clause.to_vec()].concat(),
        _ if inner => [clause, group].concat(),
        _ => [group, clause].concat(),
    };
    if !clause.iter().any(Token::is_content_word) {
        return None;
    }
    Some(vec![
        trim_conjunctions(&replace_pronouns(&clause_question, phrase)),
        trim_conjunctions(&main),
    ])
}

/// Returns the start of the noun phrase before `at`: a determiner and up to three content words after it.
fn find_noun_phrase_start(phrase: &[Token], at: usize) -> Option<usize> {
    let mut start = at;
    while start > 0 && at - start < 4 {
        start -= 1;
        if phrase[start].is_determiner() {
            return Some(start);
        }
        if !phrase[start].is_content_word() || phrase[start].comma {
            return None;
        }
    }
    None
}

fn to_possessive(group: &[Token]) -> Vec<Token> {
    let mut out = group.to_vec();
    if let Some(last) = out.last_mut() {
        *last = Token::new(&format!("{}'s", last.text));
    }
    out
}
