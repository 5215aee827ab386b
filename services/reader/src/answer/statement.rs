//! Sentences that state exactly what a yes-or-no question asks, of exactly the one it asks about. Nothing else is a yes or a
//! no: not a sentence of somebody else, not a plan, not a thing like the one that is asked about.

use domain::evidence::Turn;
use text::role::is_user;
use text::{gloss, is_auxiliary, stem};

use super::lexis::denies;
use super::polarity::{denies_match, is_opposed, opens_denying};
use crate::lists;
use crate::pool::{Line, Pool, Sentence, same};
use crate::question::Question;

/// What was stated last on a question.
pub(super) struct Statement {
    /// Whether it is denied.
    pub(super) is_denied: bool,
    /// The lines that state it, the telling one first.
    pub(super) lines: Vec<usize>,
}

/// Returns what was stated last; what somebody says of themselves before what others say of them.
pub(super) fn last(question: &Question, pool: &Pool<'_>) -> Option<Statement> {
    let all = (0..pool.lines.len()).filter_map(|at| stated(question, pool, at));
    all.max_by_key(|it| {
        let turn = pool.lines[it.lines[0]].turn;
        let own = question
            .subject
            .as_ref()
            .is_some_and(|subject| same(subject, &turn.actor));
        (own, turn.observed_at, turn.unit)
    })
}

fn stated(question: &Question, pool: &Pool<'_>, at: usize) -> Option<Statement> {
    let line = &pool.lines[at];
    if !is_of_time(question, line.turn) {
        return None;
    }
    if let Some((is_denied, asked)) = replied(question, pool, line) {
        return Some(Statement {
            is_denied,
            lines: vec![at, asked],
        });
    }
    let mut told = line.sentences.iter().rev();
    let is_denied = told.find_map(|it| states(question, it, line.turn))?;
    Some(Statement {
        is_denied,
        lines: vec![at],
    })
}

/// Says whether a turn tells of the time that is asked about.
fn is_of_time(question: &Question, turn: &Turn) -> bool {
    let Some(window) = &question.window else { return true };
    let named = turn
        .times
        .iter()
        .any(|it| it.start < window.end && window.start < it.end);
    let at = turn.observed_at;
    named || turn.times.is_empty() && window.start <= at && at < window.end
}

/// Words that put off what was asked of the past.
const TO_COME: [&str; 8] = ["will", "gonna", "going", "tomorrow", "need", "must", "gotta", "about"];

/// Says whether a sentence denies what is asked; none if it does not state it.
fn states(question: &Question, sentence: &Sentence, turn: &Turn) -> Option<bool> {
    let is_whole = !sentence.question && !sentence.caption && !question.words.is_empty();
    let mut pairs = question.words.iter().zip(&sentence.matches);
    if !is_whole || !pairs.all(|(word, like)| *like >= 1.0 || is_opposed(sentence, word)) {
        return None;
    }
    let clauses = clauses(&gloss::english(&sentence.text));
    let said = |it: &str| {
        clauses
            .iter()
            .flatten()
            .any(|token| token == it || token.strip_suffix("'ll") == Some(it))
    };
    let doubts = |it: &str| said(it) && !asks(question, it);
    let is_past = question.tense < 0.0 || matches!(opening(question), "has" | "have");
    if lists::SUPPOSING.iter().any(|it| doubts(it)) || is_past && TO_COME.iter().any(|it| doubts(it)) {
        return None;
    }
    let verb = question.words.iter().position(|it| it.verb);
    let (at, place) = place(question, sentence, verb, &clauses)?;
    let is_done = is_past_form(&clauses[at], place);
    if verb.is_some() && is_past != is_done && question.tense <= 0.0 {
        return None;
    }
    is_by(question, turn, &clauses[..=at], place).then(|| denies_match(sentence, question))
}

fn asks(question: &Question, word: &str) -> bool {
    text::words(&question.lower).contains(&word)
}

fn opening(question: &Question) -> &str {
    text::words(&question.lower).first().copied().unwrap_or_default()
}

/// The clauses of a sentence as words in lower case.
fn clauses(english: &str) -> Vec<Vec<String>> {
    let lower = english.to_lowercase().replace('’', "'");
    let mut out = Vec::new();
    for part in lower.split([',', ';', ':', '—', '(', ')', '。', '，']) {
        let mut clause: Vec<String> = Vec::new();
        for word in text::words(part) {
            if lists::JOINING.contains(word) && !clause.is_empty() {
                out.push(std::mem::take(&mut clause));
            } else {
                clause.push(word.to_owned());
            }
        }
        out.push(clause);
    }
    out.retain(|it| !it.is_empty());
    out
}

/// Returns the clause and the word that state it: the verb that is asked about, or without one the last word of a clause that
/// holds all.
fn place(
    question: &Question,
    sentence: &Sentence,
    verb: Option<usize>,
    clauses: &[Vec<String>],
) -> Option<(usize, usize)> {
    let is = |token: &str, word: usize| stem(token) == question.words[word].stem;
    let missing = |word: usize| sentence.matches[word] < 1.0;
    clauses.iter().enumerate().rev().find_map(|(at, clause)| match verb {
        Some(verb) => {
            let found = clause
                .iter()
                .rposition(|it| is(it, verb) || missing(verb) && is_opposite(it, question, verb))?;
            Some((at, found))
        }
        None => {
            let here = |word: usize| clause.iter().any(|it| is(it, word)) || missing(word);
            let last = clause
                .iter()
                .rposition(|it| (0..question.words.len()).any(|word| is(it, word)))?;
            (0..question.words.len()).all(here).then_some((at, last))
        }
    })
}

fn is_opposite(token: &str, question: &Question, word: usize) -> bool {
    super::polarity::opposites(&question.words[word].stem).any(|it| it == stem(token))
}

/// Says whether a verb tells what was or has been.
fn is_past_form(clause: &[String], verb: usize) -> bool {
    let helps = |it: &String| {
        let positive = it.strip_suffix("n't").unwrap_or(it);
        let is_form = matches!(
            positive,
            "have" | "has" | "had" | "did" | "was" | "were" | "been" | "got" | "never" | "used" | "didnt"
        );
        is_form || it.ends_with("'ve")
    };
    let is_past =
        |it: &str| it.len() > 3 && it.ends_with("ed") || text::is_past(it) || lists::UNCHANGED_PASTS.contains(it);
    clause.get(verb).is_some_and(|it| is_past(it)) || clause[..verb].iter().any(helps)
}

/// Says whether what a clause tells is told of the one who is asked about: of the speaker by "I" or by nobody at all, of
/// others by their name right before.
fn is_by(question: &Question, turn: &Turn, clauses: &[Vec<String>], verb: usize) -> bool {
    let Some((clause, before)) = clauses.split_last() else {
        return false;
    };
    let own = match &question.subject {
        Some(subject) => same(subject, &turn.actor),
        None => asks_of_self(question) && is_user(&turn.actor),
    };
    let name = question
        .subject
        .as_deref()
        .and_then(|it| text::words(it).first().map(|it| it.to_lowercase()));
    let thing = question
        .words
        .first()
        .filter(|it| !it.verb && question.subject.is_none() && question.words.len() > 1);
    let is = |token: &str| {
        let bare = token.trim_end_matches("'s");
        own && is_first_person(token)
            || !own && name.as_deref().is_some_and(|it| it == bare)
            || !asks_of_self(question) && thing.is_some_and(|it| stem(bare) == it.stem)
    };
    if question.words.iter().all(|it| !it.verb) {
        return clause.iter().any(|it| is(it)) && clause.iter().any(|it| is_being(it));
    }
    let subject = |tokens: &[String]| tokens.iter().rev().find(|it| !is_passed_over(it)).cloned();
    match subject(&clause[..verb]) {
        Some(token) => is(&token),
        // Nobody is named: the speaker, or who the clause before was about.
        None => match before.iter().rev().find(|it| it.iter().any(|it| !is_passed_over(it))) {
            Some(clause) => clause.iter().find(|it| !is_passed_over(it)).is_some_and(|it| is(it)),
            None => own,
        },
    }
}

/// Forms of "be" and "have", also behind an apostrophe.
fn is_being(token: &str) -> bool {
    let end = token.rsplit('\'').next().unwrap_or_default();
    let is_form = |it: &str| {
        matches!(
            it,
            "am" | "is" | "are" | "was" | "were" | "been" | "have" | "has" | "had" | "im"
        )
    };
    is_form(token) || token.contains('\'') && matches!(end, "m" | "s" | "re" | "ve")
}

fn asks_of_self(question: &Question) -> bool {
    ["i", "my", "we", "our"].iter().any(|it| asks(question, it))
}

fn is_first_person(token: &str) -> bool {
    let base = token.split('\'').next().unwrap_or_default();
    matches!(base, "i" | "we" | "im" | "ive")
}

/// Auxiliary verbs, adverbs, denials and interjections between who does something and the verb.
fn is_passed_over(token: &str) -> bool {
    let is_contracted = token.contains('\'') && !is_first_person(token) && !token.ends_with("'s");
    is_auxiliary(token)
        || denies(token)
        || is_contracted
        || lists::FILLERS.contains(token)
        || lists::AUXILIARIES.contains(token)
}

/// A reply that opens with yes or no to a question that asks exactly that, and the line of the question.
fn replied(question: &Question, pool: &Pool<'_>, line: &Line<'_>) -> Option<(bool, usize)> {
    let at = line.previous?;
    let asks = &pool.lines[at];
    let asked = asks.sentences.iter().rev().find(|it| it.question)?;
    let clauses = clauses(&gloss::english(&asked.text));
    let says = |it: &str| clauses.iter().flatten().any(|token| token == it);
    // "My uncle dropped the fridge." "Did it survive?"
    let refers = ["it", "he", "she", "they", "that"].iter().any(|it| says(it));
    let told = asks.previous.filter(|_| refers).map(|it| &pool.lines[it]);
    let words = question.words.iter().enumerate();
    let is_whole = !question.words.is_empty()
        && words
            .into_iter()
            .all(|(at, word)| asked.matches[at] >= 1.0 || !word.verb && told.is_some_and(|it| it.matches[at] >= 1.0));
    let is_of = match &question.subject {
        Some(subject) if same(subject, &line.turn.actor) => says("you") || says("u"),
        Some(subject) => text::words(subject).first().is_some_and(|it| says(&it.to_lowercase())),
        None => true,
    };
    let first = line.sentences.first().filter(|it| !it.question)?;
    let is_doubtful = text::words(&first.text.to_lowercase())
        .iter()
        .any(|it| lists::SUPPOSING.contains(it));
    if !is_whole || !is_of || is_doubtful || asks.turn.actor == line.turn.actor {
        return None;
    }
    Some((opens_denying(line)?, at))
}
