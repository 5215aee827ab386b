//! Which figures can answer a question at all: a price is no count, and a count is no measure.

use domain::anchor::AnswerKind;

use crate::answer::spans::{Shape, Span, Timed};
use crate::evidence::question::{Asked, Question};

/// How a candidate fits the kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// The candidate has the marks of the kind.
    Right,
    /// The candidate has no marks of this or of another kind.
    Open,
    /// The candidate is of another kind.
    Wrong,
}

/// Returns the grade of a candidate. `lower` holds its words in lower case as they are shown.
pub(crate) fn grade_candidate(question: &Question, span: &Span, lower: &[String]) -> Grade {
    if question.kind != AnswerKind::Number {
        return Grade::Right;
    }
    let counted = lower.last().is_some_and(|it| text::stem_word(it) == question.head);
    let measure = question.traits.many && span.shape == Shape::Amount && !counted;
    if (span.timed != Timed::No && !question.traits.timely) || measure {
        return Grade::Wrong;
    }
    match (question.class == Some(Asked::Money), span.money) {
        (true, true) | (false, false) => Grade::Right,
        (true, false) if span.shape == Shape::Amount => Grade::Wrong,
        (true, false) | (false, true) => Grade::Open,
    }
}
