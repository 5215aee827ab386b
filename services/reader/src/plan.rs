//! Multi-hop questions: splits a question into parts and finds the words that can bring back memories, by rule,
//! without a model.
//!
//! The parts are the subgoals of CompassMem (section 3.4: atomic, checkable, two to five of them). The words are the
//! cues of MRAgent (section 3.3). A question in another language than English stays whole; its cues are the words by
//! Unicode's rules.

mod conjunctions;
mod cues;
mod parts;
mod phrase;
mod split;
mod time_relations;

use std::collections::BTreeSet;

use domain::message::{PlanV1, PlannedV1};
use domain::port::ModelCost;

/// Maximum number of subgoals, including the whole question.
const SUBGOALS_MAX: usize = 5;
/// Maximum number of characters of a question that are read; the rest is ignored.
const READ_MAX: usize = 2_000;

/// Returns the subgoals of a question, the whole question first, and its cues. Pure: equal questions get equal plans.
pub fn plan_question(request: &PlanV1) -> PlannedV1 {
    let read: String = request.question.trim().chars().take(READ_MAX).collect();
    let mut known_word_sets = vec![word_set(&read)];
    let mut subgoals = vec![request.question.trim().to_owned()];
    for part in split::split_question(&read) {
        let words = word_set(&part);
        if subgoals.len() < SUBGOALS_MAX && !text::stem_words(&part).is_empty() && !known_word_sets.contains(&words) {
            known_word_sets.push(words);
            subgoals.push(part);
        }
    }
    PlannedV1 {
        subgoals,
        cues: cues::find_cues(&read),
        spent: ModelCost::default(),
        degraded: Vec::new(),
    }
}

/// Returns the set of words of a part: two parts with the same words ask for the same thing, whatever their order.
fn word_set(part: &str) -> BTreeSet<String> {
    text::split_words(part).into_iter().map(str::to_lowercase).collect()
}
