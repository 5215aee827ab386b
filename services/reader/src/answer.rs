//! Short answers taken word for word from the evidence: times, figures and colours. Everything else is right too seldom to be
//! answered without a language model.

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

/// An answer and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The answer, short.
    pub(crate) text: String,
    /// Indices of the lines it stands on, best first.
    pub(crate) lines: Vec<usize>,
    /// Share of the belief that went to it, 0 to 1.
    pub(crate) share: f32,
    /// What people should know about it.
    pub(crate) reason: Option<String>,
    /// Whether the evidence gives another value that cannot hold beside it.
    pub(crate) conflict: bool,
    /// How sure it is that a turn states it outright, 0 to 1; none if it was read from phrases.
    pub(crate) stated: Option<f32>,
}

/// Number of lines that are searched for an answer.
const LINES: usize = 6;

/// ... of those for a figure, which fewer lines hold.
const FIGURE_LINES: usize = 10;

/// Finds the answer; none if nothing in the evidence has the wanted kind.
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

/// The turn that says how much of a measure covers at least this share of what the best one does.
const MEASURED: f32 = 0.75;

/// "How heavy was it?" asks for "31 kilos" where that is said.
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
    /// Asks for more than a short answer can be trusted to be: a person, a place, a reason, a list, yes or no.
    Open,
}

/// Returns true if a question is of a kind that gets a short answer at all.
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
    // Where nothing but a person and a time is named, only the person tells of it.
    let tells = |at: &usize| !question.only_when() || question.may_say(&pool.lines[*at].turn.actor);
    pool.by_order.iter().copied().filter(tells).take(count).collect()
}

/// Returns the candidates; of figures for a sum of money only sums, if there are any.
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

/// Returns what the answer is chosen from.
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

/// Returns the names of what the choice among candidates weighs.
pub(crate) fn span_names() -> &'static [&'static str] {
    slots::NAMES
}

/// Returns the names of what the choice among times weighs.
pub(crate) fn time_names() -> &'static [&'static str] {
    dates::NAMES
}
