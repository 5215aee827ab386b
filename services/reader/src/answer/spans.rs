//! Candidate answers: the figures of the best turns, or their colours.

mod colours;
mod figures;
mod token;

use std::ops::Range;

use domain::anchor::AnswerKind;

use super::lexis::Class;
use crate::pool::{Pool, Sentence, telling};
use crate::question::{Asked, Question};
use token::{Token, asks_openly, tokens, value_before};

/// What a candidate looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A number.
    Number,
    /// A number with its unit or currency.
    Amount,
    /// A number with a unit of time.
    Duration,
    /// A colour with its shade.
    Colour,
}

/// A candidate.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    /// Index of the line.
    pub(crate) line: usize,
    /// Index of the sentence in the line.
    pub(crate) sentence: usize,
    /// Bytes in the sentence.
    pub(crate) start: usize,
    /// End of the bytes.
    pub(crate) end: usize,
    /// Lower-case word before it; empty at the start.
    pub(crate) before: String,
    /// The word before it and its article.
    pub(crate) led: String,
    /// What it looks like.
    pub(crate) shape: Shape,
    /// Whether it names a time.
    pub(crate) timed: Timed,
    /// Whether it is a sum of money.
    pub(crate) money: bool,
}

/// How far a candidate names a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timed {
    /// Not at all.
    No,
    /// Next to something else.
    Part,
    /// It says nothing else.
    Whole,
}

/// Returns the candidates of the lines: colours for a colour, durations for a duration, numbers for everything else.
pub(crate) fn candidates(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Vec<Span> {
    let mut out = Vec::new();
    for &line in lines {
        let all = &pool.lines[line].sentences;
        for place in telling(all) {
            let sentence = &all[place];
            if asks_openly(sentence) {
                continue;
            }
            let mentions = text::time::find(&sentence.text, pool.lines[line].turn.observed_at);
            let times: Vec<Range<usize>> = mentions.into_iter().map(|it| it.range).collect();
            let finder = Finder {
                tokens: &tokens(sentence, &times),
                line,
                sentence: place,
                out: Vec::new(),
            };
            out.append(&mut finder.of(question, sentence));
        }
    }
    out
}

/// Returns true if a figure measures something, or is a sum of money, where the question asks how many there are of something
/// else.
fn measures(question: &Question, text: &str, span: &Span) -> bool {
    let words = text::words(&text[span.start..span.end]);
    let asked = |stem: String| question.words.iter().any(|it| it.stem == stem);
    let counted = || words.iter().any(|it| asked(text::stem(&it.to_lowercase())));
    question.traits.many && (span.money || span.shape == Shape::Amount && !counted())
}

struct Finder<'a> {
    tokens: &'a [Token],
    line: usize,
    sentence: usize,
    out: Vec<Span>,
}

impl Finder<'_> {
    /// Returns the candidates of a sentence; none of what it measures, or was before, where that is not asked for.
    fn of(mut self, question: &Question, sentence: &Sentence) -> Vec<Span> {
        if question.class == Some(Asked::Colour) {
            self.colours();
        } else if question.kind == AnswerKind::Duration {
            self.durations();
        } else {
            self.numbers(&sentence.text);
        }
        let before = value_before(self.tokens).filter(|_| question.recency >= 0.0);
        let measured = self.out.iter().filter(|it| measures(question, &sentence.text, it));
        let barred: Vec<Range<usize>> = measured.map(|it| it.start..it.end).chain(before).collect();
        self.out
            .retain(|it| !barred.iter().any(|bar| it.start < bar.end && bar.start < it.end));
        self.out
    }

    fn span(&self, from: usize, to: usize, shape: Shape) -> Span {
        let before = from.checked_sub(1).map(|it| self.tokens[it].lower.clone());
        let article = |it: &&Token| it.class == Class::Determiner;
        let led = self.tokens[..from].iter().rev().find(|it| !article(it));
        Span {
            line: self.line,
            sentence: self.sentence,
            start: self.tokens[from].start,
            end: self.tokens[to - 1].end,
            before: before.unwrap_or_default(),
            led: led.map(|it| it.lower.clone()).unwrap_or_default(),
            shape,
            timed: self.timed(from, to),
            money: false,
        }
    }

    fn timed(&self, from: usize, to: usize) -> Timed {
        let says = |it: &&Token| matches!(it.class, Class::Content | Class::Auxiliary);
        let all = &self.tokens[from..to];
        if !all.iter().any(|it| it.time) {
            Timed::No
        } else if all.iter().filter(says).all(|it| it.time) {
            Timed::Whole
        } else {
            Timed::Part
        }
    }

    fn push(&mut self, from: usize, to: usize, shape: Shape) {
        let span = self.span(from, to, shape);
        self.out.push(span);
    }

    /// Returns true if a token belongs to the one before it: no mark stands between them.
    fn joins(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|it| !(it.breaks || it.comma))
    }
}
