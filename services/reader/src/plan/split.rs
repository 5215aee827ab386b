//! The parts of a question, found by rule.

use super::joined::{between, choice, list, subjects, than};
use super::phrase::{ASKS, Token, named, render, tokens};
use super::timed::timed;

/// Level from which a part is not split again.
const DEPTH: usize = 3;
/// Verbs of saying. After them, "that" or "who" opens the content of the statement and no relative clause.
const SAYS: &[&str] = &[
    "say",
    "said",
    "says",
    "think",
    "thought",
    "know",
    "knows",
    "knew",
    "tell",
    "told",
    "mention",
    "mentioned",
    "believe",
    "remember",
    "hope",
    "feel",
    "felt",
    "learn",
    "learned",
    "hear",
    "heard",
    "explain",
    "explained",
    "find",
    "found",
];
/// Auxiliaries whose main verb follows the subject, also after a relative clause: "did the friend who ... BUY".
pub(super) const CARRIES: &[&str] = &[
    "did", "does", "do", "will", "would", "can", "could", "should", "has", "have", "had",
];

/// Parts that a rule makes of a phrase. `None` if the rule does not fit; empty if the phrase stays whole.
pub(super) type Parts = Option<Vec<Vec<Token>>>;

/// The rules in order; the first one that fits splits a phrase.
const RULES: [fn(&[Token]) -> Parts; 8] = [questions, timed, relative, choice, than, between, subjects, list];

/// Returns the parts of a question in order, without the whole question.
pub(super) fn parts(question: &str) -> Vec<String> {
    let sentences: Vec<Vec<Token>> = text::sentences(question)
        .into_iter()
        .map(tokens)
        .filter(|it| it.iter().any(Token::says))
        .take(8)
        .collect();
    let mut out = Vec::new();
    let several = sentences.len() > 1;
    for sentence in sentences {
        part(&sentence, usize::from(several), &mut out);
    }
    out.iter().map(|it| render(it)).collect()
}

fn part(phrase: &[Token], depth: usize, out: &mut Vec<Vec<Token>>) {
    let found = RULES
        .iter()
        .filter(|_| depth < DEPTH)
        .find_map(|rule| rule(phrase))
        .unwrap_or_default();
    if found.is_empty() && depth > 0 {
        out.push(phrase.to_vec());
    }
    for it in found {
        part(&it, depth + 1, out);
    }
}

/// Returns two joined questions: "where did Ann move AND WHAT did she do there", "WHEN AND WHERE did Ann marry".
fn questions(phrase: &[Token]) -> Parts {
    let two = phrase.first()?.any(ASKS) && phrase.get(1)?.lower == "and" && phrase.get(2)?.any(ASKS);
    if two {
        let first = [&phrase[..1], &phrase[3..]].concat();
        return Some(vec![first, phrase[2..].to_vec()]);
    }
    let clause = phrase[0].lower == "when" && !phrase.get(1)?.helps();
    let asks = phrase.iter().any(Token::opens) && !clause;
    let at = (2..phrase.len().saturating_sub(1)).find(|&it| {
        let joins = phrase[it - 1].lower == "and" || phrase[it - 1].comma && phrase[0].opens();
        joins && opening(phrase, it)
    })?;
    let end = if phrase[at - 1].lower == "and" { at - 1 } else { at };
    let (left, right) = (&phrase[..end], &phrase[at..]);
    if !asks || left.len() < 2 || right.len() < 2 || !left.iter().any(Token::says) {
        return None;
    }
    Some(vec![trimmed(left), named(right, left)])
}

/// Returns true if a clause that asks starts at `at`: a question word, or an auxiliary with a subject after it.
fn opening(phrase: &[Token], at: usize) -> bool {
    let follows = || {
        let next = &phrase[at + 1];
        next.names() || next.any(&["he", "she", "they", "it", "i", "you", "we"]) || next.determines()
    };
    phrase[at].any(ASKS) || phrase[at].helps() && follows()
}

/// Returns a relative clause and the rest: "where does THE FRIEND WHO gave Ann a bike live". The clause comes first,
/// since it leads to the rest.
fn relative(phrase: &[Token]) -> Parts {
    let fits = |at: usize| {
        let (noun, marker) = (&phrase[at - 1], &phrase[at]);
        marker.any(&["who", "that", "which", "whose", "where"]) && noun.says() && !noun.any(SAYS) && !noun.comma
    };
    let (at, start) = (2..phrase.len().saturating_sub(1))
        .filter(|&it| fits(it))
        .find_map(|it| Some((it, group(phrase, it)?)))?;
    let carried = start > 0 && phrase[start - 1].any(CARRIES) && phrase.len() > at + 2;
    let comma = (at + 1..phrase.len() - 1).find(|&it| phrase[it].comma);
    let end = comma.map_or(phrase.len() - usize::from(carried), |it| it + 1);
    let (group, clause) = (&phrase[start..at], &phrase[at + 1..end]);
    let main = [&phrase[..at], &phrase[end..]].concat();
    let subject = clause.first()?;
    let inner = subject.names() || subject.determines() || subject.any(&["he", "she", "they", "i", "you", "we", "it"]);
    let told = match phrase[at].lower.as_str() {
        "whose" => [owner(group), clause.to_vec()].concat(),
        _ if inner => [clause, group].concat(),
        _ => [group, clause].concat(),
    };
    if !clause.iter().any(Token::says) {
        return None;
    }
    Some(vec![trimmed(&named(&told, phrase)), trimmed(&main)])
}

/// Returns the start of the noun phrase before `at`: a determiner and up to three content words after it.
fn group(phrase: &[Token], at: usize) -> Option<usize> {
    let mut start = at;
    while start > 0 && at - start < 4 {
        start -= 1;
        if phrase[start].determines() {
            return Some(start);
        }
        if !phrase[start].says() || phrase[start].comma {
            return None;
        }
    }
    None
}

fn owner(group: &[Token]) -> Vec<Token> {
    let mut out = group.to_vec();
    if let Some(last) = out.last_mut() {
        *last = Token::new(&format!("{}'s", last.text));
    }
    out
}

/// Returns a phrase without conjunctions at its ends.
pub(super) fn trimmed(phrase: &[Token]) -> Vec<Token> {
    let joins = |it: &Token| it.any(&["and", "or", "but", "then", "also", "so"]);
    let from = phrase.iter().position(|it| !joins(it)).unwrap_or(phrase.len());
    let to = phrase.iter().rposition(|it| !joins(it)).map_or(from, |it| it + 1);
    let mut out = phrase[from..to.max(from)].to_vec();
    if let Some(last) = out.last_mut() {
        last.comma = false;
    }
    out
}
