//! The best candidates are shown to a language model, which chooses those that hold the answer; the pack is filled from them
//! first. One call, before the one that answers.

use domain::id::UnitId;
use domain::message::{RankV1, RankedV1, RoutedV1};
use domain::port::{ModelAllowance, ModelRole};
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use super::{Query, why};
use crate::api::Strategy;
use crate::problem::Problem;

/// Candidates that are shown.
const CANDIDATES: u32 = 60;
/// Share of the time left that the choice may take.
const SHARE: f64 = 0.5;
/// Calls of one step: a reply that cannot be read is asked for once more.
const STEP_CALLS: u32 = 2;
/// Model tokens kept for the call that answers, beside those of the pack.
const ANSWER_TOKENS: u32 = 1_500;

impl Query<'_> {
    /// Returns true if a language model may choose among the candidates: calls are left beside the one that answers.
    pub(super) fn may_select(&self) -> bool {
        let fits = matches!(self.strategy, Strategy::Route | Strategy::Auto);
        fits && self.models.left().calls > u32::from(self.answer)
    }

    /// Asks for as many units in rank order as are shown to the model.
    pub(super) fn rank_candidates(&mut self) {
        if self.may_select() {
            self.route.ranked = self.route.ranked.max(CANDIDATES);
        }
    }

    /// Returns evidence that is filled from the model's choice, or the evidence as it is if there is none. `ranked` is how many
    /// ranked units the caller wants, `by` the caller's key.
    pub(super) async fn select(&mut self, by: &str, ranked: u32, mut routed: RoutedV1) -> Result<RoutedV1, Problem> {
        self.route.ranked = ranked;
        let mut candidates = routed.ranked.clone();
        routed.ranked.truncate(ranked as usize);
        candidates.truncate(CANDIDATES as usize);
        if !self.may_select() || self.strategy != Strategy::Route || candidates.is_empty() {
            return Ok(routed);
        }
        let shown = candidates.len();
        let request = RankV1 {
            space: self.route.space.clone(),
            question: self.route.question.clone(),
            asked_at: routed.anchors.asked_at,
            candidates,
            allow: self.allowed_before_answer(),
        };
        let chosen = self.chosen(request).await;
        self.tell("select", "the best candidates, by a language model", shown, &chosen);
        if chosen.is_empty() {
            return Ok(routed);
        }
        let _turn = self.turn(by).await?;
        self.route.selected = chosen;
        self.routed().await
    }

    async fn chosen(&mut self, request: RankV1) -> Vec<UnitId> {
        let begun = Instant::now();
        let patience = self.left().mul_f64(SHARE);
        let span = info_span!("select", candidates = request.candidates.len());
        let context = &self.app.context;
        let ranked = context.request(&request, patience).instrument(span).await;
        self.note("select", begun);
        match ranked {
            Ok(RankedV1 { units, spent, degraded }) => {
                self.models.spend(ModelRole::Rank, spent);
                for reason in degraded {
                    self.degrade(format!(
                        "select: no choice of the language model: {reason}; packed without it"
                    ));
                }
                units
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no choice");
                // What it may have spent is not known: of the calls that it might have made none is left.
                self.models.forfeit(request.allow);
                self.degrade(format!("select: the reader {}; packed without it", why(&error)));
                Vec::new()
            }
        }
    }

    /// Returns what one step may spend, so that the call that answers is left.
    pub(super) fn allowed_before_answer(&self) -> ModelAllowance {
        let left = self.models.left();
        let kept = match self.answer {
            true => self.route.tokens.saturating_add(ANSWER_TOKENS),
            false => 0,
        };
        ModelAllowance {
            calls: left.calls.saturating_sub(u32::from(self.answer)).min(STEP_CALLS),
            tokens: left.tokens.map(|it| it.saturating_sub(kept)),
        }
    }
}
