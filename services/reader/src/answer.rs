//! Short answers, copied word for word from the evidence: times, figures and colours. Answers of other kinds are right
//! too seldom to be given without a language model.

mod amount;
mod bound;
mod change;
mod choose;
mod dates;
mod gap;
mod grade;
mod lexis;
mod score;
mod slots;
mod spans;
mod traits;

use domain::anchor::AnswerKind;
use domain::question::Slot;

use crate::choices::Choices;
use crate::measure;
use crate::pool::Pool;
use crate::question::{Asked, Question};
use crate::weights::Weights;
use crate::words::Lexicon;
use grade::Grade;
use score::Scored;

pub(crate) use amount::{mass, money};
pub(crate) use lexis::{number, person};
pub(crate) use score::shown;

/// An answer and the lines that support it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The short answer.
    pub(crate) text: String,
    /// Indices of the lines that support it, best first.
    pub(crate) lines: Vec<usize>,
    /// Share of the votes that the answer received, 0 to 1.
    pub(crate) share: f32,
    /// An explanation for the caller.
    pub(crate) reason: Option<String>,
    /// Whether the evidence gives another value that cannot be true at the same time.
    pub(crate) conflict: bool,
    /// Confidence that a turn states the answer outright, 0 to 1. `None` if the answer was extracted from phrases.
    pub(crate) stated: Option<f32>,
}

/// Number of lines that are searched for an answer.
const LINES: usize = 6;

/// ... or for a figure, which fewer lines contain.
const FIGURE_LINES: usize = 10;

/// Returns the answer, or `None` if the evidence contains no value of the wanted kind.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Option<Found> {
    match way(question) {
        Way::Time => dates::find(question, pool, &lines(question, pool), weights),
        Way::Span => measured(question, pool, weights, lexicon).or_else(|| {
            let scored = scored(question, pool, weights, lexicon);
            choose::choose(question, pool, scored, weights.heat)
        }),
        Way::Open => None,
    }
}

/// Least cover of a line that states a measure, as a share of the cover of the best line.
const MEASURED: f32 = 0.75;

/// Returns a figure with a unit of the measure that the question asks for: "31 kilos" for "How heavy was it?".
fn measured(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Option<Found> {
    let Some(Asked::Measure(measure)) = question.class else {
        return None;
    };
    let mut figure = question.clone();
    figure.read.kind = AnswerKind::Number;
    let least = MEASURED * pool.lines[*pool.by_order.first()?].cover;
    let mut scored = scored(&figure, pool, weights, lexicon);
    scored.retain(|it| measure::takes(measure, &it.text) && pool.lines[it.span.line].cover >= least);
    choose::choose(&figure, pool, scored, weights.heat)
}

/// How an answer is found.
enum Way {
    /// As a time.
    Time,
    /// As a figure or a colour.
    Span,
    /// Not at all: a short answer to such a question (a person, a place, a reason, a list, yes or no) cannot be
    /// trusted.
    Open,
}

/// Returns true if the question is of a kind that can get a short answer.
pub(crate) fn is_short(question: &Question) -> bool {
    !matches!(way(question), Way::Open)
}

fn way(question: &Question) -> Way {
    let is_choice = question.options.len() == 2;
    let is_rate = question.class == Some(Asked::Rate) || question.slot == Some(Slot::Age);
    let is_figure = matches!(question.kind, AnswerKind::Number | AnswerKind::Duration)
        || matches!(question.class, Some(Asked::Measure(_)));
    let is_colour = question.kind == AnswerKind::WhatIs && question.class == Some(Asked::Colour);
    if question.kind == AnswerKind::When {
        Way::Time
    } else if is_choice || is_rate || question.identity.is_some() {
        Way::Open
    } else if is_figure || is_colour && !question.traits.plural {
        Way::Span
    } else {
        Way::Open
    }
}

fn lines(question: &Question, pool: &Pool<'_>) -> Vec<usize> {
    let figure = matches!(question.kind, AnswerKind::Number | AnswerKind::Duration);
    let count = if figure { FIGURE_LINES } else { LINES };
    // If the question names only a person and a time, only lines of that person can answer.
    let tells = |at: &usize| !question.only_when() || question.may_say(&pool.lines[*at].turn.actor);
    pool.by_order.iter().copied().filter(tells).take(count).collect()
}

/// Returns the scored candidates. If a sum of money is asked for and there are sums, only sums are returned.
fn scored(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Vec<Scored> {
    let spans = spans::candidates(question, pool, &lines(question, pool));
    let mut scored = score::score(question, pool, spans, &weights.spans, lexicon);
    bound::keep(question, pool, &mut scored);
    let right = |it: &Scored| it.grade == Grade::Right;
    if question.class == Some(Asked::Money) && scored.iter().any(right) {
        scored.retain(right);
    }
    scored
}

/// Returns the candidates among which the answer is chosen.
pub(crate) fn choices(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Choices {
    let lines = lines(question, pool);
    let mut out = Choices::default();
    match way(question) {
        Way::Time => {
            for it in dates::candidates(question, pool, &lines) {
                out.times.rows.push(it.row);
                out.times.items.push(vec![it.text]);
            }
        }
        Way::Span => {
            for it in scored(question, pool, weights, lexicon) {
                out.spans.rows.push(it.row);
                out.spans.items.push(vec![it.text]);
            }
        }
        Way::Open => {}
    }
    out
}

/// Returns the names of the features that the choice among candidates weighs.
pub(crate) fn span_names() -> &'static [&'static str] {
    slots::NAMES
}

/// Returns the names of the features that the choice among times weighs.
pub(crate) fn time_names() -> &'static [&'static str] {
    dates::NAMES
}
