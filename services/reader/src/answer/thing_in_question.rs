//! Selects the candidates that belong to the question: a length of time or a sum of money must be about the thing in
//! question. A value of another thing is no answer, however high it scores.

use domain::anchor::AnswerKind;
use text::lexicon::{Class, is_in_class};
use text::{is_auxiliary, stem_word};

use crate::answer::clause_values::SEPARATORS;
use crate::answer::features::grade::Grade;
use crate::answer::selection::score::Scored;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::Sentence;
use crate::evidence::question::{Asked, Question, Word};
use crate::evidence::word_classes::is_person_word;
use crate::word_lists::SUM_STEMS;

/// Minimum similarity at which a word has the same topic as a word of the question.
const SPEAKS: f32 = 0.45;

/// Removes the candidates that belong to another thing.
pub(super) fn retain_values_of_thing_in_question(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    retain_values_of_variant(question, pool, scored);
    if question.kind == AnswerKind::Duration {
        let matter = indices_of_thing_words(question);
        scored.retain(|it| matter.is_empty() || mentions_thing(pool, it, &matter));
    } else if question.class == Some(Asked::Money) {
        retain_asked_sums(question, pool, scored);
    }
}

/// Removes the values of another variant of the thing if the same sentence names the variant in question: "My old flat had
/// three rooms, the new one has two". Also removes "one" if it replaces the word for the thing. After "the new flat",
/// "the flat" is the same one.
fn retain_values_of_variant(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    let stems = |part: &str| -> Vec<String> { text::split_words(part).into_iter().map(stem_word).collect() };
    for pair in question.words.windows(2).filter(|it| it[1].adjoins && !it[0].verb) {
        let (variant, thing) = (pair[0].stem.as_str(), pair[1].stem.as_str());
        scored.retain(|it| {
            let word_before = stem_word(&it.span.before);
            // "One" is a count in "got one bottle", and replaces the word for the thing in "the white one".
            let is_count = |pair: &[String]| it.text.eq_ignore_ascii_case("one") && pair[0] == word_before;
            let is_variant_of_thing =
                |pair: &[String]| (pair[1] == thing || pair[1] == "one" && !is_count(pair)) && !text::is_stop(&pair[0]);
            let sentence = &pool.lines[it.span.line].sentences[it.span.sentence].text;
            let clause = stems(clause_around(sentence, it.span.start));
            let sentence = stems(sentence);
            let names = |noun: &str| sentence.windows(2).any(|it| it[0] == variant && it[1] == noun);
            let names_other = (names(thing) || names("one")) && clause.windows(2).any(is_variant_of_thing)
                || names("one") && clause.iter().any(|it| it == thing);
            let is_of_other = names_other && !clause.iter().any(|it| it == variant);
            let is_pronoun = it.text.eq_ignore_ascii_case("one") && word_before == variant;
            !is_of_other && !is_pronoun
        });
    }
}

/// Returns the clause around a byte offset of a sentence.
fn clause_around(sentence: &str, at: usize) -> &str {
    let (before, after) = sentence.split_at(at);
    let start = SEPARATORS.iter().filter_map(|it| Some(before.rfind(it)? + it.len()));
    let end = SEPARATORS.iter().filter_map(|it| Some(at + after.find(it)?));
    &sentence[start.max().unwrap_or(0)..end.min().unwrap_or(sentence.len())]
}

/// Returns the indices of the question words that name the thing in question, without the person who acts: "crutches"
/// of "will Tom be on crutches".
fn indices_of_thing_words(question: &Question) -> Vec<usize> {
    let tokens = text::split_words(&question.lower);
    let does = |it: &str| {
        tokens
            .windows(2)
            .any(|pair| is_auxiliary(pair[0]) && stem_word(pair[1]) == it)
    };
    let words = question.words.iter().enumerate();
    words
        .filter(|(_, it)| !(it.specific && does(&it.stem)))
        .map(|it| it.0)
        .collect()
}

/// Keeps the sums of money that occur near the thing in question. Removes sums of other things; other figures do not
/// take their place.
fn retain_asked_sums(question: &Question, pool: &Pool<'_>, scored: &mut Vec<Scored>) {
    let other = |it: &Scored| other_sum(question, pool, it);
    if !scored.iter().all(other) {
        scored.retain(|it| !other(it));
    }
    let matter: Vec<usize> = indices_of_thing_words(question)
        .into_iter()
        .filter(|it| is_thing(&question.words[*it]))
        .collect();
    let sum = |it: &Scored| it.grade == Grade::Right;
    if !matter.is_empty() && scored.iter().any(sum) {
        scored.retain(|it| sum(it) && mentions_thing_nearby(pool, it, &matter));
    }
}

/// Returns true if a figure is a sum with its own name that the question does not ask for: "the deposit of 90" is
/// no price.
fn other_sum(question: &Question, pool: &Pool<'_>, it: &Scored) -> bool {
    let sentence = &pool.lines[it.span.line].sentences[it.span.sentence].text;
    let before: Vec<String> = text::split_words(&sentence[..it.span.start])
        .into_iter()
        .map(str::to_lowercase)
        .collect();
    let [.., sum, of] = before.as_slice() else { return false };
    let general = matches!(stem_word(sum).as_str(), "price" | "cost");
    let is_in_question = question.words.iter().any(|word| word.stem == stem_word(sum));
    of == "of" && is_in_class(sum, Class::Sum) && !general && !is_in_question
}

/// Returns true if a word of a question about money names the thing that costs the money.
fn is_thing(word: &Word) -> bool {
    let stem = word.stem.as_str();
    !word.verb
        && !is_person_word(stem)
        && !is_in_class(stem, Class::Paying)
        && !is_in_class(stem, Class::Sum)
        && !SUM_STEMS.contains(stem)
}

/// Returns true if the turn of the candidate, one of the three turns before it or the next turn mentions the thing in
/// question.
fn mentions_thing_nearby(pool: &Pool<'_>, it: &Scored, matter: &[usize]) -> bool {
    let of = |line: usize| matter.iter().any(|at| pool.lines[line].matches[*at] >= SPEAKS);
    pool.window_around(it.span.line, 3, 1).into_iter().any(of)
}

/// Returns true if the turn of a candidate, or the sentence that it replies to, mentions the thing in question.
fn mentions_thing(pool: &Pool<'_>, it: &Scored, matter: &[usize]) -> bool {
    let of = |sentence: &Sentence| matter.iter().any(|at| sentence.matches[*at] >= SPEAKS);
    let sentence_before = pool.said_before(it.span.line);
    let replies =
        |sentence_before: &Sentence| of(sentence_before) && (sentence_before.question || it.span.sentence == 0);
    pool.lines[it.span.line].sentences.iter().any(of) || sentence_before.is_some_and(replies)
}
