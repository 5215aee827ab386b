//! Slots that may have several values at the same time: the things that a person is allergic to.

use domain::predicate::Predicate;
use text::facts::{Statement, Subject};

use super::Sought;
use super::line_statements::LineStatement;
use crate::answer::{FoundAnswer, strip_speaker_words};
use crate::evidence::evidence_lines::Pool;

impl Sought {
    /// Returns all present values in the order in which they were stated, or `None` if there are none. A later denial
    /// removes a value, except if others deny a person's own statement.
    pub(super) fn all_that_hold(&self, statements: &[LineStatement], pool: &Pool<'_>) -> Option<FoundAnswer> {
        let observed_at = |line: usize| pool.lines[line].turn.observed_at;
        let mut valid: Vec<&LineStatement> = Vec::new();
        for statement in statements {
            let same = valid
                .iter()
                .position(|it| lower_case_value(it) == lower_case_value(statement));
            let is_denial = !statement.positive
                || Predicate::from_verb_phrase(&statement.predicate) == Predicate::IsNotAllergicTo
                || statement.ended
                || self.is_past(statement, observed_at(statement.line).to_utc());
            match same {
                None if !is_denial => valid.push(statement),
                Some(at) if is_denial && (is_own(statement) || !is_own(valid[at])) => {
                    valid.remove(at);
                }
                None | Some(_) => {}
            }
        }
        let values: Vec<String> = valid.iter().map(|it| strip_speaker_words(&it.object)).collect();
        let mut lines: Vec<usize> = Vec::new();
        for line in valid.iter().flat_map(|it| it.lines()) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let last = observed_at(*lines.last()?);
        let confidences = valid.iter().map(|it| it.confidence);
        Some(FoundAnswer {
            text: values.join(", "),
            lines,
            share: 1.0,
            reason: Some(format!("stated on {}", last.format("%-d %B %Y"))),
            conflict: false,
            stated: Some(confidences.fold(1.0, f32::min)),
        })
    }
}

fn lower_case_value(statement: &Statement) -> String {
    strip_speaker_words(&statement.object).to_lowercase()
}

fn is_own(statement: &Statement) -> bool {
    statement.subject == Subject::Speaker
}
