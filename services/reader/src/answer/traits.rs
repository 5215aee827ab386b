//! The features of a candidate answer, as named numbers that fitted weights add up.

use std::collections::BTreeMap;

use domain::anchor::AnswerKind;
use text::is_stop;

use super::gap;
use super::grade::Grade;
use super::lexis::number;
use super::slots::{self, NAMES};
use super::spans::{Shape, Span, Timed};
use crate::pool::{Pool, Sentence};
use crate::question::{Asked, Question};
use crate::words::{Lexicon, Term, vector_of};

/// Returns the part of a weighted sum that comes from the candidate itself and not from its place.
pub(crate) fn fit(row: &[f32], weights: &[f32]) -> f32 {
    row.iter()
        .zip(weights)
        .skip(slots::PLACES)
        .map(|(it, weight)| it * weight)
        .sum()
}

/// The question, the pool and values computed once for all candidates.
pub(crate) struct Context<'a> {
    pub(crate) question: &'a Question,
    pub(crate) pool: &'a Pool<'a>,
    /// Best cover of a sentence, at least 0.05.
    best: f32,
    /// Cosine of a sentence to the question, by line and sentence index.
    likeness: BTreeMap<(usize, usize), f32>,
}

/// A candidate as it is shown.
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
        let sentences = pool.lines.iter().flat_map(|it| &it.sentences);
        Context {
            question,
            pool,
            best: sentences.map(|it| it.cover).fold(0.05, f32::max),
            likeness,
        }
    }

    /// Returns the features of a candidate, in the order of [`NAMES`].
    pub(crate) fn row(&self, span: &Span, shown: &Shown<'_>, lexicon: &mut Lexicon) -> Vec<f32> {
        let mut row = vec![0.0; NAMES.len()];
        let sentence = &self.pool.lines[span.line].sentences[span.sentence];
        self.place(span, &mut row);
        near(sentence, span, &mut row);
        self.news(shown, &mut row, lexicon);
        self.form(span, shown, &mut row);
        gap::fills(self.question, sentence, span, &mut row);
        row
    }

    /// Writes the features of its place: how good the turn and the sentence are.
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

    /// Writes the features of new and repeated words: an answer contains something that the question does not.
    fn news(&self, shown: &Shown<'_>, row: &mut [f32], lexicon: &mut Lexicon) {
        let question = self.question;
        let content: Vec<&str> = shown
            .stems
            .iter()
            .map(String::as_str)
            .filter(|it| !is_stop(it))
            .collect();
        let Some(last) = content.last() else { return };
        let repeated = content
            .iter()
            .filter(|stem| question.words.iter().any(|it| it.stem == **stem))
            .count();
        row[slots::NEW] = 1.0 - repeated as f32 / content.len() as f32;
        row[slots::REPEATED] = repeated.min(3) as f32;
        row[slots::ONE] = flag(content == ["one"]);
        // Each colour is a colour; a higher similarity of "grey" to that word means nothing.
        if question.head.is_empty() || question.class == Some(Asked::Colour) {
            return;
        }
        let is_headed = *last == question.head;
        row[slots::HEADED] = flag(is_headed);
        row[slots::HEAD] = if is_headed { 0.0 } else { lexicon.near_head(last) };
    }

    /// Writes the features of its form and of the word before it.
    fn form(&self, span: &Span, shown: &Shown<'_>, row: &mut [f32]) {
        let question = self.question;
        let counts_things = question.kind == AnswerKind::Number;
        let words = text::words(shown.text).len().max(1) as f32;
        let first = shown.lower.first().map_or("", String::as_str);
        let money = question.class == Some(Asked::Money);
        let terms = &self.pool.lines[span.line].sentences[span.sentence].terms;
        let want = if counts_things { 1.0 } else { 2.5 };
        let is_behind = matches!(
            span.before.as_str(),
            "a" | "an" | "some" | "is" | "are" | "was" | "were" | "like"
        );
        row[slots::RIGHT] = flag(shown.grade == Grade::Right);
        row[slots::LENGTH_OFF] = (words / want).ln().abs();
        row[slots::YEAR] = flag(!money && number(first).is_some_and(|it| it > 1900.0 && it < 2100.0));
        row[slots::TIME] = match span.timed {
            Timed::No => 0.0,
            Timed::Part => 0.5,
            Timed::Whole => 1.0,
        };
        row[slots::COUNTED] = flag(counts_things && counts(terms, span.end, &question.head));
        row[slots::BEHIND_IS] = flag(span.shape == Shape::Colour && is_behind);
        row[slots::NUMBER] = flag(span.shape == Shape::Number);
        row[slots::AMOUNT] = flag(span.shape == Shape::Amount);
        row[slots::DURATION] = flag(span.shape == Shape::Duration);
    }
}

pub(super) fn flag(it: bool) -> f32 {
    f32::from(u8::from(it))
}

/// Distance in bytes at which the nearness to a question word falls by a factor e.
const REACH: f32 = 15.0;

/// Writes the nearness to the question words. An answer is near them, mostly after them and after the verb.
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

/// Returns true if the head noun follows within 20 bytes of a number that ends at `end`, so that the number counts it.
pub(crate) fn counts(terms: &[Term], end: usize, head: &str) -> bool {
    terms
        .iter()
        .filter(|it| it.start >= end && it.start < end + 20)
        .any(|it| it.stem == head)
}
