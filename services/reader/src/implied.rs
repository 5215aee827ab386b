//! What a sentence speaks of without a word for it: who names a sum speaks of paying, who names kilos of weight, and who has a
//! parrot has a pet.

use domain::anchor::AnswerKind;
use text::{Nouns, stem, words};

use crate::answer::{mass, money, number};
use crate::question::{Asked, PLAINLY_PAYING, Question};

/// What goes without saying is as good as a word near to that of the question.
const IMPLIED: f32 = 0.8;
/// Kilos are nearly the word itself.
const PLAIN: f32 = 0.95;
/// A word this near to one of the question means the same.
const SPEAKS: f32 = 0.9;
/// What stands before the place somebody goes to.
const LEAVING: [&str; 10] = [
    "off", "flying", "fly", "flew", "heading", "headed", "trip", "flight", "driving", "drove",
];
/// What is studied for.
const DEGREES: [&str; 7] = [
    "master's",
    "masters",
    "bachelor's",
    "bachelors",
    "degree",
    "phd",
    "doctorate",
];
/// Words of weighing, by stem.
const WEIGHING: [&str; 3] = ["weigh", "weight", "heavi"];

/// Raises how well a sentence matches the words of the question that it implies.
pub(crate) fn raise(matches: &mut [f32], sentence: &str, question: &Question) {
    let speaks = speaks(matches, question);
    let mut raise = |to: f32, implied: &dyn Fn(&str) -> bool| {
        let words = matches.iter_mut().zip(&question.words);
        words
            .filter(|it| implied(&it.1.stem))
            .for_each(|it| *it.0 = it.0.max(to));
    };
    if question.class == Some(Asked::Money) && money(sentence) {
        raise(IMPLIED, &|it| PLAINLY_PAYING.contains(&it) || it == "price");
    }
    if question.words.iter().any(|it| WEIGHING.contains(&it.stem.as_str())) && mass(sentence) {
        raise(PLAIN, &|it| WEIGHING.contains(&it));
    }
    if question.class == Some(Asked::Name) && speaks && called(sentence) {
        raise(PLAIN, &|it| matches!(it, "call" | "name"));
    }
    if question.words.iter().any(|it| it.stem == "birthday") && born(sentence) {
        raise(IMPLIED, &|it| it == "birthday");
    }
    if matches!(question.kind, AnswerKind::Where | AnswerKind::Who) && leaves(sentence) {
        raise(PLAIN, &|it| matches!(it, "go" | "travel"));
    }
    if studies(sentence).is_some() {
        raise(PLAIN, &|it| it == "studi");
    }
    if switches(sentence) {
        raise(PLAIN, &|it| it == "use");
    }
    if question.kind == AnswerKind::Who && gives_notice(sentence) {
        raise(PLAIN, &|it| matches!(it, "leav" | "left"));
    }
    if question.plural && holds(sentence, question) {
        raise(IMPLIED, &|it| it == question.head);
    }
}

/// Says whether a sentence speaks of what the question wants the name of: "a cat named Rex" names no dog.
fn speaks(matches: &[f32], question: &Question) -> bool {
    let words = matches.iter().zip(&question.words);
    let mut things = words.filter(|it| !it.1.specific && !matches!(it.1.stem.as_str(), "call" | "name"));
    things.any(|it| *it.0 >= SPEAKS)
}

/// "Her name is", "is called".
fn called(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).into_iter().map(str::to_lowercase).collect();
    let pair = |it: &[String]| it[0] == "name" && matches!(it[1].as_str(), "is" | "was");
    words.windows(2).any(pair) || words.iter().any(|it| matches!(it.as_str(), "called" | "named"))
}

/// "Noor turns twelve on 5 April", "she was born in May".
fn born(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).into_iter().map(str::to_lowercase).collect();
    let aged =
        |it: &[String]| matches!(it[0].as_str(), "turn" | "turns" | "turned" | "turning") && number(&it[1]).is_some();
    words.windows(2).any(aged) || words.iter().any(|it| it == "born")
}

/// "Off to Lisbon next week", "flying to Oslo on Monday".
fn leaves(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).into_iter().map(str::to_lowercase).collect();
    let off = |it: &[String]| LEAVING.contains(&it[0].as_str()) && it[1] == "to";
    words.windows(2).any(off)
}

/// Returns where the word for a degree ends in a sentence that tells of one: "my master's in law".
pub(crate) fn studies(sentence: &str) -> Option<usize> {
    let degree = |it: &&str| DEGREES.contains(&it.to_lowercase().replace('’', "'").as_str());
    let word = words(sentence).into_iter().find(degree)?;
    Some(word.as_ptr() as usize - sentence.as_ptr() as usize + word.len())
}

/// "Switched to canoes": who did that uses canoes.
pub(crate) fn switches(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).into_iter().map(|it| stem(&it.to_lowercase())).collect();
    let at = words.iter().position(|it| matches!(it.as_str(), "switch" | "migrat"));
    at.is_some_and(|at| words[at..].iter().any(|it| it == "to"))
}

/// "Ben quit": who did that left.
fn gives_notice(sentence: &str) -> bool {
    let gone = |it: &str| matches!(stem(&it.to_lowercase()).as_str(), "quit" | "resign");
    words(sentence).into_iter().any(gone)
}

/// Says whether a sentence names one of the things that the question wants listed.
fn holds(sentence: &str, question: &Question) -> bool {
    let Some(things) = &question.things else { return false };
    let words: Vec<String> = words(sentence).into_iter().map(str::to_lowercase).collect();
    let said = words.iter().any(|it| stem(it) == question.head);
    !said && (0..words.len()).any(|at| Nouns::builtin().has(things, &words[at..=at]))
}
