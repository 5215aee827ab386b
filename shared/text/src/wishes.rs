//! What somebody wants for good, and questions that ask what to do: the first bears on the second whatever its words are
//! (S3Mem 3.3 keeps such state as a kind of unit; here it is a grade of a sentence).
//!
//! English. What is found is a surface, not a fact: "Always fun to see you" is taken for an order, and whoever ranks weighs
//! that against everything else.

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
    if words.iter().any(|it| BEHIND.contains(it)) {
        return false;
    }
    let any = |list: &[&str]| words.iter().any(|it| list.contains(it));
    let pair = |first: &[&str], second: &[&str]| {
        words
            .windows(2)
            .any(|it| first.contains(&it[0]) && second.contains(&it[1]))
    };
    let makes = clauses(question).iter().any(|it| {
        it.iter()
            .find(|it| !OPENERS.contains(&it.as_str()))
            .is_some_and(|it| MAKE.contains(&it.as_str()))
    });
    makes
        || any(&["should", "shall", "ought", "recommend", "suggest", "advise"])
        || any(&["tips", "suggestions", "recommendations", "advice"])
        || pair(
            &["how", "where", "what", "which", "when"],
            &["do", "can", "could", "must", "may", "might"],
        ) && pair(
            &["do", "can", "could", "must", "may", "might"],
            &["i", "we", "you", "one", "he", "she", "they"],
        )
        || pair(&["can", "could", "would", "will", "may", "must"], &["you", "i", "we"])
        || pair(&["what", "which"], &["must", "may", "could", "can"])
        || pair(&["are", "is"], &["some", "good", "common"])
}

/// Orders for good at the start of a clause.
fn orders(clause: &[&str], told: bool, long: bool) -> bool {
    let opened = clause.iter().take_while(|it| OPENERS.contains(it)).count();
    let for_good = clause.iter().any(|it| FOR_GOOD.contains(it));
    let named = clause
        .iter()
        .take(5)
        .any(|it| matches!(*it, "rule" | "rules" | "law" | "wish"));
    match &clause[opened..] {
        ["always" | "never", verb, ..] => bare(verb),
        ["from", "now" | "today" | "here", ..] | ["going", "forward", ..] | ["in", "future", ..] => true,
        ["whenever", ..] => told,
        ["when" | "if", "i" | "you" | "we", verb, ..] => told && (ASKED.contains(verb) || for_good),
        ["every" | "each" | "any", "time", ..] => told,
        ["make", "sure", ..] | ["keep", "in", "mind", ..] => true,
        ["remember", "to" | "that" | "i" | "i'm" | "my", ..] => true,
        ["do", "not", verb, ..] | ["don't", verb, ..] => bare(verb) && !MILD.contains(verb),
        ["i", "want" | "need", "you", "to", ..] | ["i'd", "like" | "prefer", "you", "to", ..] => true,
        ["call", "me", rest @ ..] => rest.len() < 4 && !rest.iter().any(|it| MILD.contains(it)),
        ["stop", verb, ..] => verb.ends_with("ing"),
        [verb, ..] => named && long || for_good && MAKE.contains(verb),
        [] => false,
    }
}

/// Bans, habits and likings.
fn likes(clause: &[&str]) -> bool {
    let has = |list: &[&str]| clause.iter().any(|it| list.contains(it));
    let pair = |first: &[&str], second: &[&str]| {
        clause
            .windows(2)
            .any(|it| first.contains(&it[0]) && second.contains(&it[1]))
    };
    has(&["please", "pls"]) && has(&["no", "not", "only", "don't", "never", "always", "nothing", "without"])
        || has(&[
            "prefer",
            "prefers",
            "allergic",
            "allergy",
            "vegan",
            "vegetarian",
            "rather",
            "intolerant",
        ])
        || pair(
            &["i", "i'd", "we", "she", "he"],
            &[
                "prefer", "love", "loves", "hate", "hates", "dislike", "avoid", "avoids", "always", "never", "usually",
                "only",
            ],
        )
        || pair(
            &["not", "don't", "can't", "cannot", "won't", "doesn't"],
            &[
                "eat", "eats", "drink", "stand", "bear", "like", "do", "touch", "drive", "want", "have",
            ],
        ) && has(&["i", "we", "she", "he"])
        || pair(&["i", "i'm"], &["like", "enjoy", "into"])
        || pair(&["big", "huge", "a"], &["fan"])
        || has(&["favourite", "favorite"])
        || has(&["no", "nothing", "nobody"]) && has(&["ever", "please", "anymore"])
}

/// "Can you always cite the source?", "Can we not do worksheets?"
fn asks_for_good(clause: &[&str]) -> bool {
    let asked = clause
        .windows(2)
        .any(|it| matches!(it[0], "can" | "could" | "would" | "will") && matches!(it[1], "you" | "we"));
    asked
        && clause
            .iter()
            .any(|it| matches!(*it, "always" | "never" | "not" | "only" | "every"))
}

/// Says whether a word can be what is ordered: no past, no form with an ending.
fn bare(word: &str) -> bool {
    !is_past(word)
        && !word.ends_with("ed")
        && !word.ends_with("ing")
        && !OPENERS.contains(&word)
        && !STATES.contains(&word)
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
        if JOINS.contains(&word.as_str()) {
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

const JOINS: &[&str] = &["and", "but", "so", "because", "since"];
const OPENERS: &[&str] = &[
    "and", "but", "so", "because", "since", "also", "oh", "ok", "okay", "well", "please", "pls", "yes", "no", "just",
    "then", "hey", "hi",
];
/// For good.
const FOR_GOOD: &[&str] = &[
    "always",
    "never",
    "ever",
    "every",
    "whenever",
    "each",
    "only",
    "anymore",
    "throughout",
];
/// What one asks an assistant for.
const ASKED: &[&str] = &[
    "ask",
    "paste",
    "mention",
    "send",
    "share",
    "request",
    "talk",
    "write",
    "need",
    "want",
    "post",
    "suggest",
    "recommend",
    "quote",
    "draft",
    "propose",
    "translate",
    "plan",
    "compare",
    "judge",
    "give",
    "show",
    "make",
    "ring",
    "call",
    "book",
];
/// Asks for something to be made or proposed.
const MAKE: &[&str] = &[
    "make",
    "write",
    "plan",
    "draft",
    "give",
    "show",
    "suggest",
    "recommend",
    "help",
    "find",
    "put",
    "prepare",
    "propose",
    "update",
    "reserve",
    "order",
    "send",
    "book",
    "design",
    "create",
    "build",
    "pick",
    "choose",
    "set",
    "explain",
    "keep",
    "use",
    "answer",
    "reply",
    "include",
    "add",
    "translate",
    "format",
    "convert",
    "schedule",
    "remind",
];
/// Moves the answer into what was: such questions ask what happened.
const BEHIND: &[&str] = &[
    "did",
    "was",
    "were",
    "had",
    "said",
    "told",
    "mentioned",
    "ago",
    "yesterday",
    "last",
];
/// "Don't worry", "call me back later".
const MILD: &[&str] = &[
    "worry", "know", "think", "forget", "mind", "get", "you", "back", "later", "tomorrow", "when",
];
/// "Always a pleasure", "never mind".
const STATES: &[&str] = &[
    "a", "an", "the", "been", "had", "mind", "good", "great", "nice", "fun", "happy", "here", "there", "on", "in",
    "my", "your", "too", "i", "you", "we", "he", "she", "it", "they", "been", "seen", "heard", "known", "done",
    "again", "is", "was", "were",
];
