//! Standing wishes, and questions that ask for advice. A standing wish matters for such a question whatever the words
//! of the two are (S3Mem 3.3 stores such a state as a kind of unit; here a sentence has a grade).
//!
//! English. The rules read the surface of a sentence, not its meaning: they take "Always fun to see you" for an
//! instruction. So the ranking must weigh the grade against all its other features.

use crate::lexicon::verbs::is_past;
use crate::lexicon::{Class, Classes, classes_of_word, is_in_class};
use crate::split_words;

/// Grade of a standing instruction.
const ORDER: f32 = 1.0;
/// Grade of a ban, a habit or a preference.
const LIKING: f32 = 0.5;
/// Number of words that are read of a sentence.
const READ: usize = 64;

/// Returns the grade of a sentence that states a standing wish: 1 for an instruction ("From now on, answer in French"),
/// 0.5 for a ban, a habit or a preference ("I don't eat meat", "Please no red"), 0 for any other sentence.
pub fn grade_standing_wish(sentence: &str) -> f32 {
    let asks = sentence.trim_end().ends_with(['?', '？']);
    let clauses = split_clauses(sentence);
    // "When I ask about money, give me ...": the pronoun that shows who is asked may be in another clause.
    let has_pronoun = clauses.iter().flatten().any(|it| is_in_class(it, Class::WishPronoun));
    // "House rule: nobody ..." is a rule; "That rule is new" is not.
    let long = clauses.iter().flatten().count() > 5;
    let grade = |clause: &Vec<String>| {
        let words: Vec<&str> = clause.iter().map(String::as_str).collect();
        if !asks && begins_with_instruction(&words, has_pronoun, long) {
            ORDER
        } else if if asks {
            asks_for_good(&words)
        } else {
            states_preference(&words)
        } {
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
    let lower: Vec<String> = split_words(question)
        .into_iter()
        .map(to_plain_lowercase)
        .take(READ)
        .collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    if words.iter().any(|it| is_in_class(it, Class::AsksPast)) {
        return false;
    }
    let any = |class: Class| words.iter().any(|it| is_in_class(it, class));
    let pair = |first: Class, second: Class| {
        words
            .windows(2)
            .any(|it| is_in_class(it[0], first) && is_in_class(it[1], second))
    };
    let makes = split_clauses(question).iter().any(|it| {
        it.iter()
            .find(|it| !is_in_class(it, Class::WishOpening))
            .is_some_and(|it| is_in_class(it, Class::Make))
    });
    makes
        || any(Class::AsksAdvice)
        || any(Class::Tip)
        || pair(Class::AsksHow, Class::MayDo) && pair(Class::MayDo, Class::AnyPerson)
        || pair(Class::RequestVerb, Class::TalkSubject)
        || words.windows(2).any(|it| match it[0] {
            "what" | "which" => is_in_class(it[1], Class::AdviceAuxiliary),
            "are" | "is" => is_in_class(it[1], Class::AdviceAdjective),
            _ => false,
        })
}

/// Returns true if a clause begins with a standing instruction.
fn begins_with_instruction(clause: &[&str], has_pronoun: bool, long: bool) -> bool {
    let opened = clause
        .iter()
        .take_while(|it| is_in_class(it, Class::WishOpening))
        .count();
    let for_good = clause.iter().any(|it| is_in_class(it, Class::ForGood));
    let announces_rule = clause.iter().take(5).any(|it| is_in_class(it, Class::RuleWord));
    match &clause[opened..] {
        ["always" | "never", verb, ..] => is_imperative_verb(verb),
        ["from", start, ..] if is_in_class(start, Class::RuleStart) => true,
        ["going", "forward", ..] | ["in", "future", ..] => true,
        ["whenever", ..] => has_pronoun,
        ["when" | "if", subject, verb, ..] if is_in_class(subject, Class::TalkSubject) => {
            has_pronoun && (is_in_class(verb, Class::AskedOfAssistant) || for_good)
        }
        [each, "time", ..] if is_in_class(each, Class::EachTime) => has_pronoun,
        ["make", "sure", ..] | ["keep", "in", "mind", ..] => true,
        ["remember", next, ..] if is_in_class(next, Class::AfterRemember) => true,
        ["do", "not", verb, ..] | ["don't", verb, ..] => {
            is_imperative_verb(verb) && !is_in_class(verb, Class::MildOrder)
        }
        ["i", "want" | "need", "you", "to", ..] | ["i'd", "like" | "prefer", "you", "to", ..] => true,
        ["call", "me", rest @ ..] => rest.len() < 4 && !rest.iter().any(|it| is_in_class(it, Class::MildOrder)),
        ["stop", verb, ..] => verb.ends_with("ing"),
        [verb, ..] => announces_rule && long || for_good && is_in_class(verb, Class::Make),
        [] => false,
    }
}

/// Returns true if a clause states a ban, a habit or a preference.
fn states_preference(clause: &[&str]) -> bool {
    let classes: Vec<Classes> = clause.iter().map(|it| classes_of_word(it)).collect();
    let has = |class: Class| classes.iter().any(|it| it.has_class(class));
    let any = |list: &[&str]| clause.iter().any(|it| list.contains(it));
    let pair = |first: Class, second: Class| {
        classes
            .windows(2)
            .any(|it| it[0].has_class(first) && it[1].has_class(second))
    };
    let likes = |it: &[&str]| match (it[0], it[1]) {
        ("i" | "i'm", verb) => is_in_class(verb, Class::LikedByI),
        (before, "fan") => is_in_class(before, Class::BeforeFan),
        _ => false,
    };
    any(&["please", "pls"]) && has(Class::Restriction)
        || has(Class::LastingTaste)
        || pair(Class::WhoseTaste, Class::Taste)
        || pair(Class::Refusal, Class::RefusedVerb) && has(Class::RefusingSubject)
        || clause.windows(2).any(likes)
        || any(&["favourite", "favorite"])
        || has(Class::Exclusion) && has(Class::LastingExclusion)
}

/// Returns true if a question asks for a standing behaviour: "Can you always cite the source?", "Can we not do
/// worksheets?".
fn asks_for_good(clause: &[&str]) -> bool {
    let addresses_assistant = clause
        .windows(2)
        .any(|it| is_in_class(it[0], Class::AsksAssistant) && matches!(it[1], "you" | "we"));
    addresses_assistant && clause.iter().any(|it| is_in_class(it, Class::AsksForGood))
}

/// Returns true if a word can be the verb of an instruction: no past form and no form with an ending.
fn is_imperative_verb(word: &str) -> bool {
    !is_past(word)
        && !word.ends_with("ed")
        && !word.ends_with("ing")
        && !is_in_class(word, Class::WishOpening)
        && !is_in_class(word, Class::NoOrder)
}

/// Returns the words of each stretch between punctuation marks and words such as "and", in lower case; a hyphen inside
/// a word separates nothing.
fn split_clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut end = 0;
    for word in split_words(text).into_iter().take(READ) {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let marks = &text[end..at];
        if marks.contains([
            ',', ';', ':', '.', '!', '?', '(', '"', '\u{2014}', '\u{2013}', '\u{2026}',
        ]) || marks.contains(" - ")
        {
            clauses.push(Vec::new());
        }
        end = at + word.len();
        let word = to_plain_lowercase(word);
        if is_in_class(&word, Class::JoinsWishes) {
            clauses.push(Vec::new());
        }
        if let Some(last) = clauses.last_mut() {
            last.push(word);
        }
    }
    clauses.retain(|it| !it.is_empty());
    clauses
}

fn to_plain_lowercase(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}
