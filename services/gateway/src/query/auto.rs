//! Which strategy fits a question and its budget. A strategy that was not measured to pay is never chosen.

use domain::anchor::{Anchors, HopShape};

use super::Query;
use crate::api::Strategy;

/// Calls beside the one that answers from which on a question is explored: one that plans, two that decide.
const EXPLORED: u32 = 3;

impl Query<'_> {
    /// Chooses a strategy and tells why.
    pub(super) fn choose(&mut self, anchors: &Anchors) -> Strategy {
        let spare = self.models.left().calls.saturating_sub(u32::from(self.answer));
        let (strategy, why) = match (anchors.hops, spare) {
            (HopShape::Multi, EXPLORED..) => (
                Strategy::Explore,
                "gathers several facts, and a model may look for them",
            ),
            (HopShape::Multi, _) => (
                Strategy::Route,
                "gathers several facts, with too few model calls to look for them",
            ),
            (HopShape::Single, _) => (Strategy::Route, "one fact in one place"),
        };
        self.trail.tell("auto", &format!("{}: {why}", strategy.name()), 0, &[]);
        strategy
    }
}
