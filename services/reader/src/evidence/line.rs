//! A line of evidence: a turn with its measures.

use std::ops::Deref;
use std::sync::Arc;

use domain::evidence::Turn;

use crate::evidence::question::Question;
use crate::evidence::text_readings::{SentenceReading, TextReading};

/// A sentence of a turn, compared with the question.
pub(crate) struct Sentence {
    /// The properties that do not depend on the question.
    pub(crate) reading: Arc<SentenceReading>,
    /// Byte offset of each word that is similar to a question word, and whether that question word is the verb.
    pub(crate) hits: Vec<(usize, bool)>,
    /// Index of the question word of each of `hits`.
    pub(crate) hit_words: Vec<usize>,
    /// Best similarity to each question word, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// Weighted share of the question that it covers, 0 to 1.
    pub(crate) cover: f32,
    /// How far it is about the subject, 0 to 1; 1 if the question has no subject.
    pub(crate) subject: f32,
    /// How far it is about others, 0 to 1.
    pub(crate) other: f32,
}

impl Deref for Sentence {
    type Target = SentenceReading;

    fn deref(&self) -> &SentenceReading {
        &self.reading
    }
}

/// A turn and its place in the pool.
pub(crate) struct Line<'a> {
    /// The turn.
    pub(crate) turn: &'a Turn,
    /// The properties of its text that do not depend on the question.
    pub(crate) reading: Arc<TextReading>,
    /// Rank of its scene, from 0; `None` if the turn only surrounds other turns.
    pub(crate) rank: Option<usize>,
    /// Whether the pack shows it.
    pub(crate) packed: bool,
    /// Index of the turn before it in its session, if it is in the pool.
    pub(crate) previous: Option<usize>,
    /// Index of the turn after it in its session, if it is in the pool.
    pub(crate) next: Option<usize>,
    /// Its sentences, the caption last.
    pub(crate) sentences: Vec<Sentence>,
    /// Best similarity to each question word, 0 to 1.
    pub(crate) matches: Vec<f32>,
    /// How well its words answer, see [`super::rank::compute_measures`].
    pub(crate) measures: [f32; 8],
    /// Weighted sum of the measures, about 0 to 12.
    pub(crate) height: f32,
    /// Share of the question that its words cover, 0 to 1.
    pub(crate) cover: f32,
    /// Cosine to the bare question.
    pub(crate) likeness: f32,
    /// Ownership weighted by cover: 1 if all of it is about the subject, -1 if all of it is about others.
    pub(crate) own: f32,
    /// The features of `order`, see [`super::rank::feature_row`].
    pub(crate) row: Vec<f32>,
    /// Logit of answering, from the measures, ownership, kind and the router's probability.
    pub(crate) order: f32,
}

pub(crate) fn question_cover(matches: &[f32], question: &Question) -> f32 {
    matches
        .iter()
        .zip(&question.words)
        .map(|(it, word)| it * word.weight)
        .sum()
}
