//! What somebody wants for good, and questions that ask what to do: the first bears on the second whatever its words are
//! (S3Mem 3.3 keeps such state as a kind of unit; here it is a grade of a sentence).
//!
//! English. What is found is a surface, not a fact: "Always fun to see you" is taken for an order, and whoever ranks weighs
//! that against everything else.

use crate::lexicon::{Class, is};
use crate::verbs::is_past;
use crate::words;

/// An order that stands.
const ORDER: f32 = 1.0;
/// A ban, a habit or a liking.
const LIKING: f32 = 0.5;
/// Words of a sentence that are read.
const READ: usize = 64;

/// Says how far a sentence states what somebody wants for good: 1 an order ("From now on, answer in French"), 0.5 a ban, a
/// habit or a liking ("I don't eat meat", "Please no red"), 0 neither.
pub fn standing(sentence: &str) -> f32 {
    let asks = sentence.trim_end().ends_with(['?', '？']);
    let clauses = clauses(sentence);
    // "When I ask about money, give me ...": what tells to whom it is said may stand in another clause.
    let told = clauses
        .iter()
        .flatten()
        .any(|it| matches!(it.as_str(), "me" | "my" | "you"));
    // "House rule: nobody ..." is one, "That rule is new" is none.
    let long = clauses.iter().flatten().count() > 5;
    let grade = |clause: &Vec<String>| {
        let words: Vec<&str> = clause.iter().map(String::as_str).collect();
        if !asks && orders(&words, told, long) {
            ORDER
        } else if if asks { asks_for_good(&words) } else { likes(&words) } {
            LIKING
        } else {
            0.0
        }
    };
    clauses.iter().map(grade).fold(0.0, f32::max)
}

/// Says whether a question or a request asks what somebody should do, or for something to be made or proposed, and not what
/// happened: there what is wanted for good decides the answer.
pub fn asks_what_to_do(question: &str) -> bool {
    let lower: Vec<String> = words(question).into_iter().map(straight).take(READ).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    if words.iter().any(|it| is(it, Class::AsksPast)) {
        return false;
    }
    let any = |class: Class| words.iter().any(|it| is(it, class));
    let pair = |first: Class, second: Class| words.windows(2).any(|it| is(it[0], first) && is(it[1], second));
    let makes = clauses(question).iter().any(|it| {
        it.iter()
            .find(|it| !is(it, Class::WishOpening))
            .is_some_and(|it| is(it, Class::Make))
    });
    makes
        || any(Class::AsksAdvice)
        || any(Class::Tip)
        || pair(Class::AsksHow, Class::MayDo) && pair(Class::MayDo, Class::AnyPerson)
        || words
            .windows(2)
            .any(|it| is(it[0], Class::RequestVerb) && matches!(it[1], "you" | "i" | "we"))
        || words.windows(2).any(|it| {
            matches!(
                it,
                ["what" | "which", "must" | "may" | "could" | "can"] | ["are" | "is", "some" | "good" | "common"]
            )
        })
}

/// Orders for good at the start of a clause.
fn orders(clause: &[&str], told: bool, long: bool) -> bool {
    let opened = clause.iter().take_while(|it| is(it, Class::WishOpening)).count();
    let for_good = clause.iter().any(|it| is(it, Class::ForGood));
    let named = clause
        .iter()
        .take(5)
        .any(|it| matches!(*it, "rule" | "rules" | "law" | "wish"));
    match &clause[opened..] {
        ["always" | "never", verb, ..] => bare(verb),
        ["from", "now" | "today" | "here", ..] | ["going", "forward", ..] | ["in", "future", ..] => true,
        ["whenever", ..] => told,
        ["when" | "if", "i" | "you" | "we", verb, ..] => told && (is(verb, Class::AskedOfAssistant) || for_good),
        ["every" | "each" | "any", "time", ..] => told,
        ["make", "sure", ..] | ["keep", "in", "mind", ..] => true,
        ["remember", "to" | "that" | "i" | "i'm" | "my", ..] => true,
        ["do", "not", verb, ..] | ["don't", verb, ..] => bare(verb) && !is(verb, Class::MildOrder),
        ["i", "want" | "need", "you", "to", ..] | ["i'd", "like" | "prefer", "you", "to", ..] => true,
        ["call", "me", rest @ ..] => rest.len() < 4 && !rest.iter().any(|it| is(it, Class::MildOrder)),
        ["stop", verb, ..] => verb.ends_with("ing"),
        [verb, ..] => named && long || for_good && is(verb, Class::Make),
        [] => false,
    }
}

/// Bans, habits and likings.
fn likes(clause: &[&str]) -> bool {
    let has = |class: Class| clause.iter().any(|it| is(it, class));
    let any = |list: &[&str]| clause.iter().any(|it| list.contains(it));
    let pair = |first: Class, second: Class| clause.windows(2).any(|it| is(it[0], first) && is(it[1], second));
    let likes = |it: &[&str]| {
        matches!(
            it,
            ["i" | "i'm", "like" | "enjoy" | "into"] | ["big" | "huge" | "a", "fan"]
        )
    };
    any(&["please", "pls"]) && has(Class::Restriction)
        || has(Class::LastingTaste)
        || pair(Class::WhoseTaste, Class::Taste)
        || pair(Class::Refusal, Class::RefusedVerb) && any(&["i", "we", "she", "he"])
        || clause.windows(2).any(likes)
        || any(&["favourite", "favorite"])
        || any(&["no", "nothing", "nobody"]) && any(&["ever", "please", "anymore"])
}

/// "Can you always cite the source?", "Can we not do worksheets?"
fn asks_for_good(clause: &[&str]) -> bool {
    let asked = clause
        .windows(2)
        .any(|it| matches!(it[0], "can" | "could" | "would" | "will") && matches!(it[1], "you" | "we"));
    asked && clause.iter().any(|it| is(it, Class::AsksForGood))
}

/// Says whether a word can be what is ordered: no past, no form with an ending.
fn bare(word: &str) -> bool {
    !is_past(word)
        && !word.ends_with("ed")
        && !word.ends_with("ing")
        && !is(word, Class::WishOpening)
        && !is(word, Class::NoOrder)
}

/// The words of each stretch between marks, lower case; a dash within a word parts nothing.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut end = 0;
    for word in words(text).into_iter().take(READ) {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let marks = &text[end..at];
        if marks.contains([
            ',', ';', ':', '.', '!', '?', '(', '"', '\u{2014}', '\u{2013}', '\u{2026}',
        ]) || marks.contains(" - ")
        {
            clauses.push(Vec::new());
        }
        end = at + word.len();
        let word = straight(word);
        if is(&word, Class::JoinsWishes) {
            clauses.push(Vec::new());
        }
        if let Some(last) = clauses.last_mut() {
            last.push(word);
        }
    }
    clauses.retain(|it| !it.is_empty());
    clauses
}

fn straight(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}
