//! Reranking: a language model chooses among the best candidates those that hold the answer, and the pack is filled
//! from its choice first. This takes one call, before the call that answers.

use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::message::{RankV1, RankedV1, RoutedV1};
use domain::port::ModelRole;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use super::Query;
use crate::api::Strategy;
use crate::api::problem::Problem;
use crate::strategies::model_budget::Reserve;
use crate::strategies::request_report::describe_failure;

/// Number of candidates in the prompt.
const CANDIDATES: u32 = 60;
/// Share of the remaining time that the choice may take.
const SHARE: f64 = 0.5;
/// Model tokens reserved for the call that answers, in addition to those of the pack.
const ANSWER_TOKENS: u32 = 1_500;

impl Query<'_> {
    /// Returns true if a language model may choose among the candidates: calls are left in addition to the one that
    /// answers.
    pub(super) fn may_select(&self) -> bool {
        let fits = matches!(self.strategy, Strategy::Route | Strategy::Auto);
        fits && self.models.allows_call(self.answer_reserve())
    }

    /// Requests as many units in rank order as the prompt shows.
    pub(super) fn rank_candidates(&mut self) {
        if self.may_select() {
            self.route.ranked = self.route.ranked.max(CANDIDATES);
        }
    }

    /// Returns evidence that is filled from the model's choice, or unchanged evidence without a choice. `ranked` is the
    /// number of ranked units that the caller wants, `by` the caller's key.
    pub(super) async fn select_by_model(
        &mut self,
        by: &str,
        ranked: u32,
        mut routed: RoutedV1,
    ) -> Result<RoutedV1, Problem> {
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
            allow: self.models.step_allowance(self.answer_reserve()),
        };
        let chosen = self.request_choice(request).await;
        self.trail
            .report_step("select", "the best candidates, by a language model", shown, &chosen);
        if chosen.is_empty() {
            return Ok(routed);
        }
        let _turn = self.app.later_question_turn(by, self.time_left()).await?;
        self.route.selected = chosen;
        self.request_route().await
    }

    async fn request_choice(&mut self, request: RankV1) -> Vec<UnitId> {
        let begun = Instant::now();
        let allow = request.allow;
        let patience = self.time_left().mul_f64(SHARE);
        let span = info_span!("select", candidates = request.candidates.len());
        let context = &self.app.context;
        let ranked = context.send_request(request, patience).instrument(span).await;
        self.note_step("select", begun);
        match ranked {
            Ok(RankedV1 { units, spent, degraded }) => {
                self.models.subtract_cost(ModelRole::Rank, spent);
                for reason in degraded {
                    self.trail.report_degraded(
                        DegradedCode::SelectionWithoutModel,
                        format!("select: no choice of the language model: {reason}; packed without it"),
                    );
                }
                units
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no choice");
                // The cost is unknown, so all calls of this step count as spent.
                self.models.forfeit_allowance(allow);
                self.trail.report_degraded(
                    DegradedCode::SelectionWithoutModel,
                    format!("select: the reader {}; packed without it", describe_failure(&error)),
                );
                Vec::new()
            }
        }
    }

    /// Returns the reserve for the call that answers.
    pub(super) fn answer_reserve(&self) -> Reserve {
        match self.answer {
            true => Reserve {
                calls: 1,
                tokens: self.route.tokens.saturating_add(ANSWER_TOKENS),
            },
            false => Reserve::default(),
        }
    }
}
