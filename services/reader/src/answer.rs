//! Short answers taken word for word from the evidence, by kind of question.

mod choose;
mod dates;
mod lexis;
mod polarity;
mod score;
mod spans;

use domain::anchor::AnswerKind;

use crate::pool::Pool;
use crate::question::Question;
use crate::words::Lexicon;

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
}

/// Number of lines that are searched for an answer.
const LINES: usize = 6;

/// Finds the answer; none if nothing in the evidence has the wanted kind.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lexicon: &mut Lexicon) -> Option<Found> {
    let lines: Vec<usize> = pool.by_order.iter().copied().take(LINES).collect();
    if question.kind == AnswerKind::When {
        return dates::find(question, pool, &lines);
    }
    if question.options.len() == 2 {
        return polarity::choice(question, pool, &lines, lexicon);
    }
    if question.kind == AnswerKind::YesNo {
        return polarity::find(question, pool, &lines);
    }
    let spans = spans::candidates(pool, &lines, question.kind);
    let scored = score::score(question, pool, spans, lexicon);
    choose::choose(question, pool, scored)
}
