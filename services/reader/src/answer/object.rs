//! What the verb of a question is asked of, and what it is told of: who adopted a cat has said nothing of a parrot.

use text::{Kind, Nouns, is_stop, stem};

use super::polarity::clauses;
use crate::pool::{Pool, Sentence};
use crate::question::Question;

/// A word this near to one said is that word.
const SAID: f32 = 0.9;
/// Words of the longest phrase.
const WORDS: usize = 4;
const PREPOSITIONS: &[&str] = &[
    "to", "for", "with", "of", "about", "from", "at", "in", "on", "by", "into", "against", "like", "as",
];

/// The phrase behind a verb, and the preposition between them, if there is one.
struct Object {
    preposition: Option<String>,
    phrase: Vec<String>,
}

/// Says whether the verb of the question is told of something else only. It takes a noun on both sides, neither a kind of the
/// other, and the one asked for said nowhere near: a sentence that tells it in other words is not judged.
pub(super) fn is_another(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> bool {
    let verb = question.words.iter().find(|it| it.verb && !it.specific);
    let Some(verb) = verb.filter(|_| !question.is_supposed()) else {
        return false;
    };
    let Some((asked, thing)) = asked(question, &verb.stem) else {
        return false;
    };
    let Some(kind) = asked.phrase.last().and_then(|it| Nouns::builtin().kind(it)) else {
        return false;
    };
    let near = || lines.iter().flat_map(|&it| pool.window(it, 2, 2));
    if near().any(|it| pool.lines[it].matches[thing] >= SAID) {
        return false;
    }
    let told = |it: &Sentence| {
        let all = clauses(it).into_iter();
        all.filter_map(|it| object(&it, &verb.stem)).collect::<Vec<Object>>()
    };
    let sentences = || {
        near()
            .flat_map(|it| &pool.lines[it].sentences)
            .filter(|it| !it.question)
    };
    let objects: Vec<Object> = sentences().flat_map(told).collect();
    let same = |it: &Object| it.preposition == asked.preposition;
    let other = |it: &Object| same(it) && differs((&asked.phrase, &kind), &it.phrase);
    objects.iter().any(other) && objects.iter().filter(|it| same(it)).all(other)
}

/// The object of the verb in a question, as far as its words count, and the number of its last word.
fn asked(question: &Question, verb: &str) -> Option<(Object, usize)> {
    if !follows_somebody(question, verb) {
        return None;
    }
    let mut asked = object(&question.lower, verb)?;
    let place = |it: &String| {
        let own = stem(it);
        question.words.iter().position(|it| it.stem == own && !it.specific)
    };
    let counted = asked.phrase.iter().take_while(|it| place(it).is_some()).count();
    asked.phrase.truncate(counted);
    let thing = place(asked.phrase.last()?)?;
    Some((asked, thing))
}

/// Says whether a verb stands right behind whoever does it: behind an article or an auxiliary stands what is only taken for one.
fn follows_somebody(question: &Question, verb: &str) -> bool {
    let words = text::words(&question.lower);
    let before = words
        .iter()
        .position(|it| stem(it) == verb)
        .and_then(|it| it.checked_sub(1));
    let Some(before) = before.map(|it| words[it]) else {
        return false;
    };
    let own = stem(before);
    PERSONS.contains(&before)
        || question.speakers.iter().any(|it| it == before)
        || question.words.iter().any(|it| it.specific && it.stem == own)
}

/// Says whether a phrase names something else than the one asked for, wherever it ends: "a cat last week" is a cat.
fn differs((asked, kind): (&[String], &Kind), told: &[String]) -> bool {
    let nouns = Nouns::builtin();
    let head = asked.last().map(|it| stem(it));
    let same = |told: &[String]| {
        let other = told.last().and_then(|it| nouns.kind(it));
        let holds = other.is_some_and(|it| nouns.has(&it, asked));
        holds || nouns.has(kind, told) || told.last().map(|it| stem(it)) == head
    };
    let known = told.iter().any(|it| nouns.kind(it).is_some());
    known && !(1..=told.len()).any(|it| same(&told[..it]))
}

/// Reads the first phrase behind the verb with the stem `verb` in a clause in lower case.
fn object(clause: &str, verb: &str) -> Option<Object> {
    let words = text::words(clause);
    let at = words.iter().position(|it| stem(it) == verb)?;
    let mut object = Object {
        preposition: None,
        phrase: Vec::new(),
    };
    for word in &words[at + 1..] {
        let open = object.phrase.is_empty();
        if PREPOSITIONS.contains(word) && open && object.preposition.is_none() {
            object.preposition = Some((*word).to_owned());
        } else if !is_stop(word) && object.phrase.len() < WORDS {
            object.phrase.push((*word).to_owned());
        } else if !open || !DETERMINERS.contains(word) {
            break;
        }
    }
    (!object.phrase.is_empty()).then_some(object)
}

const PERSONS: &[&str] = &["i", "you", "he", "she", "it", "we", "they"];
const DETERMINERS: &[&str] = &[
    "a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that", "these", "those", "any",
    "some", "all", "both", "new", "another", "one",
];
