//! Statements of others that contradict a person's own words.

use text::facts::Subject;
use text::shown_name;

use super::Sought;
use super::line_statements::LineStatement;
use super::requested_fact::RequestedFact;
use crate::answer::{FoundAnswer, strip_speaker_words};
use crate::evidence::evidence_lines::Pool;

impl Sought {
    /// Returns both sides if a person states something about himself or herself and another person later states
    /// something else.
    pub(super) fn find_contradiction(&self, statements: &[LineStatement], pool: &Pool<'_>) -> Option<FoundAnswer> {
        let is_own = |it: &&LineStatement| it.subject == Subject::Speaker;
        if !matches!(self.requested_fact, RequestedFact::Slot(_)) || self.whom.role.is_some() {
            return None;
        }
        let own = statements.iter().rev().find(is_own)?;
        let other = statements.last().filter(|it| it.subject != Subject::Speaker)?;
        let differ = other.object.to_lowercase() != own.object.to_lowercase() || other.positive != own.positive;
        if !differ || own.ended || !own.positive {
            return None;
        }
        let [speaker, teller] = [own, other].map(|it| shown_name(&pool.lines[it.line].turn.actor).into_owned());
        let not = if other.positive { "" } else { "not " };
        Some(FoundAnswer {
            text: strip_speaker_words(&own.object),
            lines: own.lines().chain(other.lines()).collect(),
            share: 1.0,
            reason: Some(format!(
                "{speaker} says \"{}\", and later {teller} says {not}\"{}\"",
                own.object, other.object
            )),
            conflict: true,
            is_doubtful: false,
            stated: Some(own.confidence),
        })
    }
}
