//! What a question may spend on language models, and what it spent: one account for all its steps.

use std::collections::BTreeMap;

use domain::port::{ModelAllowance, ModelCost, ModelRole, Usage};

use crate::api::RoleCost;

/// The account of one question.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelBudget {
    left: ModelAllowance,
    spent: BTreeMap<ModelRole, ModelCost>,
}

impl ModelBudget {
    pub(super) fn new(left: ModelAllowance) -> ModelBudget {
        ModelBudget {
            left,
            spent: BTreeMap::new(),
        }
    }

    /// Returns what is left.
    pub(super) fn left(&self) -> ModelAllowance {
        self.left
    }

    /// Takes off what a step spent. A service that spends more than it was allowed leaves nothing.
    pub(super) fn spend(&mut self, role: ModelRole, cost: ModelCost) {
        if cost.calls > 0 {
            self.left.spend(cost);
            self.spent.entry(role).or_default().add(cost);
        }
    }

    /// Takes off all that a step was allowed, if what it spent is not known.
    pub(super) fn forfeit(&mut self, allowed: ModelAllowance) {
        self.left.calls = self.left.calls.saturating_sub(allowed.calls);
        let tokens = self.left.tokens.zip(allowed.tokens);
        self.left.tokens = tokens.map(|(left, allowed)| left.saturating_sub(allowed));
    }

    /// Returns the calls made in all, and their tokens.
    pub(super) fn total(&self) -> (u32, Usage) {
        let mut total = ModelCost::default();
        self.spent.values().for_each(|it| total.add(*it));
        (total.calls, total.usage)
    }

    /// Returns what was spent by role.
    pub(super) fn roles(&self) -> BTreeMap<ModelRole, RoleCost> {
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
    fn what_is_spent_is_taken_off_what_is_left() {
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
    fn a_step_that_made_no_call_has_no_role() {
        let mut budget = ModelBudget::new(ModelAllowance::default());
        budget.spend(ModelRole::Answer, ModelCost::default());
        assert!(budget.roles().is_empty());
    }
}
