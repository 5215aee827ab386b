//! Strategies in which a language model looks around. The pack is filled from what it chooses, as from any choice; what it
//! found without coming to an end comes before its equals.

use chrono::{DateTime, FixedOffset};
use domain::code::DegradedCode;
use domain::message::{RoutedV1, Walk};
use tokio::time::Instant;

use super::Query;
use crate::agent::{Agent, Matter, Seen, Table, deadline};
use crate::problem::Problem;

/// Candidates of the route in view from the beginning, and of each part of the question.
const OPENING: u32 = 20;
/// Units of a loop without a choice that are handed to the router.
const GATHERED_MAX: usize = 24;

impl Query<'_> {
    /// Returns true if a language model may look around: a call is left beside the one that answers.
    pub(super) fn may_look(&self) -> bool {
        self.table().is_some() && self.models.allows(self.reserve())
    }

    fn table(&self) -> Option<Table> {
        Table::of(self.strategy, self.limits)
    }

    /// Asks for as many units in rank order as are in view from the beginning.
    pub(super) fn open_view(&mut self) {
        if self.may_look() {
            self.route.ranked = self.route.ranked.max(OPENING);
        }
    }

    /// Looks around from what the route found, and routes again with what was chosen. `ranked` is how many ranked units the
    /// caller wants, `by` the caller's key.
    pub(super) async fn look_around(
        &mut self,
        by: &str,
        ranked: u32,
        mut first: RoutedV1,
    ) -> Result<RoutedV1, Problem> {
        self.route.ranked = ranked;
        let Some(table) = self.table().filter(|_| self.may_look()) else {
            return Ok(first);
        };
        let (begun, deadline) = (Instant::now(), deadline(self.left()));
        let mut seen = Seen::default();
        take(&mut seen, &first, OPENING as usize);
        first.ranked.truncate(ranked as usize);
        let asked_at = first.anchors.asked_at;
        let subgoals = match table.walk {
            Walk::Explore => self.subgoals(by, asked_at, &mut seen).await?,
            Walk::Reconstruct | Walk::Recollect | Walk::Navigate | Walk::Recall => Vec::new(),
        };
        let agent = Agent {
            app: self.app,
            by,
            name: self.strategy.name(),
            degraded: DegradedCode::StrategyUnfinished,
            matter: Matter {
                space: self.route.space.clone(),
                text: self.route.question.clone(),
                asked_at,
                as_of: self.route.as_of,
                labels: self.route.filter.labels.clone(),
                subgoals,
                lines_max: None,
            },
            table,
            reserve: self.reserve(),
            models: &mut self.models,
            trail: &mut self.trail,
            deadline,
        };
        let looked = agent.run(seen).await;
        self.note(self.strategy.name(), begun);
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
        let _turn = self.app.question_turn(by, self.left()).await?;
        self.routed().await
    }

    /// Returns the parts of the question, planned by the model if calls are left for it, and takes what they find in view.
    async fn subgoals(
        &mut self,
        by: &str,
        asked_at: Option<DateTime<FixedOffset>>,
        seen: &mut Seen,
    ) -> Result<Vec<String>, Problem> {
        // One call plans; without another one that decides it would be in vain.
        if self.models.left().calls <= 1 + self.reserve().calls {
            return Ok(Vec::new());
        }
        let parts = self.parts(asked_at, true).await;
        let _turn = self.app.question_turn(by, self.left()).await?;
        for routed in self.routes(&parts, OPENING).await.into_iter().flatten() {
            take(seen, &routed, OPENING as usize);
        }
        Ok(parts)
    }
}

/// Takes the best ranked units of a route in view.
fn take(seen: &mut Seen, routed: &RoutedV1, most: usize) {
    for it in routed.ranked.iter().take(most) {
        seen.take(it.unit, &it.text);
    }
}
