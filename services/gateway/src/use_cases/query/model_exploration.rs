//! Strategies in which a language model explores. The pack is filled from its choice, as from any choice. If the loop
//! ends without a choice, the units that it found rank before units of equal score.

use chrono::{DateTime, FixedOffset};
use domain::code::DegradedCode;
use domain::message::{ExplorationStrategy, RoutedV1};
use tokio::time::Instant;

use super::Query;
use crate::api::problem::Problem;
use crate::strategies::agent::{AgentLoop, LoopLimits, LoopSubject, NumberedLines, loop_deadline};

/// Number of ranked units that the model is shown at the start, for the question and for each of its parts.
const OPENING: u32 = 20;
/// Maximum number of units passed to the router if a loop ends without a choice.
const GATHERED_MAX: usize = 24;

impl Query<'_> {
    /// Returns true if a language model may explore: a call is left in addition to the one that answers.
    pub(super) fn may_look(&self) -> bool {
        self.strategy_table().is_some() && self.models.allows_call(self.answer_reserve())
    }

    fn strategy_table(&self) -> Option<LoopLimits> {
        LoopLimits::from_strategy(self.strategy, self.limits)
    }

    /// Requests at least as many ranked units as the model is shown at the start.
    pub(super) fn open_view(&mut self) {
        if self.may_look() {
            self.route.ranked = self.route.ranked.max(OPENING);
        }
    }

    /// Explores from the results of the route, and routes again with the choice. `ranked` is the number of ranked units
    /// that the caller wants, `by` the caller's key.
    pub(super) async fn look_around(
        &mut self,
        by: &str,
        ranked: u32,
        mut first: RoutedV1,
    ) -> Result<RoutedV1, Problem> {
        self.route.ranked = ranked;
        let Some(table) = self.strategy_table().filter(|_| self.may_look()) else {
            return Ok(first);
        };
        let (begun, deadline) = (Instant::now(), loop_deadline(self.time_left()));
        let mut lines = NumberedLines::default();
        take_ranked_units(&mut lines, &first, OPENING as usize);
        first.ranked.truncate(ranked as usize);
        let asked_at = first.anchors.asked_at;
        let subgoals = match table.walk {
            ExplorationStrategy::Explore => self.plan_subgoals(by, asked_at, &mut lines).await?,
            ExplorationStrategy::Reconstruct
            | ExplorationStrategy::Recollect
            | ExplorationStrategy::Navigate
            | ExplorationStrategy::Recall => Vec::new(),
        };
        let agent = AgentLoop {
            app: self.app,
            by,
            name: self.strategy.name(),
            degraded: DegradedCode::StrategyUnfinished,
            matter: LoopSubject {
                space: self.route.space.clone(),
                text: self.route.question.clone(),
                asked_at,
                as_of: self.route.as_of,
                filter: self.route.filter.clone(),
                subgoals,
                lines_max: None,
            },
            limits: table,
            reserve: self.answer_reserve(),
            models: &mut self.models,
            trail: &mut self.trail,
            deadline,
        };
        let looked = agent.run_loop(lines).await;
        self.note_step(self.strategy.name(), begun);
        match looked.chosen {
            Some(chosen) => {
                self.route.focus.clone_from(&chosen);
                self.route.selected = chosen;
            }
            None => self.route.focus = looked.found.into_iter().take(GATHERED_MAX).collect(),
        }
        if self.route.focus.is_empty() {
            return Ok(first);
        }
        let _turn = self.app.later_question_turn(by, self.time_left()).await?;
        self.request_route().await
    }

    /// Returns the parts of the question, planned by the model if enough calls are left, and adds their results to the
    /// lines.
    async fn plan_subgoals(
        &mut self,
        by: &str,
        asked_at: Option<DateTime<FixedOffset>>,
        lines: &mut NumberedLines,
    ) -> Result<Vec<String>, Problem> {
        // Planning takes one call and is useless without another call that decides.
        if self.models.remaining_allowance().calls <= 1 + self.answer_reserve().calls {
            return Ok(Vec::new());
        }
        let parts = self.plan_parts(asked_at, true).await;
        let _turn = self.app.later_question_turn(by, self.time_left()).await?;
        for routed in self.route_parts(&parts, OPENING).await.into_iter().flatten() {
            take_ranked_units(lines, &routed, OPENING as usize);
        }
        Ok(parts)
    }
}

/// Adds the best ranked units of a route to the lines.
fn take_ranked_units(lines: &mut NumberedLines, routed: &RoutedV1, most: usize) {
    for it in routed.ranked.iter().take(most) {
        lines.add_unit(it.unit, &it.text);
    }
}
