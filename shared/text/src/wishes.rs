//! Standing wishes, and questions that ask for advice. A standing wish matters for such a question whatever the words
//! of the two are (S3Mem 3.3 stores such a state as a kind of unit; here a sentence has a grade).
//!
//! English. The rules read the surface of a sentence, not its meaning: they take "Always fun to see you" for an
//! instruction. So the ranking must weigh the grade against all its other features.

use crate::lexicon::{Class, is};
use crate::verbs::is_past;
use crate::words;

/// Grade of a standing instruction.
const ORDER: f32 = 1.0;
/// Grade of a ban, a habit or a preference.
const LIKING: f32 = 0.5;
/// Number of words that are read of a sentence.
const READ: usize = 64;

/// Returns the grade of a sentence that states a standing wish: 1 for an instruction ("From now on, answer in French"),
/// 0.5 for a ban, a habit or a preference ("I don't eat meat", "Please no red"), 0 for any other sentence.
pub fn standing(sentence: &str) -> f32 {
    let asks = sentence.trim_end().ends_with(['?', '？']);
    let clauses = clauses(sentence);
    // "When I ask about money, give me ...": the pronoun that shows who is asked may be in another clause.
    let told = clauses
        .iter()
        .flatten()
        .any(|it| matches!(it.as_str(), "me" | "my" | "you"));
    // "House rule: nobody ..." is a rule; "That rule is new" is not.
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

/// Returns true if a question or a request asks for advice, or for something to be made or proposed, and not about the
/// past. For such a question, standing wishes matter.
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

/// Returns true if a clause begins with a standing instruction.
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

/// Returns true if a clause states a ban, a habit or a preference.
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

/// Returns true if a question asks for a standing behaviour: "Can you always cite the source?", "Can we not do
/// worksheets?".
fn asks_for_good(clause: &[&str]) -> bool {
    let asked = clause
        .windows(2)
        .any(|it| matches!(it[0], "can" | "could" | "would" | "will") && matches!(it[1], "you" | "we"));
    asked && clause.iter().any(|it| is(it, Class::AsksForGood))
}

/// Returns true if a word can be the verb of an instruction: no past form and no form with an ending.
fn bare(word: &str) -> bool {
    !is_past(word)
        && !word.ends_with("ed")
        && !word.ends_with("ing")
        && !is(word, Class::WishOpening)
        && !is(word, Class::NoOrder)
}

/// Returns the words of each stretch between punctuation marks and words such as "and", in lower case; a hyphen inside
/// a word separates nothing.
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
