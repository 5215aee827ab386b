//! Slots that may have several values at the same time: the things that a person is allergic to.

use domain::predicate::Predicate;
use text::facts::{Statement, Subject};

use super::Sought;
use crate::answer::{Found, shown};
use crate::pool::Pool;

impl Sought {
    /// Returns all present values in the order in which they were stated, or `None` if there are none. A later denial
    /// removes a value, except if others deny a person's own statement.
    pub(super) fn all_that_hold(&self, told: &[(usize, Statement)], pool: &Pool<'_>) -> Option<Found> {
        let observed_at = |line: usize| pool.lines[line].turn.observed_at;
        let mut held: Vec<(usize, &Statement)> = Vec::new();
        for (line, statement) in told {
            let same = held.iter().position(|it| value(it.1) == value(statement));
            let is_denial = !statement.positive
                || Predicate::of(&statement.predicate) == Predicate::IsNotAllergicTo
                || statement.ended
                || self.is_past(statement, observed_at(*line).to_utc());
            match same {
                None if !is_denial => held.push((*line, statement)),
                Some(at) if is_denial && (is_own(statement) || !is_own(held[at].1)) => {
                    held.remove(at);
                }
                None | Some(_) => {}
            }
        }
        let values: Vec<String> = held.iter().map(|it| shown(&it.1.object)).collect();
        let mut lines: Vec<usize> = held.iter().map(|it| it.0).collect();
        lines.dedup();
        let last = observed_at(*lines.last()?);
        let confidences = held.iter().map(|it| it.1.confidence);
        Some(Found {
            text: values.join(", "),
            lines,
            share: 1.0,
            reason: Some(format!("stated on {}", last.format("%-d %B %Y"))),
            conflict: false,
            stated: Some(confidences.fold(1.0, f32::min)),
        })
    }
}

fn value(statement: &Statement) -> String {
    shown(&statement.object).to_lowercase()
}

fn is_own(statement: &Statement) -> bool {
    statement.subject == Subject::Speaker
}
