//! The parts of a question, each with its own route. Without a language model, this is how a strategy works: the route
//! of the whole question focuses on the results of the parts.

use chrono::{DateTime, FixedOffset};
use domain::code::DegradedCode;
use domain::id::UnitId;
use domain::message::{PlanV1, RouteV1, RoutedV1};
use domain::port::{ModelAllowance, ModelRole};
use futures::future::join_all;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use super::Query;
use crate::api::problem::Problem;
use crate::strategies::request_report::describe_failure;

/// Number of units from each part.
const PART_UNITS: u32 = 8;
/// Share of the remaining time that the parts may take.
const SHARE: f64 = 0.6;

impl Query<'_> {
    /// Routes the question with a focus on the results of its parts.
    pub(super) async fn routed_by_parts(&mut self) -> Result<RoutedV1, Problem> {
        let parts = self.plan_parts(self.route.asked_at, false).await;
        let found = self.route_parts(&parts, PART_UNITS).await;
        let found: Vec<Vec<UnitId>> = found
            .into_iter()
            .map(|it| it.map_or_else(Vec::new, |it| it.ranked.iter().map(|it| it.unit).collect()))
            .collect();
        for (part, units) in parts.iter().zip(&found) {
            self.trail.report_step("part", part, units.len(), units);
        }
        self.route.focus = in_turn(&found);
        self.request_route().await
    }

    /// Returns the parts of the question, planned by a language model or by rule; empty if the question has only one
    /// part.
    pub(super) async fn plan_parts(&mut self, asked_at: Option<DateTime<FixedOffset>>, by_model: bool) -> Vec<String> {
        let begun = Instant::now();
        let allow = match by_model {
            true => self.models.step_allowance(self.answer_reserve()),
            false => ModelAllowance::default(),
        };
        let request = PlanV1 {
            space: self.route.space.clone(),
            question: self.route.question.clone(),
            asked_at,
            allow,
        };
        let patience = self.time_left().mul_f64(SHARE);
        let outcome = self.app.context.send_request(request, patience);
        let outcome = outcome.instrument(info_span!("plan")).await;
        self.note_step("plan", begun);
        let parts: Vec<String> = match outcome {
            Ok(planned) => {
                self.models.subtract_cost(ModelRole::Plan, planned.spent);
                for reason in planned.degraded {
                    self.trail.report_degraded(
                        DegradedCode::PlanWithoutModel,
                        format!("plan: no plan of the language model: {reason}; planned without it"),
                    );
                }
                planned.subgoals.into_iter().skip(1).collect()
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no plan");
                self.models.forfeit_allowance(allow);
                self.trail.report_degraded(
                    DegradedCode::PlanWithoutModel,
                    format!(
                        "plan: the reader {}; the question is one part",
                        describe_failure(&error)
                    ),
                );
                Vec::new()
            }
        };
        self.trail.report_step("plan", &parts.join(" | "), parts.len(), &[]);
        parts
    }

    /// Queries the router once for each part, in parallel. A failed part gives `None`, and `degraded` says so.
    pub(super) async fn route_parts(&mut self, parts: &[String], ranked: u32) -> Vec<Option<RoutedV1>> {
        if parts.is_empty() {
            return Vec::new();
        }
        let begun = Instant::now();
        let patience = self.time_left().mul_f64(SHARE);
        let request = |part: &String| RouteV1 {
            question: part.clone(),
            tokens: 0,
            explain: 0,
            ranked,
            scenes: 0,
            focus: Vec::new(),
            ..self.route.clone()
        };
        let requests = parts.iter().map(request);
        let context = &self.app.context;
        let replies = join_all(requests.map(|it| context.send_request(it, patience)));
        let replies = replies.instrument(info_span!("parts", parts = parts.len())).await;
        self.note_step("parts", begun);
        let mut out = Vec::with_capacity(parts.len());
        for reply in replies {
            let reply = reply.map_err(|error| {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "a part of the question found nothing"
                );
                let reason = format!("parts: the router {}", describe_failure(&error));
                self.trail.report_degraded(DegradedCode::PartUnsearched, reason);
            });
            out.push(reply.ok());
        }
        out
    }
}

/// Returns the units of several lists in turn, the best of each list first, without duplicates.
fn in_turn(lists: &[Vec<UnitId>]) -> Vec<UnitId> {
    let mut out = Vec::new();
    for rank in 0..lists.iter().map(Vec::len).max().unwrap_or_default() {
        for unit in lists.iter().filter_map(|it| it.get(rank)) {
            if !out.contains(unit) {
                out.push(*unit);
            }
        }
    }
    out
}
