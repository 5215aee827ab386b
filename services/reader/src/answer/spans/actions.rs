//! Candidates with a verb, and whole clauses.

use super::super::lexis::Class;
use super::token::Token;
use super::{Finder, Shape};

impl Finder<'_> {
    pub(super) fn actions(&mut self, at: usize) {
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
            let of = reason && self.tokens[at + 1].lower == "of";
            self.push(at + usize::from(reason) + usize::from(of), clause, Shape::Reason);
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

    pub(super) fn clauses(&mut self) {
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
}
