//! Candidate answers: phrases of the best turns.

use domain::anchor::AnswerKind;
use text::words;

use super::lexis::{Class, class, duration};
use crate::pool::{Pool, Sentence, telling};

/// What a candidate looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nouns with their adjectives.
    Phrase,
    /// A phrase with a prepositional phrase.
    Extended,
    /// Phrases joined by "and" or commas.
    Joined,
    /// A verb with what follows.
    Action,
    /// A prepositional phrase.
    Place,
    /// What follows "because", "to", "so".
    Reason,
    /// Everything between two marks.
    Clause,
    /// A number.
    Number,
    /// A number with a unit of time.
    Duration,
    /// Capitalised words.
    Name,
    /// Words in quotation marks.
    Quote,
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
    /// Number of words.
    pub(crate) length: usize,
    /// What it looks like.
    pub(crate) shape: Shape,
}

/// A word of a sentence in its place.
struct Token {
    start: usize,
    end: usize,
    lower: String,
    class: Class,
    /// Whether a mark that ends clauses stands before it.
    breaks: bool,
    /// Whether a comma stands before it.
    comma: bool,
}

/// Longest candidate in words.
const LENGTH_MAX: usize = 14;

/// Returns the candidates of the lines. Only durations for a duration, only numbers for a number.
pub(crate) fn candidates(pool: &Pool<'_>, lines: &[usize], kind: AnswerKind) -> Vec<Span> {
    let mut out = Vec::new();
    for &line in lines {
        let all = &pool.lines[line].sentences;
        for sentence in telling(all) {
            let it = &all[sentence];
            let tokens = tokens(it);
            let mut found = Finder {
                tokens: &tokens,
                line,
                sentence,
                out: Vec::new(),
            };
            if kind == AnswerKind::Duration {
                found.durations();
            } else if kind == AnswerKind::Number {
                found.numbers();
            } else {
                found.all(&it.text);
            }
            out.append(&mut found.out);
        }
    }
    out
}

/// Words of a sentence that are searched.
const WORDS_MAX: usize = 80;

fn tokens(sentence: &Sentence) -> Vec<Token> {
    let text = &sentence.text;
    let base = text.as_ptr() as usize;
    let mut last = 0;
    let mut out = Vec::new();
    for (at, word) in words(text).into_iter().take(WORDS_MAX).enumerate() {
        let start = word.as_ptr() as usize - base;
        let gap = &text[last..start];
        let lower = word.to_lowercase().replace('’', "'");
        out.push(Token {
            start,
            end: start + word.len(),
            class: class(word, &lower, at == 0 && !sentence.caption),
            lower,
            breaks: gap.contains(['.', ';', ':', '!', '?', '(', ')', '"', '“', '”', '…', '—', '–'])
                || gap.contains(" - "),
            comma: gap.contains([',', '，', '、']),
        });
        last = start + word.len();
    }
    out
}

struct Finder<'a> {
    tokens: &'a [Token],
    line: usize,
    sentence: usize,
    out: Vec<Span>,
}

impl Finder<'_> {
    fn all(&mut self, text: &str) {
        self.quotes(text);
        self.clauses();
        for at in 0..self.tokens.len() {
            self.phrases(at);
            self.actions(at);
        }
        self.numbers();
        self.durations();
    }

    fn push(&mut self, from: usize, to: usize, shape: Shape) {
        let from = (from..to)
            .find(|&it| !matches!(self.tokens[it].class, Class::Filler | Class::Conjunction))
            .unwrap_or(to);
        if from >= to || to - from > LENGTH_MAX {
            return;
        }
        let before = from
            .checked_sub(1)
            .map(|it| self.tokens[it].lower.clone())
            .unwrap_or_default();
        let (start, end) = (self.tokens[from].start, self.tokens[to - 1].end);
        let (line, sentence, length) = (self.line, self.sentence, to - from);
        if !self
            .out
            .iter()
            .any(|it| it.start == start && it.end == end && it.shape == shape)
        {
            self.out.push(Span {
                line,
                sentence,
                start,
                end,
                before,
                length,
                shape,
            });
        }
    }

    /// Returns the end of the noun phrase that starts at `at`; `at` if there is none.
    fn phrase_end(&self, at: usize) -> usize {
        let mut end = at;
        let mut here = at;
        while here < self.tokens.len() && (here == at || !(self.tokens[here].breaks || self.tokens[here].comma)) {
            match self.tokens[here].class {
                Class::Content | Class::Name | Class::Gerund | Class::Number => end = here + 1,
                Class::Determiner if here == at => {}
                Class::Verb if here > at && self.tokens[here].lower.ends_with("ed") => {}
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
        self.push(at, end, if name && !inside { Shape::Name } else { Shape::Phrase });
        if token.class == Class::Name && !inside {
            let last = (at..end).take_while(|&it| self.tokens[it].class == Class::Name).count();
            self.push(at, at + last, Shape::Name);
        }
        if end - at > 2 {
            self.push(at, end - 1, Shape::Phrase);
        }
        if inside {
            return;
        }
        if at > 0 && self.tokens[at - 1].class == Class::Preposition && !opens {
            self.push(at - 1, end, Shape::Place);
        }
        self.extend(at, end);
    }

    /// Adds "of the ...", "for ..." and what is joined by "and" or commas.
    fn extend(&mut self, at: usize, end: usize) {
        let mut here = end;
        for _ in 0..2 {
            let Some(next) = self.tokens.get(here) else { break };
            if next.class != Class::Preposition || next.breaks || next.comma {
                break;
            }
            let until = self.phrase_end(here + 1);
            if until <= here + 1 {
                break;
            }
            self.push(at, until, Shape::Extended);
            here = until;
        }
        let mut here = end;
        while let Some(next) = self.tokens.get(here).filter(|it| !it.breaks) {
            let joins = matches!(next.lower.as_str(), "and" | "or" | "&");
            let from = if joins { here + 1 } else { here };
            if !joins && !next.comma {
                break;
            }
            let until = self.phrase_end(from);
            if until <= from {
                break;
            }
            self.push(at, until, Shape::Joined);
            here = until;
        }
    }

    fn actions(&mut self, at: usize) {
        let token = &self.tokens[at];
        let clause = self.clause_end(at);
        if matches!(token.class, Class::Verb | Class::Gerund) {
            self.push(at, clause, Shape::Action);
            self.push(at, self.clause_end_short(at), Shape::Action);
            let object = self.object_end(at + 1);
            if object > at + 1 {
                self.push(at, object, Shape::Action);
            }
        }
        let reason = matches!(token.lower.as_str(), "because" | "cause" | "since" | "cuz")
            || (token.lower == "so"
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|it| matches!(it.class, Class::Pronoun | Class::Determiner)));
        let purpose = token.lower == "to"
            && self
                .tokens
                .get(at + 1)
                .is_some_and(|it| matches!(it.class, Class::Verb | Class::Content));
        if (reason || purpose) && at + 1 < clause {
            self.push(if reason { at + 1 } else { at }, clause, Shape::Reason);
            if purpose {
                self.push(at + 1, clause, Shape::Action);
                self.push(at + 1, self.clause_end_short(at), Shape::Action);
            }
        }
    }

    /// The end of the object after a verb: an optional preposition and a phrase with its extension.
    fn object_end(&self, at: usize) -> usize {
        let mut here = at;
        if self
            .tokens
            .get(here)
            .is_some_and(|it| it.class == Class::Preposition && !it.breaks)
        {
            here += 1;
        }
        let end = if self.tokens.get(here).is_some_and(|it| !it.breaks) {
            self.phrase_end(here)
        } else {
            here
        };
        if end > here { end } else { at }
    }

    fn clause_end(&self, at: usize) -> usize {
        (at + 1..self.tokens.len())
            .find(|&it| self.tokens[it].breaks)
            .unwrap_or(self.tokens.len())
    }

    fn clause_end_short(&self, at: usize) -> usize {
        let stops = |it: &Token| {
            it.breaks || it.comma || matches!(it.lower.as_str(), "but" | "so" | "because" | "when" | "while")
        };
        (at + 1..self.tokens.len())
            .find(|&it| stops(&self.tokens[it]))
            .unwrap_or(self.tokens.len())
    }

    fn clauses(&mut self) {
        for short in [false, true] {
            let mut at = 0;
            while at < self.tokens.len() {
                let end = if short {
                    self.clause_end_short(at)
                } else {
                    self.clause_end(at)
                };
                self.push(at, end, Shape::Clause);
                at = end;
            }
        }
    }

    fn quotes(&mut self, text: &str) {
        let quoted = |at: usize| text[..at].chars().filter(|it| matches!(it, '"' | '“' | '”')).count() % 2 == 1;
        let mut at = 0;
        while at < self.tokens.len() {
            if !quoted(self.tokens[at].start) {
                at += 1;
                continue;
            }
            let end = (at..self.tokens.len())
                .find(|&it| !quoted(self.tokens[it].start))
                .unwrap_or(self.tokens.len());
            if end - at <= LENGTH_MAX {
                let (start, stop) = (self.tokens[at].start, self.tokens[end - 1].end);
                let before = at
                    .checked_sub(1)
                    .map(|it| self.tokens[it].lower.clone())
                    .unwrap_or_default();
                let (line, sentence) = (self.line, self.sentence);
                self.out.push(Span {
                    line,
                    sentence,
                    start,
                    end: stop,
                    before,
                    length: end - at,
                    shape: Shape::Quote,
                });
            }
            at = end;
        }
    }

    fn numbers(&mut self) {
        for at in 0..self.tokens.len() {
            if self.tokens[at].class == Class::Number {
                self.push(at, at + 1, Shape::Number);
            }
        }
    }

    fn durations(&mut self) {
        for at in 0..self.tokens.len() {
            let unit = (at + 1..(at + 4).min(self.tokens.len())).find(|&it| duration(&self.tokens[it].lower));
            let counts = self.tokens[at].class == Class::Number
                || matches!(
                    self.tokens[at].lower.as_str(),
                    "a" | "an" | "few" | "several" | "half" | "many"
                );
            if let (true, Some(unit)) = (counts, unit) {
                self.push(at, unit + 1, Shape::Duration);
            }
        }
        for at in 0..self.tokens.len() {
            let year =
                |it: &Token| it.lower.len() == 4 && it.lower.starts_with(['1', '2']) && it.class == Class::Number;
            if self.tokens[at].lower == "since" && self.tokens.get(at + 1).is_some_and(year) {
                self.push(at, at + 2, Shape::Duration);
            }
        }
    }
}
