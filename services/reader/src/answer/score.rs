//! How well a candidate answers: its turn, its sentence, its shape, its neighbours.

use domain::anchor::AnswerKind;

use super::lexis::{number, person};
use super::spans::{Shape, Span};
use crate::pool::{Pool, Sentence};
use crate::question::{Asked, Question};
use crate::words::{Lexicon, Term};

/// A candidate with its score and the words that are compared.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    /// The candidate.
    pub(crate) span: Span,
    /// Its text as it would be shown.
    pub(crate) text: String,
    /// Stems of its words without articles, for comparing candidates.
    pub(crate) stems: Vec<String>,
    /// Higher is better; about -0.5 to 0.8.
    pub(crate) score: f32,
    /// `score` without what its turn and sentence add.
    pub(crate) fit: f32,
}

/// Scores all candidates that have something to show.
pub(crate) fn score(question: &Question, pool: &Pool<'_>, spans: Vec<Span>, lexicon: &mut Lexicon) -> Vec<Scored> {
    let best = pool
        .lines
        .iter()
        .flat_map(|it| &it.sentences)
        .map(|it| it.cover)
        .fold(0.05, f32::max);
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let sentence = &pool.lines[span.line].sentences[span.sentence];
        let text = shown(&sentence.text[span.start..span.end]);
        let lower: Vec<String> = text::words(&text).into_iter().map(str::to_lowercase).collect();
        let stems = stems(&lower, lexicon);
        if stems.is_empty() {
            continue;
        }
        let fit = typed(question, &span, &lower)
            + classed(question, &span, &lower)
            + before(question.kind, &span.before)
            + form(question, &span, &text, &lower)
            + near(sentence, &span)
            + news(question, &stems, &span, lexicon);
        let score = place(pool, &span, best) + fit;
        out.push(Scored {
            span,
            text,
            stems,
            score,
            fit,
        });
    }
    out
}

/// Drops what refers to the speaker at the front: "my old guitar" is "old guitar" to everybody else.
fn shown(text: &str) -> String {
    let mut rest = text.trim();
    loop {
        let (first, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        let lower = first.to_lowercase().replace('’', "'");
        let drops = matches!(
            lower.as_str(),
            "my" | "our"
                | "your"
                | "i"
                | "we"
                | "i'm"
                | "i've"
                | "we're"
                | "we've"
                | "it's"
                | "they're"
                | "a"
                | "an"
                | "the"
                | "you're"
        ) || (rest.len() < text.trim().len()
            && matches!(lower.as_str(), "am" | "was" | "are" | "were" | "have" | "had" | "is"));
        if !drops || tail.is_empty() {
            return rest.to_owned();
        }
        rest = tail;
    }
}

fn stems(lower: &[String], lexicon: &mut Lexicon) -> Vec<String> {
    let article = |it: &&String| !matches!(it.as_str(), "a" | "an" | "the" | "and");
    lower.iter().filter(article).map(|it| lexicon.stem(it)).collect()
}

/// Where it stands: the better the turn and the sentence, the better.
fn place(pool: &Pool<'_>, span: &Span, best: f32) -> f32 {
    let line = &pool.lines[span.line];
    let sentence = &line.sentences[span.sentence];
    let rank = pool.by_order.iter().position(|&it| it == span.line).unwrap_or(9) as f32;
    let asked = span.sentence.checked_sub(1).map(|it| &line.sentences[it]);
    let asked = asked.or_else(|| {
        line.previous
            .and_then(|it| pool.lines[it].sentences.iter().rev().find(|it| !it.caption))
    });
    let replies = asked.filter(|it| it.question).map_or(0.0, |it| it.cover);
    let lead = (line.order - pool.lines[pool.by_order[0]].order).max(-4.0);
    0.12 * (-rank).exp()
        + 0.03 * lead
        + 0.08 * sentence.cover / best
        + 0.06 * replies
        + 0.04 * (sentence.subject - sentence.other)
        - if sentence.question { 0.1 } else { 0.0 }
        - if sentence.caption { 0.03 } else { 0.0 }
}

/// What the kind of question makes likely. Names answer "where" and "who", reasons "why", actions "what did".
fn typed(question: &Question, span: &Span, lower: &[String]) -> f32 {
    use Shape::{Action, Clause, Duration, Extended, Joined, Name, Number, Phrase, Place, Quote, Reason};
    let shape = span.shape;
    match question.kind {
        AnswerKind::Number if shape == Number => 0.2,
        AnswerKind::Duration if shape == Duration => 0.2,
        AnswerKind::Where => match shape {
            Name => 0.16,
            Place | Extended => 0.06,
            Phrase => 0.05,
            Action | Clause | Reason | Number | Duration => -0.12,
            Joined | Quote => 0.0,
        },
        AnswerKind::Who => match shape {
            Name => 0.12,
            Phrase | Joined | Extended if lower.iter().any(|it| person(it)) => 0.14,
            Phrase | Joined | Extended => 0.0,
            Place | Quote | Action | Clause | Reason | Number | Duration => -0.15,
        },
        AnswerKind::Why => match shape {
            Reason => 0.18,
            Clause | Action => 0.06,
            Extended | Joined => 0.0,
            Phrase | Place | Name | Quote => -0.05,
            Number | Duration => -0.15,
        },
        AnswerKind::How if question.feeling => match shape {
            Phrase | Joined => 0.08,
            Clause | Action | Extended => 0.03,
            Reason | Place | Quote | Name => -0.05,
            Number | Duration => -0.15,
        },
        AnswerKind::How => match shape {
            Action | Clause => 0.08,
            Place | Reason | Extended => 0.05,
            Phrase | Joined | Name | Quote => 0.0,
            Number | Duration => -0.1,
        },
        AnswerKind::Kind => match shape {
            Quote | Name => 0.12,
            Phrase | Joined => 0.08,
            Extended => 0.05,
            Place => 0.0,
            Action | Clause | Reason | Number | Duration => -0.06,
        },
        AnswerKind::WhatDoes => match shape {
            Action | Extended | Phrase | Joined => 0.06,
            Reason | Quote | Name => 0.03,
            Clause => 0.0,
            Place => -0.03,
            Number | Duration => -0.12,
        },
        AnswerKind::Message
        | AnswerKind::When
        | AnswerKind::Duration
        | AnswerKind::Number
        | AnswerKind::YesNo
        | AnswerKind::WhatIs
        | AnswerKind::Other => match shape {
            Quote => 0.09,
            Phrase | Joined | Extended | Name => 0.06,
            Action => 0.03,
            Clause | Reason | Place => -0.02,
            Number | Duration => -0.1,
        },
    }
}

/// Some questions name the class of their answer: a colour, a name, a figure.
fn classed(question: &Question, span: &Span, lower: &[String]) -> f32 {
    match question.class {
        Some(Asked::Colour) if lower.iter().any(|it| COLOURS.contains(&it.as_str())) => 0.2,
        Some(Asked::Name) if matches!(span.shape, Shape::Name | Shape::Quote) => 0.12,
        Some(Asked::Figure)
            if lower
                .iter()
                .any(|it| number(it).is_some() || it.chars().any(|it| it.is_ascii_digit())) =>
        {
            0.12
        }
        _ => 0.0,
    }
}

const COLOURS: &[&str] = &[
    "red",
    "blue",
    "green",
    "yellow",
    "black",
    "white",
    "brown",
    "pink",
    "purple",
    "orange",
    "grey",
    "gray",
    "silver",
    "gold",
    "golden",
    "beige",
    "turquoise",
    "violet",
    "crimson",
    "navy",
    "cream",
    "mustard",
    "slate",
    "teal",
    "maroon",
];

/// The word before a phrase often says what it is.
fn before(kind: AnswerKind, word: &str) -> f32 {
    match (kind, word) {
        (AnswerKind::Why, "because" | "since") => 0.14,
        (AnswerKind::Why, "to" | "so") => 0.05,
        (AnswerKind::Where, "in" | "at" | "to" | "from" | "near" | "visited") => 0.06,
        (AnswerKind::Who, "with" | "my" | "by" | "from") => 0.05,
        (AnswerKind::How, "by" | "through" | "so" | "really") => 0.04,
        (AnswerKind::Kind | AnswerKind::WhatIs | AnswerKind::Other, "called" | "named") => 0.08,
        (AnswerKind::Kind | AnswerKind::WhatIs | AnswerKind::WhatDoes, "a" | "an" | "some" | "is" | "like") => 0.02,
        (AnswerKind::WhatDoes, "to" | "been" | "started" | "i" | "we") => 0.02,
        _ => 0.0,
    }
}

/// Length, and words that only make sense to the one who spoke.
fn form(question: &Question, span: &Span, text: &str, lower: &[String]) -> f32 {
    let want: f32 = match question.kind {
        AnswerKind::Why => 6.0,
        AnswerKind::How if question.feeling => 3.5,
        AnswerKind::How => 6.0,
        AnswerKind::WhatDoes => 4.5,
        AnswerKind::Number => 1.0,
        AnswerKind::Message
        | AnswerKind::When
        | AnswerKind::Duration
        | AnswerKind::Where
        | AnswerKind::Who
        | AnswerKind::Kind
        | AnswerKind::YesNo
        | AnswerKind::WhatIs
        | AnswerKind::Other => 2.5,
    };
    let words = text::words(text);
    let has = |list: &[&str]| lower.iter().any(|it| list.contains(&it.as_str()));
    let starts = |list: &[&str]| lower.first().is_some_and(|it| list.contains(&it.as_str()));
    let capital = span.length < 5 && words.iter().skip(1).any(|it| it.starts_with(char::is_uppercase));
    let many =
        question.kind == AnswerKind::Number && lower.first().is_some_and(|it| number(it).is_some_and(|n| n > 1900.0));
    let bare = span.shape == Shape::Action && span.length == 1;
    -0.02 * (words.len() as f32 / want).ln().abs()
        - if has(&["i", "me", "i'm", "i've"]) { 0.03 } else { 0.0 }
        - if has(&["you", "your", "you're"]) { 0.05 } else { 0.0 }
        - if starts(&[
            "it", "that", "this", "they", "he", "she", "there", "it's", "that's", "these", "those",
        ]) {
            0.05
        } else {
            0.0
        }
        + if capital { 0.02 } else { 0.0 }
        - if many { 0.2 } else { 0.0 }
        - if bare { 0.05 } else { 0.0 }
}

/// An answer stands near the words of the question, mostly after them and after the verb.
fn near(sentence: &Sentence, span: &Span) -> f32 {
    let outside = |it: &&(usize, bool)| it.0 < span.start || it.0 >= span.end;
    let hits: Vec<(usize, bool)> = sentence.hits.iter().filter(outside).copied().collect();
    let gap = |from: usize, to: usize| to.saturating_sub(from) as f32;
    let front = hits
        .iter()
        .filter(|it| it.0 < span.start)
        .map(|it| gap(it.0, span.start))
        .fold(f32::MAX, f32::min);
    let back = hits
        .iter()
        .filter(|it| it.0 >= span.end)
        .map(|it| gap(span.end, it.0))
        .fold(f32::MAX, f32::min);
    let verb = hits
        .iter()
        .filter(|it| it.1 && it.0 < span.start)
        .map(|it| gap(it.0, span.start))
        .fold(f32::MAX, f32::min);
    0.05 * (-front / 15.0).exp() + 0.02 * (-back / 15.0).exp() + 0.06 * (-verb / 15.0).exp()
}

/// Words that alone say nothing: "by the way", "of course", "a lot".
const LIGHT: &[&str] = &[
    "way", "cours", "lot", "bit", "stuff", "problem", "kind", "sort", "one", "ton", "bunch", "guy",
];

/// An answer says something that the question does not.
fn news(question: &Question, stems: &[String], span: &Span, lexicon: &mut Lexicon) -> f32 {
    let content: Vec<&String> = stems.iter().filter(|it| !text::is_stop(it)).collect();
    if content.is_empty() {
        return if matches!(span.shape, Shape::Number | Shape::Duration) {
            0.0
        } else {
            -0.2
        };
    }
    if content.iter().all(|it| LIGHT.contains(&it.as_str())) {
        return -0.2;
    }
    let repeated = content
        .iter()
        .filter(|stem| question.words.iter().any(|it| it.stem == ***stem))
        .count();
    let new = 1.0 - repeated as f32 / content.len() as f32;
    let last = content.last().map_or("", |it| it.as_str());
    let same = last == question.head;
    let head = if question.head.is_empty() || same {
        0.0
    } else {
        lexicon.near(last, &question.head)
    };
    0.12 * new - 0.03 * repeated.min(3) as f32 + 0.08 * head
        - if new == 0.0 { 0.25 } else { 0.0 }
        - if same && content.len() < 2 { 0.07 } else { 0.0 }
}

/// The number that counts the head noun stands right before it.
pub(crate) fn counts(terms: &[Term], end: usize, head: &str) -> bool {
    terms
        .iter()
        .filter(|it| it.start >= end && it.start < end + 20)
        .any(|it| it.stem == head)
}
