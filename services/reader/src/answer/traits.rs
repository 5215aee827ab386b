//! What can be said of a candidate answer, as named numbers that fitted weights add up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use domain::anchor::AnswerKind;
use text::{Nouns, is_stop};

use super::gap;
use super::grade::Grade;
use super::lexis::number;
use super::spans::{Shape, Span, Timed};
use crate::pool::{Pool, Sentence};
use crate::question::{Asked, Question};
use crate::words::{Lexicon, Term};

/// Names of the traits of any candidate, in their order. The first [`PLACES`] only depend on where it stands.
const PLAIN: [&str; 47] = [
    "rank",
    "lead",
    "cover",
    "cover_before",
    "reply",
    "owned",
    "asks",
    "caption",
    "right",
    "front",
    "back",
    "verb",
    "new",
    "repeated",
    "old",
    "light",
    "rare",
    "head",
    "same_head",
    "headed",
    "length_off",
    "length",
    "first_person",
    "second_person",
    "points",
    "capital",
    "year",
    "bare_verb",
    "whole",
    "opens",
    "time",
    "colour",
    "named",
    "figure",
    "counted",
    "kind_of",
    "why_because",
    "why_to",
    "where_in",
    "who_with",
    "how_by",
    "what_called",
    "what_a",
    "agent",
    "tail",
    "stands_for",
    "denied",
];
/// How many of the first traits say where a candidate stands.
const PLACES: usize = 8;
const RIGHT: usize = 8;
const NEAR: usize = 9;
const NEWS: usize = 12;
const FORM: usize = 20;
const CLASS: usize = 31;
const KIND: usize = 35;
const BEFORE: usize = 36;
const GAP: usize = 43;

const GROUPS: [&str; 9] = [
    "where", "who", "why", "feeling", "how", "kind", "does", "what", "figure",
];
const SHAPES: [(Shape, &str); 13] = [
    (Shape::Phrase, "phrase"),
    (Shape::Extended, "extended"),
    (Shape::Joined, "joined"),
    (Shape::Action, "action"),
    (Shape::Place, "place"),
    (Shape::Reason, "reason"),
    (Shape::Clause, "clause"),
    (Shape::Number, "number"),
    (Shape::Amount, "amount"),
    (Shape::Duration, "duration"),
    (Shape::Rate, "rate"),
    (Shape::Name, "name"),
    (Shape::Quote, "quote"),
];

/// Names of all traits, in their order: the plain ones, then every shape for every group of questions.
pub(crate) static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let shaped = GROUPS
        .iter()
        .flat_map(|group| SHAPES.iter().map(move |shape| format!("{group}:{}", shape.1)));
    PLAIN.iter().map(|it| (*it).to_owned()).chain(shaped).collect()
});

/// Says how much of a weighted sum comes from the candidate itself and not from where it stands.
pub(crate) fn fit(row: &[f32], weights: &[f32]) -> f32 {
    row.iter()
        .zip(weights)
        .skip(PLACES)
        .map(|(it, weight)| it * weight)
        .sum()
}

/// Says whether a candidate is of the kind that the question names.
pub(crate) fn of_kind(row: &[f32]) -> bool {
    row[KIND] > 0.0
}

/// What candidates are compared by beside themselves.
pub(crate) struct Context<'a> {
    pub(crate) question: &'a Question,
    pub(crate) pool: &'a Pool<'a>,
    /// Best cover of a sentence.
    best: f32,
    /// In how many turns a stem stands.
    turns: BTreeMap<&'a str, usize>,
}

/// A candidate as it would be shown.
pub(crate) struct Shown<'a> {
    pub(crate) text: &'a str,
    pub(crate) lower: &'a [String],
    pub(crate) stems: &'a [String],
    pub(crate) grade: Grade,
}

impl<'a> Context<'a> {
    pub(crate) fn of(question: &'a Question, pool: &'a Pool<'a>) -> Context<'a> {
        let sentences = || pool.lines.iter().flat_map(|it| &it.sentences);
        let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
        for line in &pool.lines {
            let mut stems: Vec<&str> = line
                .sentences
                .iter()
                .flat_map(|it| &it.terms)
                .map(|it| it.stem.as_str())
                .collect();
            stems.sort_unstable();
            stems.dedup();
            stems.into_iter().for_each(|it| *turns.entry(it).or_default() += 1);
        }
        Context {
            question,
            pool,
            best: sentences().map(|it| it.cover).fold(0.05, f32::max),
            turns,
        }
    }

    /// Returns the traits of a candidate.
    pub(crate) fn row(&self, span: &Span, shown: &Shown<'_>, lexicon: &mut Lexicon) -> Vec<f32> {
        let mut row = vec![0.0; NAMES.len()];
        self.place(span, &mut row);
        row[RIGHT] = flag(shown.grade == Grade::Right);
        near(
            &self.pool.lines[span.line].sentences[span.sentence],
            span,
            &mut row[NEAR..NEWS],
        );
        self.news(span, shown, &mut row[NEWS..FORM], lexicon);
        self.form(span, shown, &mut row[FORM..CLASS]);
        self.class(span, shown, &mut row[CLASS..BEFORE]);
        before(self.question.kind, &span.before, &mut row[BEFORE..GAP]);
        row[GAP..PLAIN.len()].copy_from_slice(&gap::fills(self.question, &self.pool.lines[span.line], span));
        let shape = SHAPES.iter().position(|it| it.0 == span.shape).unwrap_or_default();
        row[PLAIN.len() + group(self.question) * SHAPES.len() + shape] = 1.0;
        row
    }

    /// Where it stands: how good the turn and the sentence are.
    fn place(&self, span: &Span, row: &mut [f32]) {
        let pool = self.pool;
        let line = &pool.lines[span.line];
        let sentence = &line.sentences[span.sentence];
        let rank = pool.by_order.iter().position(|&it| it == span.line).unwrap_or(9) as f32;
        let previous = span.sentence.checked_sub(1).map(|it| &line.sentences[it]);
        let asked = previous.or_else(|| pool.said_before(span.line));
        row[0] = (-rank).exp();
        row[1] = (line.order - pool.lines[pool.by_order[0]].order).max(-6.0);
        row[2] = sentence.cover / self.best;
        row[3] = asked.map_or(0.0, |it| it.cover);
        row[4] = asked.filter(|it| it.question).map_or(0.0, |it| it.cover);
        row[5] = sentence.subject - sentence.other;
        row[6] = flag(sentence.question);
        row[7] = flag(sentence.caption);
    }

    /// An answer says something that the question does not.
    fn news(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32], lexicon: &mut Lexicon) {
        let question = self.question;
        let content: Vec<&String> = shown.stems.iter().filter(|it| !is_stop(it)).collect();
        let figure = matches!(
            span.shape,
            Shape::Number | Shape::Amount | Shape::Duration | Shape::Rate
        );
        if content.is_empty() {
            row[2] = flag(!figure);
            return;
        }
        let asked = |stem: &&&String| question.words.iter().any(|it| it.stem == ***stem);
        let repeated = content.iter().filter(asked).count();
        row[0] = 1.0 - repeated as f32 / content.len() as f32;
        row[1] = repeated.min(3) as f32;
        row[2] = flag(repeated == content.len() && !figure);
        row[3] = flag(content.iter().all(|it| LIGHT.contains(&it.as_str())));
        let all = (self.pool.lines.len() + 1) as f32;
        let rarity = |it: &&String| (all / (1 + self.turns.get(it.as_str()).copied().unwrap_or(0)) as f32).ln();
        row[4] = content.iter().map(rarity).sum::<f32>() / (content.len() as f32 * all.ln().max(1.0));
        let last = content.last().map_or("", |it| it.as_str());
        let same = last == question.head;
        // Every colour is a colour; that "grey" is more like the word says nothing.
        let classed = question.class == Some(Asked::Colour);
        if !question.head.is_empty() && !same && !classed {
            row[5] = lexicon.near(last, &question.head);
        }
        row[6] = flag(same && content.len() < 2);
        row[7] = flag(same && content.len() > 1 && (span.shape != Shape::Joined || question.plural));
    }

    /// Length, and words that only make sense to the one who spoke.
    fn form(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32]) {
        let words = text::words(shown.text);
        let has = |list: &[&str]| shown.lower.iter().any(|it| list.contains(&it.as_str()));
        let first = shown.lower.first().map_or("", String::as_str);
        let sentence = &self.pool.lines[span.line].sentences[span.sentence].text;
        let money = self.question.class == Some(Asked::Money);
        row[0] = (words.len().max(1) as f32 / want(self.question)).ln().abs();
        row[1] = (words.len().max(1) as f32).ln();
        row[2] = flag(has(&["i", "me", "i'm", "i've", "my", "we", "our"]));
        row[3] = flag(has(&["you", "your", "you're"]));
        row[4] = flag(POINTERS.contains(&first));
        row[5] = flag(span.length < 5 && words.iter().skip(1).any(|it| it.starts_with(char::is_uppercase)));
        row[6] = flag(!money && number(first).is_some_and(|it| it > 1900.0 && it < 2100.0));
        row[7] = flag(span.shape == Shape::Action && span.length == 1);
        row[8] = flag(span.end - span.start + 3 > sentence.len());
        row[9] = flag(span.start == 0);
        row[10] = match span.timed {
            Timed::No => 0.0,
            Timed::Part => 0.5,
            Timed::Whole => 1.0,
        };
    }

    /// Some questions name the class of their answer: a colour, a name, a figure.
    fn class(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32]) {
        let question = self.question;
        let asks = |it: Asked| question.class == Some(it);
        let digits = |it: &String| number(it).is_some() || it.chars().any(|it| it.is_ascii_digit());
        row[0] = flag(asks(Asked::Colour) && shown.grade == Grade::Right);
        row[1] = flag(asks(Asked::Name) && matches!(span.shape, Shape::Name | Shape::Quote));
        row[2] = flag(asks(Asked::Figure) && shown.lower.iter().any(digits));
        let terms = &self.pool.lines[span.line].sentences[span.sentence].terms;
        row[3] = flag(question.kind == AnswerKind::Number && counts(terms, span.end, &question.head));
        // "Play the accordion" is no instrument.
        let noun = !matches!(span.shape, Shape::Action | Shape::Clause | Shape::Reason);
        let things = question.things.as_ref().filter(|_| noun);
        row[4] = flag(things.is_some_and(|it| Nouns::builtin().has(it, &shown.lower[..phrase(shown.lower)])));
    }
}

/// Length of the first phrase, whose last word says what it is: "sage" of "sage for the soup".
pub(super) fn phrase(words: &[String]) -> usize {
    let ends = |it: &String| is_stop(it) && it != "the";
    words.iter().skip(1).position(ends).map_or(words.len(), |it| it + 1)
}

pub(super) fn flag(it: bool) -> f32 {
    f32::from(u8::from(it))
}

fn group(question: &Question) -> usize {
    match question.kind {
        AnswerKind::Where => 0,
        AnswerKind::Who => 1,
        AnswerKind::Why => 2,
        AnswerKind::How if question.feeling => 3,
        AnswerKind::How => 4,
        AnswerKind::Kind => 5,
        AnswerKind::WhatDoes => 6,
        AnswerKind::WhatIs | AnswerKind::Message | AnswerKind::When | AnswerKind::YesNo | AnswerKind::Other => 7,
        AnswerKind::Number | AnswerKind::Duration => 8,
    }
}

/// Words that an answer of the kind mostly has.
fn want(question: &Question) -> f32 {
    match question.kind {
        AnswerKind::Why => 6.0,
        AnswerKind::How if question.feeling => 3.5,
        AnswerKind::How => 6.0,
        AnswerKind::WhatDoes => 4.5,
        AnswerKind::Number => 1.0,
        AnswerKind::Message
        | AnswerKind::When
        | AnswerKind::Duration
        | AnswerKind::Where
        | AnswerKind::Who
        | AnswerKind::Kind
        | AnswerKind::YesNo
        | AnswerKind::WhatIs
        | AnswerKind::Other => 2.5,
    }
}

const POINTERS: &[&str] = &[
    "it", "that", "this", "they", "he", "she", "there", "it's", "that's", "these", "those",
];

/// Words that alone say nothing: "by the way", "of course", "a lot".
const LIGHT: &[&str] = &[
    "way", "cours", "lot", "bit", "stuff", "problem", "kind", "sort", "one", "ton", "bunch", "guy", "thing",
];

/// Bytes in which the nearness to a word of the question falls by a factor e.
const REACH: f32 = 15.0;

/// An answer stands near the words of the question, mostly after them and after the verb.
fn near(sentence: &Sentence, span: &Span, row: &mut [f32]) {
    let outside = |it: &&(usize, bool)| it.0 < span.start || it.0 >= span.end;
    let gap = |from: usize, to: usize| (-(to.saturating_sub(from) as f32) / REACH).exp();
    for &(hit, verb) in sentence.hits.iter().filter(outside) {
        if hit >= span.end {
            row[1] = row[1].max(gap(span.end, hit));
            continue;
        }
        row[0] = row[0].max(gap(hit, span.start));
        if verb {
            row[2] = row[2].max(gap(hit, span.start));
        }
    }
}

/// The word before a phrase often says what it is.
fn before(kind: AnswerKind, word: &str, row: &mut [f32]) {
    let what = matches!(
        kind,
        AnswerKind::Kind | AnswerKind::WhatIs | AnswerKind::WhatDoes | AnswerKind::Other
    );
    row[0] = flag(kind == AnswerKind::Why && matches!(word, "because" | "since"));
    row[1] = flag(kind == AnswerKind::Why && matches!(word, "to" | "so"));
    row[2] = flag(kind == AnswerKind::Where && matches!(word, "in" | "at" | "to" | "from" | "near" | "visited"));
    row[3] = flag(kind == AnswerKind::Who && matches!(word, "with" | "my" | "by" | "from"));
    row[4] = flag(kind == AnswerKind::How && matches!(word, "by" | "through" | "so" | "really"));
    row[5] = flag(what && matches!(word, "called" | "named"));
    row[6] = flag(what && matches!(word, "a" | "an" | "some" | "is" | "are" | "was" | "were" | "like"));
}

/// The number that counts the head noun stands right before it.
pub(crate) fn counts(terms: &[Term], end: usize, head: &str) -> bool {
    terms
        .iter()
        .filter(|it| it.start >= end && it.start < end + 20)
        .any(|it| it.stem == head)
}
