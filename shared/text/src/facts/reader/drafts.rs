//! The order in which the rules are tried on a clause.

use super::super::rules::{Family, draft};
use super::super::said::{Draft, Said};
use super::super::{Subject, habit, state, thing};

/// Returns the drafts that the rules make of a clause, each with its subject. `assistant` is true if the clause
/// addresses an assistant.
pub(super) fn drafts(said: &Said<'_>, assistant: bool) -> Vec<(Subject, Draft)> {
    let own = said.who.subject.clone();
    if !said.who.of.is_empty() {
        return thing::thing(said).into_iter().collect();
    }
    let rules = [thing::called, state::kin_of, thing::introduced];
    if let Some(draft) = rules.iter().find_map(|it| it(said)) {
        return vec![(Subject::Speaker, draft)];
    }
    let first = habit::habit(said)
        .or_else(|| draft(said, BEFORE_STATES, assistant))
        .or_else(|| state::state(said))
        .or_else(|| draft(said, AFTER_STATES, assistant));
    let second = draft(said, &[Family::Later], assistant);
    first.into_iter().chain(second).map(|it| (own.clone(), it)).collect()
}

/// Rule families that are tried before and after `state`.
const BEFORE_STATES: &[Family] = &[
    Family::Preference,
    Family::Place,
    Family::Work,
    Family::Possession,
    Family::State,
];
const AFTER_STATES: &[Family] = &[Family::Plan, Family::Trade, Family::Activity];

/// Returns a draft with lower confidence if it is about another person, or if its subject is a pronoun or implied.
pub(super) fn weighed(said: &Said<'_>, subject: &Subject, draft: Draft) -> Draft {
    let other = if *subject == Subject::Speaker { 1.0 } else { 0.8 };
    let guess = match (said.who.pronoun, said.who.implied) {
        (true, _) => 0.85,
        (_, true) => 0.85,
        (false, false) => 1.0,
    };
    let confidence = draft.confidence * other * guess;
    draft.sure(confidence)
}
