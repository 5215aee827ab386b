//! What can answer a question at all: a place is no weekday, a person no place, a price no date.

use domain::anchor::AnswerKind;
use text::Nouns;

use super::amount::currency;
use super::lexis::{Class, class, number, person};
use super::spans::{Shape, Span, Timed};
use super::traits::phrase;
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

/// Grades a candidate as it is shown; `lower` are its words in lower case.
pub(crate) fn grade(question: &Question, span: &Span, (text, lower): (&str, &[String])) -> Grade {
    if says_nothing(question, lower) || repeats_verb(question, lower) {
        return Grade::Wrong;
    }
    if question.class == Some(Asked::Mail) {
        return if text.contains('@') { Grade::Right } else { Grade::Wrong };
    }
    if question.class == Some(Asked::Colour) {
        return if figured(span) { Grade::Wrong } else { coloured(lower) };
    }
    match question.kind {
        AnswerKind::Where => place(question, span, lower),
        AnswerKind::Who => someone(question, span, lower),
        AnswerKind::Number => figure(question, span, lower),
        AnswerKind::Why
        | AnswerKind::How
        | AnswerKind::Kind
        | AnswerKind::WhatDoes
        | AnswerKind::WhatIs
        | AnswerKind::Other
        | AnswerKind::Message => spoken(span, span.timed == Timed::Whole && !question.timely),
        AnswerKind::When | AnswerKind::Duration | AnswerKind::YesNo => Grade::Right,
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

/// "Leaves" is no platform that a train leaves from.
fn repeats_verb(question: &Question, lower: &[String]) -> bool {
    let verb = question.words.iter().find(|it| it.verb);
    let named = matches!(question.kind, AnswerKind::Kind | AnswerKind::Where | AnswerKind::Who);
    // "Leaves" has the stem of "leaf"; a teacher may well be who teaches.
    let form = |rest: &str| matches!(rest, "" | "e" | "s" | "es" | "ed" | "ing");
    let opens = |stem: &str| lower.first().and_then(|it| it.strip_prefix(stem)).is_some_and(form);
    named && verb.is_some_and(|it| opens(&it.stem) && it.stem != question.head)
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
    matches!(
        span.shape,
        Shape::Number | Shape::Amount | Shape::Duration | Shape::Rate
    )
}

/// "Dario for 60 euros" names neither a place nor only a person.
fn priced(lower: &[String]) -> bool {
    lower.iter().any(|it| currency(it)) && lower.iter().any(|it| number(it).is_some())
}

/// Prepositions before places.
fn locates(before: &str) -> bool {
    matches!(
        before,
        "in" | "at"
            | "near"
            | "into"
            | "inside"
            | "around"
            | "across"
            | "outside"
            | "behind"
            | "under"
            | "underneath"
            | "beneath"
            | "above"
            | "below"
            | "opposite"
            | "beside"
            | "through"
            | "en"
            | "dans"
            | "em"
    )
}

/// Says whether what stands behind a word is a place.
pub(super) fn leads(before: &str) -> bool {
    locates(before)
        || matches!(
            before,
            "to" | "from" | "on" | "via" | "nach" | "aus" | "left" | "visited"
        )
}

/// What somebody or something may be at.
const SOMEWHERE: [&str; 5] = ["object", "location", "group", "event", "body of water"];

fn place(question: &Question, span: &Span, lower: &[String]) -> Grade {
    let speaker = lower.iter().all(|it| question.speakers.contains(it));
    let somebody = span.shape != Shape::Place && !leads(&span.led) && lower.last().is_some_and(|it| person(it));
    let aimed = span.shape == Shape::Place
        && lower
            .first()
            .is_some_and(|it| matches!(it.as_str(), "for" | "with" | "by"));
    if span.timed != Timed::No || figured(span) || speaker || somebody || aimed || priced(lower) || month(span, lower) {
        return Grade::Wrong;
    }
    // "In marine biology" is nowhere.
    let nowhere = || Nouns::builtin().is_none_of(&SOMEWHERE, &lower[..phrase(lower)]);
    match span.shape {
        Shape::Extended if lower.iter().any(|it| apart(it)) => Grade::Open,
        Shape::Phrase | Shape::Extended if nowhere() => Grade::Open,
        Shape::Name | Shape::Phrase | Shape::Extended | Shape::Joined if leads(&span.led) => Grade::Right,
        Shape::Place if lower.first().is_some_and(|it| leads(it)) => Grade::Right,
        // A code is no place.
        Shape::Name if span.label || figures(lower) > 2 => Grade::Open,
        Shape::Name if !matches!(span.before.as_str(), "with" | "by" | "called" | "named") => Grade::Right,
        Shape::Name
        | Shape::Phrase
        | Shape::Extended
        | Shape::Joined
        | Shape::Place
        | Shape::Action
        | Shape::Reason
        | Shape::Clause
        | Shape::Quote
        | Shape::Number
        | Shape::Amount
        | Shape::Duration
        | Shape::Rate => Grade::Open,
    }
}

fn figures(lower: &[String]) -> usize {
    let signs = lower.iter().flat_map(|it| it.chars());
    signs.filter(char::is_ascii_digit).count()
}

/// "With two friends" and "for a course" are no part of the place that stands before them.
fn apart(preposition: &str) -> bool {
    matches!(
        preposition,
        "with" | "without" | "for" | "about" | "after" | "before" | "during" | "since" | "until"
    )
}

/// "From April": a month that may also be a name or a verb.
fn month(span: &Span, lower: &[String]) -> bool {
    let leads = matches!(
        span.led.as_str(),
        "from" | "in" | "until" | "till" | "since" | "by" | "before" | "after"
    );
    let month = |it: &String| matches!(it.as_str(), "march" | "april" | "may" | "august");
    let place = span.shape == Shape::Place && lower.len() == 2;
    (leads && lower.len() == 1 || place) && lower.last().is_some_and(month)
}

fn someone(question: &Question, span: &Span, lower: &[String]) -> Grade {
    let subject = |it: &String| question.subject.as_ref().is_some_and(|name| name.to_lowercase() == *it);
    let asked = |it: &String| subject(it) || question.words.iter().any(|word| word.stem == text::stem(it));
    let does = |it: &String| Nouns::builtin().is_person(it);
    let kin = |it: &String| person(it);
    let first = &lower[..phrase(lower)];
    // "Off to Porto with Ann", asked with whom.
    let tail = question.gap.tail.as_ref().map_or("", |it| it.1.as_str());
    let aside = !tail.is_empty() && span.led != tail && class(&span.led, &span.led, false) == Class::Preposition;
    if span.timed != Timed::No
        || figured(span)
        || aside
        || span.shape == Shape::Place
        || lower.iter().all(asked)
        || priced(lower)
    {
        return Grade::Wrong;
    }
    match span.shape {
        Shape::Name | Shape::Phrase | Shape::Extended | Shape::Joined if locates(&span.led) => Grade::Wrong,
        // "She comes from Acme".
        Shape::Name if span.led == "from" && !question.lower.contains("from") => Grade::Wrong,
        // "API" is nobody.
        Shape::Name if span.label => Grade::Open,
        Shape::Name => Grade::Right,
        // What it is shows in its first phrase: a leak in the worker is nobody.
        Shape::Phrase | Shape::Extended if first.iter().any(kin) => Grade::Right,
        // "I am a huge fan" names nobody.
        Shape::Phrase if lower.last().is_some_and(does) && !is(&span.led) && !inside(&span.before) => Grade::Right,
        Shape::Joined if lower.iter().any(kin) => Grade::Right,
        Shape::Phrase
        | Shape::Extended
        | Shape::Joined
        | Shape::Place
        | Shape::Action
        | Shape::Reason
        | Shape::Clause
        | Shape::Quote
        | Shape::Number
        | Shape::Amount
        | Shape::Duration
        | Shape::Rate => Grade::Open,
    }
}

/// "Fan" of "a huge fan".
fn inside(before: &str) -> bool {
    !before.is_empty() && class(before, before, true) == Class::Content
}

/// What somebody is said to be follows these.
fn is(before: &str) -> bool {
    let forms = ["am", "is", "are", "was", "were", "be", "been", "as", "became", "become"];
    forms.contains(&before)
        || before
            .split_once('\'')
            .is_some_and(|(_, end)| matches!(end, "m" | "s" | "re"))
}

fn figure(question: &Question, span: &Span, lower: &[String]) -> Grade {
    let counted = lower.last().is_some_and(|it| text::stem(it) == question.head);
    let measure = question.many && span.shape == Shape::Amount && !counted;
    if (span.timed != Timed::No && !question.timely) || measure {
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
    match (wrong, span.shape) {
        (true, _) => Grade::Wrong,
        (false, Shape::Number | Shape::Amount | Shape::Duration | Shape::Rate) => Grade::Open,
        (
            false,
            Shape::Phrase
            | Shape::Extended
            | Shape::Joined
            | Shape::Action
            | Shape::Place
            | Shape::Reason
            | Shape::Clause
            | Shape::Name
            | Shape::Quote,
        ) => Grade::Right,
    }
}
