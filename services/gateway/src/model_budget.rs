//! The budget of a request for language models and its use: one account for all its steps.

use std::collections::BTreeMap;

use domain::port::{ModelAllowance, ModelCost, ModelRole, Usage};

use crate::api::RoleCost;

/// Number of calls of one step: an unreadable reply is requested once more.
const STEP_CALLS: u32 = 2;

/// Budget that a step leaves for later steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reserve {
    /// Calls.
    pub(crate) calls: u32,
    /// Tokens of the model.
    pub(crate) tokens: u32,
}

/// The account of one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelBudget {
    left: ModelAllowance,
    spent: BTreeMap<ModelRole, ModelCost>,
}

impl ModelBudget {
    pub(crate) fn new(left: ModelAllowance) -> ModelBudget {
        ModelBudget {
            left,
            spent: BTreeMap::new(),
        }
    }

    /// Returns the remaining budget.
    pub(crate) fn left(&self) -> ModelAllowance {
        self.left
    }

    /// Returns true if a call is left in addition to the reserve.
    pub(crate) fn allows(&self, reserve: Reserve) -> bool {
        self.left.calls > reserve.calls
    }

    /// Returns the budget of one step, without the reserve.
    pub(crate) fn step(&self, reserve: Reserve) -> ModelAllowance {
        ModelAllowance {
            calls: self.left.calls.saturating_sub(reserve.calls).min(STEP_CALLS),
            tokens: self.left.tokens.map(|it| it.saturating_sub(reserve.tokens)),
        }
    }

    /// Subtracts the cost of a step. If a service exceeds its allowance, nothing is left.
    pub(crate) fn spend(&mut self, role: ModelRole, cost: ModelCost) {
        if cost.calls > 0 {
            self.left.spend(cost);
            self.spent.entry(role).or_default().add(cost);
        }
    }

    /// Subtracts the full allowance of a step whose cost is not known.
    pub(crate) fn forfeit(&mut self, allowed: ModelAllowance) {
        self.left.calls = self.left.calls.saturating_sub(allowed.calls);
        let tokens = self.left.tokens.zip(allowed.tokens);
        self.left.tokens = tokens.map(|(left, allowed)| left.saturating_sub(allowed));
    }

    /// Returns the number of all calls, and their tokens.
    pub(crate) fn total(&self) -> (u32, Usage) {
        let mut total = ModelCost::default();
        self.spent.values().for_each(|it| total.add(*it));
        (total.calls, total.usage)
    }

    /// Returns the cost for each role.
    pub(crate) fn roles(&self) -> BTreeMap<ModelRole, RoleCost> {
        let cost = |it: &ModelCost| RoleCost {
            calls: it.calls,
            usage: it.usage,
            ms: (it.ms * 1_000.0).round() / 1_000.0,
        };
        self.spent.iter().map(|(role, it)| (*role, cost(it))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_subtracted_from_the_remaining_budget() {
        let mut budget = ModelBudget::new(ModelAllowance {
            calls: 3,
            tokens: Some(100),
        });
        let cost = ModelCost {
            calls: 1,
            usage: Usage {
                prompt_tokens: 30,
                completion_tokens: 10,
            },
            ms: 5.0,
        };
        budget.spend(ModelRole::Answer, cost);
        budget.spend(ModelRole::Answer, cost);
        assert_eq!(
            budget.left(),
            ModelAllowance {
                calls: 1,
                tokens: Some(20)
            }
        );
        assert_eq!(budget.total().0, 2);
        assert_eq!(budget.roles()[&ModelRole::Answer].usage.prompt_tokens, 60);
        budget.spend(ModelRole::Answer, cost);
        assert_eq!(budget.left().tokens, Some(0));
    }

    #[test]
    fn a_step_leaves_the_reserve() {
        let left = |calls, tokens| ModelBudget::new(ModelAllowance { calls, tokens });
        let reserve = Reserve { calls: 1, tokens: 40 };
        for (calls, tokens, allowed, step) in [
            (1, None, false, (0, None)),
            (2, Some(100), true, (1, Some(60))),
            (9, Some(30), true, (2, Some(0))),
        ] {
            let budget = left(calls, tokens);
            let may = budget.step(reserve);
            assert_eq!(
                (budget.allows(reserve), (may.calls, may.tokens)),
                (allowed, step),
                "{calls}"
            );
        }
        assert_eq!(left(1, None).step(Reserve::default()).calls, 1);
    }

    #[test]
    fn a_step_that_made_no_call_has_no_role() {
        let mut budget = ModelBudget::new(ModelAllowance::default());
        budget.spend(ModelRole::Answer, ModelCost::default());
        assert!(budget.roles().is_empty());
    }
}
