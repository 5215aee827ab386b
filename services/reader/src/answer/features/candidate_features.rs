//! The features of a candidate answer, as named numbers that fitted weights add up.

use std::collections::BTreeMap;

use domain::anchor::AnswerKind;
use text::is_stop;

use crate::answer::features::feature_indices::{self, NAMES};
use crate::answer::features::gap_features;
use crate::answer::features::grade::Grade;
use crate::answer::spans::{Shape, Span, Timed};
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::Sentence;
use crate::evidence::question::{Asked, Question};
use crate::evidence::word_classes::parse_number;
use crate::evidence::word_similarity::{Lexicon, Term, vector_of};

/// Returns the part of a weighted sum that comes from the candidate itself and not from its place.
pub(crate) fn score_without_place(row: &[f32], weights: &[f32]) -> f32 {
    row.iter()
        .zip(weights)
        .skip(feature_indices::PLACES)
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
pub(crate) struct ShownCandidate<'a> {
    pub(crate) text: &'a str,
    pub(crate) lower: &'a [String],
    pub(crate) stems: &'a [String],
    pub(crate) grade: Grade,
}

impl<'a> Context<'a> {
    pub(crate) fn new(question: &'a Question, pool: &'a Pool<'a>, spans: &[Span]) -> Context<'a> {
        let mut likeness = BTreeMap::new();
        for it in spans {
            let sentence = &pool.lines[it.line].sentences[it.sentence].text;
            let like = || text::dot_product(&question.vector, &vector_of(sentence));
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
    pub(crate) fn feature_row(&self, span: &Span, shown: &ShownCandidate<'_>, lexicon: &mut Lexicon) -> Vec<f32> {
        let mut row = vec![0.0; NAMES.len()];
        let sentence = &self.pool.lines[span.line].sentences[span.sentence];
        self.write_place_features(span, &mut row);
        write_nearness_features(sentence, span, &mut row);
        self.write_novelty_features(shown, &mut row, lexicon);
        self.write_form_features(span, shown, &mut row);
        gap_features::write_gap_features(self.question, sentence, span, &mut row);
        row
    }

    /// Writes the features of its place: how good the turn and the sentence are.
    fn write_place_features(&self, span: &Span, row: &mut [f32]) {
        let pool = self.pool;
        let line = &pool.lines[span.line];
        let sentence = &line.sentences[span.sentence];
        let rank = pool.by_order.iter().position(|&it| it == span.line).unwrap_or(9) as f32;
        let previous = span.sentence.checked_sub(1).map(|it| &line.sentences[it]);
        let sentence_before = previous.or_else(|| pool.said_before(span.line));
        row[feature_indices::RANK] = (-rank).exp();
        row[feature_indices::LEAD] = (line.order - pool.lines[pool.by_order[0]].order).max(-6.0);
        row[feature_indices::COVER] = sentence.cover / self.best;
        let like = self.likeness.get(&(span.line, span.sentence));
        row[feature_indices::SENTENCE_LIKE] = like.copied().unwrap_or_default();
        row[feature_indices::COVER_BEFORE] = sentence_before.map_or(0.0, |it| it.cover);
        row[feature_indices::REPLY] = sentence_before.filter(|it| it.question).map_or(0.0, |it| it.cover);
        row[feature_indices::OWNED] = sentence.subject - sentence.other;
        row[feature_indices::ASKS] = f32::from(sentence.question);
        row[feature_indices::CAPTION] = f32::from(sentence.caption);
    }

    /// Writes the features of new and repeated words: an answer contains something that the question does not.
    fn write_novelty_features(&self, shown: &ShownCandidate<'_>, row: &mut [f32], lexicon: &mut Lexicon) {
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
        row[feature_indices::NEW] = 1.0 - repeated as f32 / content.len() as f32;
        row[feature_indices::REPEATED] = repeated.min(3) as f32;
        row[feature_indices::ONE] = f32::from(content == ["one"]);
        // Each colour is a colour; a higher similarity of "grey" to that word means nothing.
        if question.head.is_empty() || question.class == Some(Asked::Colour) {
            return;
        }
        let is_headed = *last == question.head;
        row[feature_indices::HEADED] = f32::from(is_headed);
        row[feature_indices::HEAD] = if is_headed { 0.0 } else { lexicon.near_head(last) };
    }

    /// Writes the features of its form and of the word before it.
    fn write_form_features(&self, span: &Span, shown: &ShownCandidate<'_>, row: &mut [f32]) {
        let question = self.question;
        let counts_things = question.kind == AnswerKind::Number;
        let words = text::split_words(shown.text).len().max(1) as f32;
        let first = shown.lower.first().map_or("", String::as_str);
        let money = question.class == Some(Asked::Money);
        let terms = &self.pool.lines[span.line].sentences[span.sentence].terms;
        let want = if counts_things { 1.0 } else { 2.5 };
        let is_behind = matches!(
            span.before.as_str(),
            "a" | "an" | "some" | "is" | "are" | "was" | "were" | "like"
        );
        row[feature_indices::RIGHT] = f32::from(shown.grade == Grade::Right);
        row[feature_indices::LENGTH_OFF] = (words / want).ln().abs();
        row[feature_indices::YEAR] =
            f32::from(!money && parse_number(first).is_some_and(|it| it > 1900.0 && it < 2100.0));
        row[feature_indices::TIME] = match span.timed {
            Timed::No => 0.0,
            Timed::Part => 0.5,
            Timed::Whole => 1.0,
        };
        row[feature_indices::COUNTED] = f32::from(counts_things && counts_head_noun(terms, span.end, &question.head));
        row[feature_indices::BEHIND_IS] = f32::from(span.shape == Shape::Colour && is_behind);
        row[feature_indices::NUMBER] = f32::from(span.shape == Shape::Number);
        row[feature_indices::AMOUNT] = f32::from(span.shape == Shape::Amount);
        row[feature_indices::DURATION] = f32::from(span.shape == Shape::Duration);
    }
}

/// Distance in bytes over which the nearness to a question word falls by a factor of e.
const REACH: f32 = 15.0;

/// Writes the nearness to the question words. An answer is near them, mostly after them and after the verb.
fn write_nearness_features(sentence: &Sentence, span: &Span, row: &mut [f32]) {
    let outside = |it: &&(usize, bool)| it.0 < span.start || it.0 >= span.end;
    let gap = |from: usize, to: usize| (-(to.saturating_sub(from) as f32) / REACH).exp();
    for &(hit, verb) in sentence.hits.iter().filter(outside) {
        if hit >= span.end {
            row[feature_indices::BACK] = row[feature_indices::BACK].max(gap(span.end, hit));
            continue;
        }
        row[feature_indices::FRONT] = row[feature_indices::FRONT].max(gap(hit, span.start));
        if verb {
            row[feature_indices::VERB] = row[feature_indices::VERB].max(gap(hit, span.start));
        }
    }
}

/// Returns true if the head noun follows within 20 bytes of a number that ends at `end`, so that the number counts it.
pub(crate) fn counts_head_noun(terms: &[Term], end: usize, head: &str) -> bool {
    terms
        .iter()
        .filter(|it| it.start >= end && it.start < end + 20)
        .any(|it| it.stem == head)
}
