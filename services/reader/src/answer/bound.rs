//! Which candidates belong to what is asked: a length of time or a sum of money to its matter. What belongs to another is no
//! answer, however well it looks.

use domain::anchor::AnswerKind;
use text::lexicon::{Class, is};
use text::{is_auxiliary, stem};

use super::grade::Grade;
use super::lexis::person;
use super::score::Scored;
use crate::pool::{Pool, Sentence};
use crate::question::{Asked, Question, Word};

/// A word this near to one of the question speaks of the same.
const SPEAKS: f32 = 0.45;

/// Drops the candidates that belong to something else.
pub(super) fn keep(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    if question.kind == AnswerKind::Duration {
        let matter = matter(question);
        scored.retain(|it| matter.is_empty() || speaks(pool, it, &matter));
    } else if question.class == Some(Asked::Money) {
        sums(question, pool, scored);
    }
}

/// Returns the places of the words that say what is asked, without who does it: "crutches" of "will Tom be on crutches".
fn matter(question: &Question) -> Vec<usize> {
    let tokens = text::words(&question.lower);
    let does = |it: &str| {
        tokens
            .windows(2)
            .any(|pair| is_auxiliary(pair[0]) && stem(pair[1]) == it)
    };
    let words = question.words.iter().enumerate();
    words
        .filter(|(_, it)| !(it.specific && does(&it.stem)))
        .map(|it| it.0)
        .collect()
}

/// Keeps the sums of money that are told near what they are asked for; none of another matter, and no other figure in its place.
fn sums(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    let other = |it: &Scored| other_sum(question, pool, it);
    if !scored.iter().all(other) {
        scored.retain(|it| !other(it));
    }
    let matter: Vec<usize> = matter(question)
        .into_iter()
        .filter(|it| is_thing(&question.words[*it]))
        .collect();
    let sum = |it: &Scored| it.grade == Grade::Right;
    if !matter.is_empty() && scored.iter().any(sum) {
        scored.retain(|it| sum(it) && around(pool, it, &matter));
    }
}

/// Says whether a figure is a sum that has a name of its own, other than is asked for: "the deposit of 90" is no price.
fn other_sum(question: &Question, pool: &Pool<'_>, it: &Scored) -> bool {
    let sentence = &pool.lines[it.span.line].sentences[it.span.sentence].text;
    let before: Vec<String> = text::words(&sentence[..it.span.start])
        .into_iter()
        .map(str::to_lowercase)
        .collect();
    let [.., sum, of] = before.as_slice() else { return false };
    let general = matches!(stem(sum).as_str(), "price" | "cost");
    let asked = question.words.iter().any(|word| word.stem == stem(sum));
    of == "of" && is(sum, Class::Sum) && !general && !asked
}

/// Says whether a word of a question about money is what the money is for.
fn is_thing(word: &Word) -> bool {
    let stem = word.stem.as_str();
    !word.verb && !person(stem) && !is(stem, Class::Paying) && !is(stem, Class::Sum) && !PRICED.contains(&stem)
}

/// Words of sums and of counting money, by stem.
const PRICED: [&str; 10] = [
    "price", "money", "total", "altogeth", "person", "month", "year", "euro", "dollar", "per",
];

/// Says whether one of the turns up to a candidate, or the next one, speaks of the matter.
fn around(pool: &Pool<'_>, it: &Scored, matter: &[usize]) -> bool {
    let of = |line: usize| matter.iter().any(|at| pool.lines[line].matches[*at] >= SPEAKS);
    pool.window(it.span.line, 3, 1).into_iter().any(of)
}

/// Says whether the turn of a candidate, or what it replies to, speaks of the matter.
fn speaks(pool: &Pool<'_>, it: &Scored, matter: &[usize]) -> bool {
    let of = |sentence: &Sentence| matter.iter().any(|at| sentence.matches[*at] >= SPEAKS);
    let asked = pool.said_before(it.span.line);
    let replies = |asked: &Sentence| of(asked) && (asked.question || it.span.sentence == 0);
    pool.lines[it.span.line].sentences.iter().any(of) || asked.is_some_and(replies)
}
