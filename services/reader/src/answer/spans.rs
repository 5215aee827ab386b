//! Candidate answers: the figures of the best turns, or their colours.

mod colours;
mod figures;
mod token;

use std::ops::Range;

use domain::anchor::AnswerKind;

use crate::answer::clause_values::start_of_clause_in_question;
use crate::evidence::evidence_lines::{Pool, best_covering_sentences};
use crate::evidence::line::Sentence;
use crate::evidence::question::{Asked, Question};
use crate::evidence::word_classes::{Class, is_negation};
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

/// Returns true if a figure counts another thing than the question, while its sentence names the one in question too:
/// "two cats and a dog" does not say that there are two dogs. "Four cats, two died" counts the cats that died.
fn counts_another_thing(question: &Question, tokens: &[Token], sentence: &Sentence, span: &Span) -> bool {
    let names_head = || sentence.terms.iter().any(|it| it.stem == question.head);
    if !question.traits.many || span.shape != Shape::Number || !names_head() {
        return false;
    }
    let after = &tokens[tokens.partition_point(|it| it.start < span.end)..];
    let is_noun = |it: &&Token| !(it.breaks || it.comma) && it.class == Class::Content && !text::is_past(&it.lower);
    let phrase: Vec<&Token> = after.iter().take_while(is_noun).collect();
    let is_in_question =
        |it: &Token| sentence.hits.iter().any(|hit| hit.0 == it.start) || text::stem_word(&it.lower) == question.head;
    !phrase.is_empty() && !phrase.into_iter().any(is_in_question)
}

/// Returns true if the question is about a state that is over: "How long was Ann ill?". A start alone does not say how
/// long it lasted.
fn is_about_finished_state(question: &Question) -> bool {
    let words = text::split_words(&question.lower);
    let first = words.into_iter().find(|it| text::is_auxiliary(it));
    first.is_some_and(|it| matches!(it, "was" | "were" | "did"))
}

/// Returns true if a length of time says how long something has not happened, in a clause without a word of the
/// question: "I haven't seen her for two years".
fn measures_other_absence(tokens: &[Token], sentence: &Sentence, span: &Span) -> bool {
    let before = tokens.partition_point(|it| it.start < span.start);
    let opens = |it: &Token| it.breaks || it.comma;
    let clause = tokens[..before].iter().rposition(opens).unwrap_or_default();
    let words = &tokens[clause..before];
    let next_clause = tokens[before..].iter().skip(1).find(|it| opens(it));
    let end = next_clause.map_or(sentence.text.len(), |it| it.start);
    let is_have =
        |it: &Token| ["have", "has", "had"].iter().any(|form| it.lower.starts_with(form)) || it.lower.ends_with("'ve");
    let start = words.first().map_or(span.start, |it| it.start);
    let is_in_clause = |at: usize| (start..span.start).contains(&at) || (span.end..end).contains(&at);
    words.iter().any(|it| is_negation(&it.lower))
        && words.iter().any(is_have)
        && !sentence.hits.iter().any(|it| is_in_clause(it.0))
}

struct Finder<'a> {
    tokens: &'a [Token],
    line: usize,
    sentence: usize,
    out: Vec<Span>,
}

impl Finder<'_> {
    /// Returns the candidates of a sentence, without measures and former values unless the question asks for them, and
    /// without figures of clauses before the one in question.
    fn find_spans(mut self, question: &Question, sentence: &Sentence) -> Vec<Span> {
        if question.class == Some(Asked::Colour) {
            self.add_colours();
        } else {
            self.add_figures(question, sentence);
        }
        let before = value_before(self.tokens).filter(|_| question.recency >= 0.0);
        let unasked = self.out.iter().filter(|it| {
            is_unasked_measure(question, &sentence.text, it)
                || counts_another_thing(question, self.tokens, sentence, it)
        });
        let barred: Vec<Range<usize>> = unasked.map(|it| it.start..it.end).chain(before).collect();
        self.out
            .retain(|it| !barred.iter().any(|bar| it.start < bar.end && bar.start < it.end));
        self.out
    }

    fn add_figures(&mut self, question: &Question, sentence: &Sentence) {
        if question.kind == AnswerKind::Duration {
            self.add_durations(!is_about_finished_state(question));
        } else {
            self.add_numbers(&sentence.text);
        }
        let places: Vec<Range<usize>> = self.out.iter().map(|it| it.start..it.end).collect();
        let from = start_of_clause_in_question(sentence, &places);
        let tokens = self.tokens;
        let is_other_absence =
            |it: &Span| question.kind == AnswerKind::Duration && measures_other_absence(tokens, sentence, it);
        self.out.retain(|it| it.start >= from && !is_other_absence(it));
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
