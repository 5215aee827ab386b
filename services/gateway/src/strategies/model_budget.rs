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
    allowance_left: ModelAllowance,
    spent: BTreeMap<ModelRole, ModelCost>,
}

impl ModelBudget {
    pub(crate) fn new(allowance_left: ModelAllowance) -> ModelBudget {
        ModelBudget {
            allowance_left,
            spent: BTreeMap::new(),
        }
    }

    /// Returns the remaining budget.
    pub(crate) fn remaining_allowance(&self) -> ModelAllowance {
        self.allowance_left
    }

    /// Returns true if a call is left in addition to the reserve.
    pub(crate) fn allows_call(&self, reserve: Reserve) -> bool {
        self.allowance_left.calls > reserve.calls
    }

    /// Returns the budget of one step, without the reserve.
    pub(crate) fn step_allowance(&self, reserve: Reserve) -> ModelAllowance {
        ModelAllowance {
            calls: self.allowance_left.calls.saturating_sub(reserve.calls).min(STEP_CALLS),
            tokens: self.allowance_left.tokens.map(|it| it.saturating_sub(reserve.tokens)),
        }
    }

    /// Subtracts the cost of a step. If a service exceeds its allowance, nothing is left.
    pub(crate) fn subtract_cost(&mut self, role: ModelRole, cost: ModelCost) {
        if cost.calls > 0 {
            self.allowance_left.subtract_cost(cost);
            self.spent.entry(role).or_default().add_cost(cost);
        }
    }

    /// Subtracts the full allowance of a step whose cost is not known.
    pub(crate) fn forfeit_allowance(&mut self, allowed: ModelAllowance) {
        self.allowance_left.calls = self.allowance_left.calls.saturating_sub(allowed.calls);
        let tokens = self.allowance_left.tokens.zip(allowed.tokens);
        self.allowance_left.tokens = tokens.map(|(allowance_left, allowed)| allowance_left.saturating_sub(allowed));
    }

    /// Returns the number of all calls, and their tokens.
    pub(crate) fn total_calls_and_usage(&self) -> (u32, Usage) {
        let mut total = ModelCost::default();
        self.spent.values().for_each(|it| total.add_cost(*it));
        (total.calls, total.usage)
    }

    /// Returns the cost for each role.
    pub(crate) fn cost_by_role(&self) -> BTreeMap<ModelRole, RoleCost> {
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
        budget.subtract_cost(ModelRole::Answer, cost);
        budget.subtract_cost(ModelRole::Answer, cost);
        assert_eq!(
            budget.remaining_allowance(),
            ModelAllowance {
                calls: 1,
                tokens: Some(20)
            }
        );
        assert_eq!(budget.total_calls_and_usage().0, 2);
        assert_eq!(budget.cost_by_role()[&ModelRole::Answer].usage.prompt_tokens, 60);
        budget.subtract_cost(ModelRole::Answer, cost);
        assert_eq!(budget.remaining_allowance().tokens, Some(0));
    }

    #[test]
    fn a_step_does_not_use_the_reserved_calls_and_tokens() {
        let allowance_left = |calls, tokens| ModelBudget::new(ModelAllowance { calls, tokens });
        let reserve = Reserve { calls: 1, tokens: 40 };
        for (calls, tokens, allowed, step) in [
            (1, None, false, (0, None)),
            (2, Some(100), true, (1, Some(60))),
            (9, Some(30), true, (2, Some(0))),
        ] {
            let budget = allowance_left(calls, tokens);
            let may = budget.step_allowance(reserve);
            assert_eq!(
                (budget.allows_call(reserve), (may.calls, may.tokens)),
                (allowed, step),
                "{calls}"
            );
        }
        assert_eq!(allowance_left(1, None).step_allowance(Reserve::default()).calls, 1);
    }

    #[test]
    fn a_step_that_made_no_call_has_no_role() {
        let mut budget = ModelBudget::new(ModelAllowance::default());
        budget.subtract_cost(ModelRole::Answer, ModelCost::default());
        assert!(budget.cost_by_role().is_empty());
    }
}
