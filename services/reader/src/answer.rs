//! Extractive question answering: short answers (times, figures and colours), copied word for word from the evidence.
//! Answers of other kinds are right too seldom to be given without a language model.

pub mod choices;
mod clause_values;
mod dates;
mod features;
mod selection;
mod spans;
pub(crate) mod stated_facts;
mod thing_in_question;

use domain::anchor::AnswerKind;
use domain::question::Slot;

use crate::answer::choices::Choices;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::question::{Asked, Question};
use crate::evidence::word_similarity::Lexicon;
use crate::feature_weights::Weights;
use features::grade::Grade;
use features::{feature_indices, measure};
use selection::choice;
use selection::score::{self, Scored};

pub(crate) use selection::score::strip_speaker_words;

/// An answer and the lines that support it.
#[derive(Clone, Debug)]
pub(crate) struct FoundAnswer {
    /// The short answer.
    pub(crate) text: String,
    /// Indices of the lines that support the answer, best first.
    pub(crate) lines: Vec<usize>,
    /// Share of the votes that the answer received, 0 to 1.
    pub(crate) share: f32,
    /// An explanation for the caller.
    pub(crate) reason: Option<String>,
    /// Whether the evidence gives another value that cannot be true at the same time.
    pub(crate) conflict: bool,
    /// Whether the evidence gives a reason to doubt the time of the answer.
    pub(crate) is_doubtful: bool,
    /// Confidence that a turn states the answer outright, 0 to 1. `None` if the answer was extracted from phrases.
    pub(crate) stated: Option<f32>,
}

/// Number of lines that are searched for an answer that is not a figure.
const LINES: usize = 6;

/// Number of lines that are searched for a figure. It is larger because fewer lines contain a figure.
const FIGURE_LINES: usize = 10;

/// Returns the answer, or `None` if the evidence contains no value of the wanted kind.
pub(crate) fn find_short_answer(
    question: &Question,
    pool: &Pool<'_>,
    weights: &Weights,
    lexicon: &mut Lexicon,
) -> Option<FoundAnswer> {
    match choose_method(question) {
        AnswerMethod::Time => dates::find_time(question, pool, &lines_to_search(question, pool), weights),
        AnswerMethod::Span => find_measure(question, pool, weights, lexicon).or_else(|| {
            let scored = score_candidates(question, pool, weights, lexicon);
            choice::choose_candidate(question, pool, scored, weights.heat)
        }),
        AnswerMethod::Open => None,
    }
}

/// Minimum cover of a line that states a measure, as a share of the cover of the best line.
const MEASURED: f32 = 0.75;

/// Returns a figure with a unit of the measure that the question asks for: "31 kilos" for "How heavy was it?".
fn find_measure(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Option<FoundAnswer> {
    let Some(Asked::Measure(measure)) = question.class else {
        return None;
    };
    let mut figure = question.clone();
    figure.read.kind = AnswerKind::Number;
    let least = MEASURED * pool.lines[*pool.by_order.first()?].cover;
    let mut scored = score_candidates(&figure, pool, weights, lexicon);
    scored.retain(|it| measure::has_unit_of_measure(measure, &it.text) && pool.lines[it.span.line].cover >= least);
    choice::choose_candidate(&figure, pool, scored, weights.heat)
}

/// The method by which a short answer is found.
enum AnswerMethod {
    /// The answer is a time.
    Time,
    /// The answer is a phrase of the evidence: a figure or a colour.
    Span,
    /// No short answer is given, because a short answer to such a question (a person, a place, a reason, a list, yes or
    /// no) is wrong too often.
    Open,
}

/// Returns true if the question is of a kind that can get a short answer.
pub(crate) fn is_short(question: &Question) -> bool {
    !matches!(choose_method(question), AnswerMethod::Open)
}

fn choose_method(question: &Question) -> AnswerMethod {
    let is_choice = question.options.len() == 2;
    let is_rate = question.class == Some(Asked::Rate) || question.slot == Some(Slot::Age);
    let is_figure = matches!(question.kind, AnswerKind::Number | AnswerKind::Duration)
        || matches!(question.class, Some(Asked::Measure(_)));
    let is_colour = question.kind == AnswerKind::WhatIs && question.class == Some(Asked::Colour);
    if question.kind == AnswerKind::When {
        AnswerMethod::Time
    } else if is_choice || is_rate || question.identity.is_some() {
        AnswerMethod::Open
    } else if is_figure || is_colour && !question.traits.plural {
        AnswerMethod::Span
    } else {
        AnswerMethod::Open
    }
}

fn lines_to_search(question: &Question, pool: &Pool<'_>) -> Vec<usize> {
    let figure = matches!(question.kind, AnswerKind::Number | AnswerKind::Duration);
    let count = if figure { FIGURE_LINES } else { LINES };
    // If the question names only a person and a time, only lines of that person can answer.
    let tells = |at: &usize| !question.only_when() || question.may_say(&pool.lines[*at].turn.actor);
    pool.by_order.iter().copied().filter(tells).take(count).collect()
}

/// Returns the scored candidates. If a sum of money is asked for and there are sums, only sums are returned.
fn score_candidates(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Vec<Scored> {
    let spans = spans::find_candidates(question, pool, &lines_to_search(question, pool));
    let mut scored = score::score_spans(question, pool, spans, &weights.spans, lexicon);
    thing_in_question::retain_values_of_thing_in_question(question, pool, &mut scored);
    let right = |it: &Scored| it.grade == Grade::Right;
    if question.class == Some(Asked::Money) && scored.iter().any(right) {
        scored.retain(right);
    }
    scored
}

/// Returns the candidates among which the answer is chosen.
pub(crate) fn collect_candidates(
    question: &Question,
    pool: &Pool<'_>,
    weights: &Weights,
    lexicon: &mut Lexicon,
) -> Choices {
    let lines = lines_to_search(question, pool);
    let mut out = Choices::default();
    match choose_method(question) {
        AnswerMethod::Time => {
            for it in dates::find_candidates(question, pool, &lines) {
                out.times.rows.push(it.row);
                out.times.items.push(vec![it.text]);
            }
        }
        AnswerMethod::Span => {
            for it in score_candidates(question, pool, weights, lexicon) {
                out.spans.rows.push(it.row);
                out.spans.items.push(vec![it.text]);
            }
        }
        AnswerMethod::Open => {}
    }
    out
}

/// Returns the names of the features by which an answer is chosen among the candidates.
pub(crate) fn span_names() -> &'static [&'static str] {
    feature_indices::NAMES
}

/// Returns the names of the features by which an answer is chosen among times.
pub(crate) fn time_names() -> &'static [&'static str] {
    dates::NAMES
}
