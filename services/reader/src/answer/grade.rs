//! What can answer a question at all: a price is no date, a count no measure.

use domain::anchor::AnswerKind;
use text::Nouns;

use super::spans::{Shape, Span, Timed};
use crate::lists;
use crate::question::{Asked, Question};

/// How a candidate fits the kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// It has the marks of the kind.
    Right,
    /// Nothing speaks for or against it.
    Open,
    /// It is of another kind.
    Wrong,
}

/// Grades a candidate; `lower` are its words in lower case as they are shown.
pub(crate) fn grade(question: &Question, span: &Span, lower: &[String]) -> Grade {
    if says_nothing(question, lower) {
        return Grade::Wrong;
    }
    if question.class == Some(Asked::Colour) {
        return if figured(span) { Grade::Wrong } else { coloured(lower) };
    }
    match question.kind {
        AnswerKind::Number => figure(question, span, lower),
        AnswerKind::Duration => Grade::Right,
        AnswerKind::WhatIs
        | AnswerKind::Where
        | AnswerKind::Who
        | AnswerKind::Why
        | AnswerKind::How
        | AnswerKind::Kind
        | AnswerKind::WhatDoes
        | AnswerKind::When
        | AnswerKind::YesNo
        | AnswerKind::Other
        | AnswerKind::Message => spoken(span, span.timed == Timed::Whole && !question.traits.timely),
    }
}

/// Words that only point: "that one", "there", "it".
fn says_nothing(question: &Question, lower: &[String]) -> bool {
    let points = |it: &String| {
        matches!(
            it.as_str(),
            "it" | "that" | "this" | "there" | "here" | "them" | "they" | "those" | "these" | "one" | "ones" | "the"
        )
    };
    question.kind != AnswerKind::Number && lower.iter().all(points)
}

/// A colour is said with its shade and nothing else.
fn coloured(lower: &[String]) -> Grade {
    let colour = |it: &String| is_colour(it);
    let shade =
        |it: &String| colour(it) || matches!(it.as_str(), "dark" | "light" | "pale" | "bright" | "deep" | "and");
    match (lower.iter().any(colour), lower.iter().all(shade)) {
        (true, true) => Grade::Right,
        (true, false) => Grade::Open,
        (false, _) => Grade::Wrong,
    }
}

/// Says whether a word in lower case names a colour.
pub(super) fn is_colour(lower: &str) -> bool {
    let kind = Nouns::builtin().kind("chromatic color");
    lists::COLOURS.contains(lower) || kind.is_some_and(|it| Nouns::builtin().has(&it, &[lower.to_owned()]))
}

fn figured(span: &Span) -> bool {
    matches!(span.shape, Shape::Number | Shape::Amount | Shape::Duration)
}

fn figure(question: &Question, span: &Span, lower: &[String]) -> Grade {
    let counted = lower.last().is_some_and(|it| text::stem(it) == question.head);
    let measure = question.traits.many && span.shape == Shape::Amount && !counted;
    if (span.timed != Timed::No && !question.traits.timely) || measure {
        return Grade::Wrong;
    }
    if question.class != Some(Asked::Money) {
        return if span.money { Grade::Open } else { Grade::Right };
    }
    if span.money {
        Grade::Right
    } else if span.shape == Shape::Amount {
        Grade::Wrong
    } else {
        Grade::Open
    }
}

fn spoken(span: &Span, wrong: bool) -> Grade {
    match (wrong, figured(span)) {
        (true, _) => Grade::Wrong,
        (false, true) => Grade::Open,
        (false, false) => Grade::Right,
    }
}
