//! Candidate answers: the figures of the best turns, or their colours.

mod colours;
mod figures;
mod token;

use std::ops::Range;

use domain::anchor::AnswerKind;

use crate::evidence::evidence_lines::{Pool, best_covering_sentences};
use crate::evidence::line::Sentence;
use crate::evidence::question::{Asked, Question};
use crate::evidence::word_classes::Class;
use token::{Token, asks_openly, read_tokens, value_before};

/// Form of a candidate.
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
    /// Byte offset of its start in the sentence.
    pub(crate) start: usize,
    /// Byte offset of its end in the sentence.
    pub(crate) end: usize,
    /// Lower-case word before it; empty at the start of the sentence.
    pub(crate) before: String,
    /// Lower-case word before it and before its articles and possessives.
    pub(crate) led: String,
    /// Form of the candidate.
    pub(crate) shape: Shape,
    /// Whether it names a time.
    pub(crate) timed: Timed,
    /// Whether it is a sum of money.
    pub(crate) money: bool,
}

/// How far a candidate names a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timed {
    /// The candidate names no time.
    No,
    /// The candidate names a time and something else.
    Part,
    /// The candidate names only a time.
    Whole,
}

/// Returns the candidates of the lines: colours if a colour is asked for, durations for a duration, and otherwise
/// numbers.
pub(crate) fn find_candidates(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Vec<Span> {
    let mut out = Vec::new();
    for &line in lines {
        let all = &pool.lines[line].sentences;
        for place in best_covering_sentences(all) {
            let sentence = &all[place];
            if asks_openly(sentence) {
                continue;
            }
            let mentions = text::time::find_times(&sentence.text, pool.lines[line].turn.observed_at);
            let times: Vec<Range<usize>> = mentions.into_iter().map(|it| it.range).collect();
            let finder = Finder {
                tokens: &read_tokens(sentence, &times),
                line,
                sentence: place,
                out: Vec::new(),
            };
            out.append(&mut finder.find_spans(question, sentence));
        }
    }
    out
}

/// Returns true if a figure is a measure or a sum of money, while the question asks for the count of something else.
fn is_unasked_measure(question: &Question, text: &str, span: &Span) -> bool {
    let words = text::split_words(&text[span.start..span.end]);
    let is_in_question = |stem: String| question.words.iter().any(|it| it.stem == stem);
    let counted = || {
        words
            .iter()
            .any(|it| is_in_question(text::stem_word(&it.to_lowercase())))
    };
    question.traits.many && (span.money || span.shape == Shape::Amount && !counted())
}

struct Finder<'a> {
    tokens: &'a [Token],
    line: usize,
    sentence: usize,
    out: Vec<Span>,
}

impl Finder<'_> {
    /// Returns the candidates of a sentence, without measures and former values unless the question asks for them.
    fn find_spans(mut self, question: &Question, sentence: &Sentence) -> Vec<Span> {
        if question.class == Some(Asked::Colour) {
            self.add_colours();
        } else if question.kind == AnswerKind::Duration {
            self.add_durations();
        } else {
            self.add_numbers(&sentence.text);
        }
        let before = value_before(self.tokens).filter(|_| question.recency >= 0.0);
        let measured = self
            .out
            .iter()
            .filter(|it| is_unasked_measure(question, &sentence.text, it));
        let barred: Vec<Range<usize>> = measured.map(|it| it.start..it.end).chain(before).collect();
        self.out
            .retain(|it| !barred.iter().any(|bar| it.start < bar.end && bar.start < it.end));
        self.out
    }

    fn span_of_tokens(&self, from: usize, to: usize, shape: Shape) -> Span {
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
            timed: self.classify_time(from, to),
            money: false,
        }
    }

    fn classify_time(&self, from: usize, to: usize) -> Timed {
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

    fn push_span(&mut self, from: usize, to: usize, shape: Shape) {
        let span = self.span_of_tokens(from, to, shape);
        self.out.push(span);
    }

    /// Returns true if no mark separates a token from the one before it.
    fn is_joined(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|it| !(it.breaks || it.comma))
    }
}
