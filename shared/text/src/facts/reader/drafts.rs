//! The order in which the rules are tried on a clause.

use super::super::Subject;
use super::super::rules::{Family, apply_rules};
use crate::facts::clauses::clause::{Clause, Draft};
use crate::facts::statements::{habit, properties, state};

/// Returns the drafts that the rules make of a clause, each with its subject. `assistant` is true if the clause
/// addresses an assistant.
pub(super) fn drafts_of_clause(clause: &Clause<'_>, assistant: bool) -> Vec<(Subject, Draft)> {
    let own = clause.who.subject.clone();
    if !clause.who.of.is_empty() {
        return properties::read_property(clause).into_iter().collect();
    }
    let rules = [
        properties::read_named_relation,
        state::kin_of,
        properties::read_introduction,
    ];
    if let Some(draft) = rules.iter().find_map(|it| it(clause)) {
        return vec![(Subject::Speaker, draft)];
    }
    let first = habit::read_habit(clause)
        .or_else(|| apply_rules(clause, BEFORE_STATES, assistant))
        .or_else(|| state::read_state(clause))
        .or_else(|| apply_rules(clause, AFTER_STATES, assistant));
    let second = apply_rules(clause, &[Family::Later], assistant);
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
pub(super) fn reduce_confidence(clause: &Clause<'_>, subject: &Subject, draft: Draft) -> Draft {
    let other = if *subject == Subject::Speaker { 1.0 } else { 0.8 };
    let guess = match (clause.who.pronoun, clause.who.implied) {
        (true, _) => 0.85,
        (_, true) => 0.85,
        (false, false) => 1.0,
    };
    let confidence = draft.confidence * other * guess;
    draft.with_confidence(confidence)
}
