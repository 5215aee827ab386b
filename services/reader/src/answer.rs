//! Short answers taken word for word from the evidence, by kind of question.

mod amount;
mod bound;
mod change;
mod choose;
mod dates;
mod extent;
mod gap;
mod gone;
mod grade;
mod lexis;
mod outcome;
mod polarity;
mod refuted;
mod score;
mod slots;
mod spans;
mod statement;
mod time_words;
mod traits;

use domain::anchor::AnswerKind;

use crate::choices::Choices;
use crate::pool::Pool;
use crate::question::{Asked, Question};
use crate::stated::people;
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
    let lines = lines(question, pool);
    match way(question) {
        Way::Time => habit(question, pool, weights, lexicon).or_else(|| dates::find(question, pool, &lines, weights)),
        Way::Polarity => polarity::find(question, pool, &lines),
        Way::Span => measured(question, pool, weights, lexicon).or_else(|| {
            let scored = scored(question, pool, weights, lexicon);
            choose::choose(question, pool, scored, weights.heat)
        }),
        Way::Open => None,
    }
}

/// The turn that says how often, or how much of a measure, covers at least this share of what the best one does.
const HABIT: f32 = 0.75;

/// "When is the training?" asks for "every Tuesday" where that is said.
fn habit(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Option<Found> {
    if !question.habitual {
        return None;
    }
    let often = Question {
        class: Some(Asked::Rate),
        kind: AnswerKind::Duration,
        ..question.clone()
    };
    let least = HABIT * pool.lines[*pool.by_order.first()?].cover;
    let mut scored = scored(&often, pool, weights, lexicon);
    scored.retain(|it| pool.lines[it.span.line].cover >= least);
    choose::choose(&often, pool, scored, weights.heat)
}

/// "How heavy was it?" asks for "31 kilos" where that is said.
fn measured(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Option<Found> {
    let Some(Asked::Measure(measure)) = question.class else {
        return None;
    };
    let figure = Question {
        kind: AnswerKind::Number,
        ..question.clone()
    };
    let least = HABIT * pool.lines[*pool.by_order.first()?].cover;
    let mut scored = scored(&figure, pool, weights, lexicon);
    scored.retain(|it| measure.takes(&it.text) && pool.lines[it.span.line].cover >= least);
    choose::choose(&figure, pool, scored, weights.heat)
}

/// How an answer is found.
enum Way {
    Time,
    Polarity,
    Span,
    /// Asks for more than a short answer can be trusted to be: a reason, a list, one of two.
    Open,
}

/// Says whether a question is of a kind that gets a short answer at all.
pub(crate) fn is_short(question: &Question) -> bool {
    !matches!(way(question), Way::Open)
}

fn way(question: &Question) -> Way {
    let is_figure = matches!(question.kind, AnswerKind::Number | AnswerKind::Duration)
        || matches!(question.class, Some(Asked::Measure(_)));
    let is_one = matches!(question.kind, AnswerKind::Where | AnswerKind::Who | AnswerKind::WhatIs) && !question.plural;
    if question.kind == AnswerKind::When {
        Way::Time
    } else if question.options.len() == 2 || question.identity.is_some() {
        Way::Open
    } else if question.kind == AnswerKind::YesNo {
        Way::Polarity
    } else if is_figure || is_one {
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

/// The candidates; of some kinds only those that have the marks of the kind, and of sums of money if there is one.
fn scored(question: &Question, pool: &Pool<'_>, weights: &Weights, lexicon: &mut Lexicon) -> Vec<Scored> {
    let spans = spans::candidates(question, pool, &lines(question, pool));
    let mut scored = score::score(question, pool, spans, &weights.spans, lexicon);
    bound::keep(question, pool, &mut scored);
    gone::drop(question, pool, &mut scored);
    refuted::drop(pool, &mut scored);
    let marked = matches!(question.kind, AnswerKind::Where | AnswerKind::Who) || question.class == Some(Asked::Rate);
    let classed = matches!(question.class, Some(Asked::Colour | Asked::Money | Asked::Mail));
    let right = |it: &Scored| it.grade == Grade::Right;
    if question.kind == AnswerKind::Where {
        let people = people(pool);
        scored.retain(|it| !people.contains(&it.text.to_lowercase()));
    }
    if marked || (classed && scored.iter().any(right)) {
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
        Way::Polarity | Way::Open => {}
    }
    out
}

/// Returns the names of what the choice among candidates weighs.
pub(crate) fn span_names() -> Vec<&'static str> {
    slots::NAMES.iter().map(String::as_str).collect()
}

/// Returns the names of what the choice among times weighs.
pub(crate) fn time_names() -> &'static [&'static str] {
    dates::NAMES
}
