//! Statements of others that contradict a person's own words.

use text::facts::{Statement, Subject};
use text::shown_name;

use super::Sought;
use super::asked::Asked;
use crate::answer::{Found, shown};
use crate::pool::Pool;

impl Sought {
    /// Returns both sides if a person states something about himself or herself and another person later states
    /// something else.
    pub(super) fn contradicted(&self, told: &[(usize, Statement)], pool: &Pool<'_>) -> Option<Found> {
        let is_own = |it: &&(usize, Statement)| it.1.subject == Subject::Speaker;
        if !matches!(self.asked, Asked::Slot(_)) || self.whom.role.is_some() {
            return None;
        }
        let (line, own) = told.iter().rev().find(is_own)?;
        let (other_line, other) = told.last().filter(|it| it.1.subject != Subject::Speaker)?;
        let differ = other.object.to_lowercase() != own.object.to_lowercase() || other.positive != own.positive;
        if !differ || own.ended || !own.positive {
            return None;
        }
        let [speaker, teller] = [*line, *other_line].map(|it| shown_name(&pool.lines[it].turn.actor).into_owned());
        let not = if other.positive { "" } else { "not " };
        Some(Found {
            text: shown(&own.object),
            lines: vec![*line, *other_line],
            share: 1.0,
            reason: Some(format!(
                "{speaker} says \"{}\", and later {teller} says {not}\"{}\"",
                own.object, other.object
            )),
            conflict: true,
            stated: Some(own.confidence),
        })
    }
}
