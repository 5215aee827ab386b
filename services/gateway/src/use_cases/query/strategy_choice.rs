//! The choice of a strategy for a question and its budget. Only strategies with a measured benefit are chosen.

use domain::anchor::{Anchors, HopShape};

use super::Query;
use crate::api::Strategy;

/// Minimum number of calls for `explore`, in addition to the call that answers: one to plan, two to decide.
const EXPLORED: u32 = 3;

impl Query<'_> {
    /// Returns the strategy, and reports the reason.
    pub(super) fn choose_strategy(&mut self, anchors: &Anchors) -> Strategy {
        let spare = self
            .models
            .remaining_allowance()
            .calls
            .saturating_sub(u32::from(self.answer));
        let (strategy, why) = match (anchors.hops, spare) {
            (HopShape::Multi, EXPLORED..) => (
                Strategy::Explore,
                "the question needs several facts, and a model may search for them",
            ),
            (HopShape::Multi, _) => (
                Strategy::Route,
                "the question needs several facts, but there are too few model calls to search for them",
            ),
            (HopShape::Single, _) => (Strategy::Route, "the question needs one fact"),
        };
        self.trail
            .report_step("auto", &format!("{}: {why}", strategy.name()), 0, &[]);
        strategy
    }
}
