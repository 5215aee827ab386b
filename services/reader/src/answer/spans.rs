//! Candidate answers: phrases of the best turns.

mod figures;
mod token;

use std::ops::Range;

use domain::anchor::AnswerKind;

use super::lexis::{Class, joins};
use crate::pool::{Pool, telling};
use crate::question::{Asked, Question};
use token::{Token, barred, calls, open, tokens};

/// What a candidate looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nouns with their adjectives.
    Phrase,
    /// Capitalised words.
    Name,
    /// A number.
    Number,
    /// A number with its unit or currency.
    Amount,
    /// A number with a unit of time.
    Duration,
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
    /// Number of words.
    pub(crate) length: usize,
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
    /// Beside something else.
    Part,
    /// It says nothing else.
    Whole,
}

/// Longest candidate in words.
const LENGTH_MAX: usize = 14;

/// Returns the candidates of the lines: only durations for a duration, only numbers for a number.
pub(crate) fn candidates(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Vec<Span> {
    let mut out = Vec::new();
    let names = token::names(pool);
    for &line in lines {
        let all = &pool.lines[line].sentences;
        for sentence in telling(all) {
            let it = &all[sentence];
            if open(it) {
                continue;
            }
            let mentions = text::time::find(&it.text, pool.lines[line].turn.observed_at);
            let times: Vec<Range<usize>> = mentions.into_iter().map(|it| it.range).collect();
            let calls = calls(&it.text, &question.speakers);
            let tokens = tokens(it, &times, (&names, &calls));
            let mut found = Finder {
                tokens: &tokens,
                line,
                sentence,
                out: Vec::new(),
            };
            if question.class == Some(Asked::Colour) {
                found.colours();
            }
            if question.kind == AnswerKind::Duration {
                found.durations();
            } else if question.kind == AnswerKind::Number {
                found.numbers(&it.text);
            } else {
                found.all(&it.text);
            }
            let mut barred = barred(question, calls, &tokens);
            let measures = found.out.iter().filter(|span| measures(question, &it.text, span));
            barred.extend(measures.map(|it| it.start..it.end));
            let meets = |it: &Span, bar: &Range<usize>| it.start < bar.end && bar.start < it.end;
            found.out.retain(|it| !barred.iter().any(|bar| meets(it, bar)));
            out.append(&mut found.out);
        }
    }
    out
}

/// Says whether a figure measures something, or is a sum of money, while it is asked how many there are of something else.
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
    fn all(&mut self, text: &str) {
        for at in 0..self.tokens.len() {
            self.phrases(at);
        }
        self.numbers(text);
        self.durations();
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
            length: to - from,
            shape,
            timed: self.timed(from, to),
            money: false,
        }
    }

    fn timed(&self, from: usize, to: usize) -> Timed {
        let says = |it: &&Token| {
            !matches!(
                it.class,
                Class::Preposition | Class::Determiner | Class::Conjunction | Class::Filler | Class::Number
            )
        };
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
        let from = (from..to)
            .find(|&it| {
                let token = &self.tokens[it];
                !matches!(token.class, Class::Filler | Class::Conjunction) && token.lower != "of"
            })
            .unwrap_or(to);
        if from >= to || to - from > LENGTH_MAX {
            return;
        }
        let span = self.span(from, to, shape);
        let known = |it: &Span| it.start == span.start && it.end == span.end && it.shape == shape;
        if !self.out.iter().any(known) {
            self.out.push(span);
        }
    }

    /// A single word, even one that phrases do not start with.
    fn push_word(&mut self, at: usize, shape: Shape) {
        self.out.push(self.span(at, at + 1, shape));
    }

    /// Returns the end of the noun phrase that starts at `at`; `at` if there is none.
    fn phrase_end(&self, at: usize) -> usize {
        let mut end = at;
        let mut here = at;
        while here < self.tokens.len() && (here == at || !(self.tokens[here].breaks || self.tokens[here].comma)) {
            match self.tokens[here].class {
                Class::Content | Class::Name | Class::Gerund | Class::Number => end = here + 1,
                Class::Determiner if here == at => {}
                Class::Verb if here > at && joins(&self.tokens[here].lower) => {}
                Class::Determiner
                | Class::Pronoun
                | Class::Auxiliary
                | Class::Preposition
                | Class::Conjunction
                | Class::Filler
                | Class::Verb => break,
            }
            here += 1;
        }
        end
    }

    fn phrases(&mut self, at: usize) {
        let token = &self.tokens[at];
        let opens = at == 0 || token.breaks || token.comma;
        let starts = matches!(
            token.class,
            Class::Content | Class::Name | Class::Gerund | Class::Number
        );
        let inside = at > 0
            && !opens
            && matches!(
                self.tokens[at - 1].class,
                Class::Content | Class::Name | Class::Gerund | Class::Number
            );
        let end = self.phrase_end(at);
        if !starts || end == at {
            return;
        }
        let name = self.tokens[at..end].iter().all(|it| it.class == Class::Name);
        // "My boss Darko": the name stands for itself.
        let named = inside && self.tokens[at - 1].class == Class::Name;
        self.push(at, end, if name && !named { Shape::Name } else { Shape::Phrase });
        if token.class == Class::Name && !named {
            let last = (at..end).take_while(|&it| self.tokens[it].class == Class::Name).count();
            // "Ann's shed": who has it is no answer to where it is.
            let owns = at + last < end && self.tokens[at + last - 1].lower.ends_with("'s");
            if !owns {
                self.push(at, at + last, Shape::Name);
            }
        }
        if end - at > 2 {
            self.push(at, end - 1, Shape::Phrase);
        }
    }
}
