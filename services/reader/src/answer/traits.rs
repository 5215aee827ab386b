//! What can be said of a candidate answer, as named numbers that fitted weights add up.

use std::collections::BTreeMap;

use domain::anchor::AnswerKind;
use text::{Nouns, is_stop};

use super::gap;
use super::grade::Grade;
use super::lexis::number;
use super::slots::{self, Group, NAMES};
use super::spans::{Shape, Span, Timed};
use crate::pool::{Pool, Sentence};
use crate::question::{Asked, Question};
use crate::words::{Lexicon, Term, vector_of};

/// Says how much of a weighted sum comes from the candidate itself and not from where it stands.
pub(crate) fn fit(row: &[f32], weights: &[f32]) -> f32 {
    row.iter()
        .zip(weights)
        .skip(slots::PLACES)
        .map(|(it, weight)| it * weight)
        .sum()
}

/// What candidates are compared by beside themselves.
pub(crate) struct Context<'a> {
    pub(crate) question: &'a Question,
    pub(crate) pool: &'a Pool<'a>,
    /// Best cover of a sentence.
    best: f32,
    /// In how many turns a stem stands.
    turns: BTreeMap<&'a str, usize>,
    /// Cosine of a sentence to the question, by line and place.
    likeness: BTreeMap<(usize, usize), f32>,
}

/// A candidate as it would be shown.
pub(crate) struct Shown<'a> {
    pub(crate) text: &'a str,
    pub(crate) lower: &'a [String],
    pub(crate) stems: &'a [String],
    pub(crate) grade: Grade,
}

impl<'a> Context<'a> {
    pub(crate) fn of(question: &'a Question, pool: &'a Pool<'a>, spans: &[Span]) -> Context<'a> {
        let mut likeness = BTreeMap::new();
        for it in spans {
            let sentence = &pool.lines[it.line].sentences[it.sentence].text;
            let like = || text::dot(&question.vector, &vector_of(sentence));
            likeness.entry((it.line, it.sentence)).or_insert_with(like);
        }
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
            likeness,
        }
    }

    /// Returns the traits of a candidate.
    pub(crate) fn row(&self, span: &Span, shown: &Shown<'_>, lexicon: &mut Lexicon) -> Vec<f32> {
        let mut row = vec![0.0; NAMES.len()];
        self.place(span, &mut row);
        row[slots::RIGHT] = flag(shown.grade == Grade::Right);
        near(&self.pool.lines[span.line].sentences[span.sentence], span, &mut row);
        self.news(span, shown, &mut row, lexicon);
        self.form(span, shown, &mut row);
        self.class(span, shown, &mut row);
        before(self.question.kind, &span.before, &mut row);
        gap::fills(self.question, &self.pool.lines[span.line], span, &mut row);
        row[slots::shaped(group(self.question), span.shape)] = 1.0;
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
        row[slots::RANK] = (-rank).exp();
        row[slots::LEAD] = (line.order - pool.lines[pool.by_order[0]].order).max(-6.0);
        row[slots::COVER] = sentence.cover / self.best;
        let like = self.likeness.get(&(span.line, span.sentence));
        row[slots::SENTENCE_LIKE] = like.copied().unwrap_or_default();
        row[slots::COVER_BEFORE] = asked.map_or(0.0, |it| it.cover);
        row[slots::REPLY] = asked.filter(|it| it.question).map_or(0.0, |it| it.cover);
        row[slots::OWNED] = sentence.subject - sentence.other;
        row[slots::ASKS] = flag(sentence.question);
        row[slots::CAPTION] = flag(sentence.caption);
    }

    /// An answer says something that the question does not.
    fn news(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32], lexicon: &mut Lexicon) {
        let question = self.question;
        let content: Vec<&String> = shown.stems.iter().filter(|it| !is_stop(it)).collect();
        let figure = matches!(span.shape, Shape::Number | Shape::Amount | Shape::Duration);
        if content.is_empty() {
            row[slots::OLD] = flag(!figure);
            return;
        }
        let asked = |stem: &&&String| question.words.iter().any(|it| it.stem == ***stem);
        let repeated = content.iter().filter(asked).count();
        row[slots::NEW] = 1.0 - repeated as f32 / content.len() as f32;
        row[slots::REPEATED] = repeated.min(3) as f32;
        row[slots::OLD] = flag(repeated == content.len() && !figure);
        row[slots::LIGHT] = flag(content.iter().all(|it| LIGHT.contains(&it.as_str())));
        let all = (self.pool.lines.len() + 1) as f32;
        let rarity = |it: &&String| (all / (1 + self.turns.get(it.as_str()).copied().unwrap_or(0)) as f32).ln();
        row[slots::RARE] = content.iter().map(rarity).sum::<f32>() / (content.len() as f32 * all.ln().max(1.0));
        let last = content.last().map_or("", |it| it.as_str());
        let same = last == question.head;
        // Every colour is a colour; that "grey" is more like the word says nothing.
        let classed = question.class == Some(Asked::Colour);
        if !question.head.is_empty() && !same && !classed {
            row[slots::HEAD] = lexicon.near_head(last);
        }
        row[slots::SAME_HEAD] = flag(same && content.len() < 2);
        row[slots::HEADED] = flag(same && content.len() > 1);
    }

    /// Length, and words that only make sense to the one who spoke.
    fn form(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32]) {
        let words = text::words(shown.text);
        let has = |list: &[&str]| shown.lower.iter().any(|it| list.contains(&it.as_str()));
        let first = shown.lower.first().map_or("", String::as_str);
        let sentence = &self.pool.lines[span.line].sentences[span.sentence].text;
        let money = self.question.class == Some(Asked::Money);
        row[slots::LENGTH_OFF] = (words.len().max(1) as f32 / want(self.question)).ln().abs();
        row[slots::LENGTH] = (words.len().max(1) as f32).ln();
        row[slots::FIRST_PERSON] = flag(has(&["i", "me", "i'm", "i've", "my", "we", "our"]));
        row[slots::SECOND_PERSON] = flag(has(&["you", "your", "you're"]));
        row[slots::POINTS] = flag(POINTERS.contains(&first));
        row[slots::CAPITAL] =
            flag(span.length < 5 && words.iter().skip(1).any(|it| it.starts_with(char::is_uppercase)));
        row[slots::YEAR] = flag(!money && number(first).is_some_and(|it| it > 1900.0 && it < 2100.0));
        row[slots::WHOLE] = flag(span.end - span.start + 3 > sentence.len());
        row[slots::OPENS] = flag(span.start == 0);
        row[slots::TIME] = match span.timed {
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
        row[slots::COLOUR] = flag(asks(Asked::Colour) && shown.grade == Grade::Right);
        row[slots::NAMED] = flag(asks(Asked::Name) && span.shape == Shape::Name);
        row[slots::FIGURE] = flag(asks(Asked::Figure) && shown.lower.iter().any(digits));
        let terms = &self.pool.lines[span.line].sentences[span.sentence].terms;
        row[slots::COUNTED] = flag(question.kind == AnswerKind::Number && counts(terms, span.end, &question.head));
        let things = question.things.as_ref();
        row[slots::KIND_OF] =
            flag(things.is_some_and(|it| Nouns::builtin().has(it, &shown.lower[..phrase(shown.lower)])));
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

fn group(question: &Question) -> Group {
    match question.kind {
        AnswerKind::Number | AnswerKind::Duration => Group::Figure,
        AnswerKind::WhatIs
        | AnswerKind::Where
        | AnswerKind::Who
        | AnswerKind::Why
        | AnswerKind::How
        | AnswerKind::Kind
        | AnswerKind::WhatDoes
        | AnswerKind::Message
        | AnswerKind::When
        | AnswerKind::YesNo
        | AnswerKind::Other => Group::What,
    }
}

/// Words that an answer of the kind mostly has.
fn want(question: &Question) -> f32 {
    if question.kind == AnswerKind::Number { 1.0 } else { 2.5 }
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
            row[slots::BACK] = row[slots::BACK].max(gap(span.end, hit));
            continue;
        }
        row[slots::FRONT] = row[slots::FRONT].max(gap(hit, span.start));
        if verb {
            row[slots::VERB] = row[slots::VERB].max(gap(hit, span.start));
        }
    }
}

/// The word before a phrase often says what it is.
fn before(kind: AnswerKind, word: &str, row: &mut [f32]) {
    let what = kind == AnswerKind::WhatIs;
    row[slots::WHAT_CALLED] = flag(what && matches!(word, "called" | "named"));
    row[slots::WHAT_A] = flag(what && matches!(word, "a" | "an" | "some" | "is" | "are" | "was" | "were" | "like"));
}

/// The number that counts the head noun stands right before it.
pub(crate) fn counts(terms: &[Term], end: usize, head: &str) -> bool {
    terms
        .iter()
        .filter(|it| it.start >= end && it.start < end + 20)
        .any(|it| it.stem == head)
}
