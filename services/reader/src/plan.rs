//! Splits a question into parts and finds the words that can bring back memories: by rule, without a model.
//!
//! The parts are the subgoals of CompassMem (section 3.4: atomic, checkable, two to five of them). The words are the
//! cues of MRAgent (section 3.3). A question in another language than English stays whole; its cues are the words by
//! Unicode's rules.

mod cues;
mod joined;
mod phrase;
mod split;
mod timed;

use std::collections::BTreeSet;

use domain::message::{PlanV1, PlannedV1};
use domain::port::ModelCost;

pub(crate) use phrase::ASKS;

/// Most subgoals, including the whole question.
const SUBGOALS_MAX: usize = 5;
/// Most characters of a question that are read; the rest adds nothing about what is asked.
const READ_MAX: usize = 2_000;

/// Returns the subgoals of a question, the whole question first, and its cues. Pure: equal questions get equal plans.
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

/// Returns the set of words of a part: two parts with the same words ask for the same thing, whatever their order.
fn words(part: &str) -> BTreeSet<String> {
    text::words(part).into_iter().map(str::to_lowercase).collect()
}
