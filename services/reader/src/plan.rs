//! What a question asks for, in parts, and the words of it that can wake memories: without a model, by rule.
//!
//! The parts are CompassMem's subgoals (section 3.4: atomic, checkable, two to five of them), the words MRAgent's cues
//! (section 3.3). A question in another language than English stays whole; its cues are found by Unicode's words.

mod cues;
mod joined;
mod phrase;
mod split;
mod timed;

use std::collections::BTreeSet;

use domain::message::{PlanV1, PlannedV1};
use domain::port::ModelCost;

pub(crate) use phrase::ASKS;

/// Most subgoals, the whole question included.
const SUBGOALS_MAX: usize = 5;
/// Characters of a question that are read; the rest says nothing new about what is asked.
const READ_MAX: usize = 2_000;

/// Splits a question into its subgoals, the whole question first, and takes out its cues. Pure: equal questions, equal plans.
pub fn plan(request: &PlanV1) -> PlannedV1 {
    let read: String = request.question.trim().chars().take(READ_MAX).collect();
    let mut told = vec![words(&read)];
    let mut subgoals = vec![request.question.trim().to_owned()];
    for part in split::parts(&read) {
        let words = words(&part);
        if subgoals.len() < SUBGOALS_MAX && !text::stems(&part).is_empty() && !told.contains(&words) {
            told.push(words);
            subgoals.push(part);
        }
    }
    PlannedV1 {
        subgoals,
        cues: cues::of(&read),
        spent: ModelCost::default(),
        degraded: Vec::new(),
    }
}

/// The words of a part, whatever their order: two parts of the same words ask for the same.
fn words(part: &str) -> BTreeSet<String> {
    text::words(part).into_iter().map(str::to_lowercase).collect()
}
