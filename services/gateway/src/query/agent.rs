//! The loop in which a language model looks around: it sees what was found, calls tools that only read, and ends with the
//! lines that hold the answer. The pack is filled from these, as from any choice.
//!
//! A loop ends when the model calls nothing, when a turn brought nothing new (the next is the last), or when turns, calls,
//! tokens or time are spent. What it found then comes before its equals.

mod seen;
mod table;

use std::time::Duration;

use domain::id::UnitId;
use domain::message::{LookV1, LookupV1, RoutedV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1, Walk};
use domain::port::ModelRole;
use futures::future::join_all;
use serde_json::json;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use self::seen::{Seen, offered};
use self::table::Table;
use super::{Query, why};
use crate::problem::Problem;

/// Candidates of the route in view from the beginning, and of each part of the question.
const OPENING: u32 = 20;
/// Share of the time left that a loop may take.
const SHARE: f64 = 0.8;
/// Units of a loop without a choice that are handed to the router.
const GATHERED_MAX: usize = 24;

/// A loop under way.
struct Looking {
    table: Table,
    tools: Vec<ToolSpecV1>,
    subgoals: Vec<String>,
    seen: Seen,
    /// Lines that were in view before the model looked.
    opening: usize,
    lookups: Vec<LookupV1>,
    deadline: Instant,
}

impl Query<'_> {
    /// Returns true if a language model may look around: a call is left beside the one that answers.
    pub(super) fn may_look(&self) -> bool {
        self.table().is_some() && self.models.left().calls > u32::from(self.answer)
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
        let begun = Instant::now();
        let mut seen = Seen::default();
        seen.take(&first.ranked[..first.ranked.len().min(OPENING as usize)]);
        first.ranked.truncate(ranked as usize);
        let mut looking = Looking {
            table,
            tools: Vec::new(),
            subgoals: Vec::new(),
            seen,
            opening: 0,
            lookups: Vec::new(),
            deadline: begun + self.left().mul_f64(SHARE),
        };
        self.open(by, &mut looking, &first).await?;
        let chosen = self.turns(by, &mut looking, &first).await?;
        self.note(self.strategy.name(), begun);
        match chosen {
            Some(chosen) => {
                self.route.focus.clone_from(&chosen);
                self.route.selected = chosen;
            }
            None => {
                let found = looking.seen.after(looking.opening).iter().take(GATHERED_MAX);
                self.route.focus = found.copied().collect();
            }
        }
        if self.route.focus.is_empty() {
            return Ok(first);
        }
        let _turn = self.turn(by).await?;
        self.routed().await
    }

    /// Brings in view what the paper begins with: parts and what they find, gists by meaning and by words, dimensions.
    async fn open(&mut self, by: &str, looking: &mut Looking, first: &RoutedV1) -> Result<(), Problem> {
        looking.tools = self.offered(looking).await;
        match looking.table.walk {
            Walk::Explore => {
                // One call plans; without another one that decides it would be in vain.
                if self.models.left().calls > 1 + u32::from(self.answer) {
                    looking.subgoals = self.parts(first.anchors.asked_at, true).await;
                }
                let parts = looking.subgoals.clone();
                let _turn = self.turn(by).await?;
                for routed in self.routes(&parts, OPENING).await.into_iter().flatten() {
                    looking.seen.take(&routed.ranked);
                }
            }
            Walk::Recollect => {
                let arguments = json!({"query": self.route.question});
                let call = |name: &str| LookV1 {
                    name: name.to_owned(),
                    arguments: arguments.clone(),
                };
                let calls = ["semantic_retrieve", "lexical_retrieve"].map(call);
                self.look(by, looking, calls.into()).await?;
            }
            Walk::Navigate => {
                let call = LookV1 {
                    name: "list_dimensions".to_owned(),
                    arguments: json!({}),
                };
                self.look(by, looking, vec![call]).await?;
            }
            Walk::Reconstruct => {}
        }
        looking.opening = looking.seen.lines().len();
        Ok(())
    }

    /// Takes turns, and returns what the model ends with; none if it comes to no end.
    async fn turns(
        &mut self,
        by: &str,
        looking: &mut Looking,
        first: &RoutedV1,
    ) -> Result<Option<Vec<UnitId>>, Problem> {
        let mut more = looking.table.turns;
        while self.may_look() && more > 0 {
            more -= 1;
            let spare = self.models.left().calls - u32::from(self.answer) - 1;
            more = more.min(spare);
            let Some(turned) = self.decided(looking, first, more).await else {
                return Ok(None);
            };
            if turned.calls.is_empty() {
                let chosen = looking.seen.units(&turned.lines);
                self.tell("end", "the model has seen enough", looking.seen.lines().len(), &chosen);
                return Ok(Some(chosen));
            }
            let calls = turned.calls.into_iter().take(looking.table.calls as usize).collect();
            if more > 0 && !self.look(by, looking, calls).await? {
                more = 1;
            }
        }
        self.degrade(format!(
            "{}: ended without a choice; what was found comes first",
            self.strategy.name()
        ));
        Ok(None)
    }

    /// Asks the model what to do; none if it cannot be used, which is said.
    async fn decided(&mut self, looking: &Looking, first: &RoutedV1, more: u32) -> Option<TurnedV1> {
        let request = TurnV1 {
            space: self.route.space.clone(),
            question: self.route.question.clone(),
            asked_at: first.anchors.asked_at,
            walk: looking.table.walk,
            subgoals: looking.subgoals.clone(),
            lines: looking.seen.lines().to_vec(),
            lookups: looking.lookups.clone(),
            tools: if more > 0 { looking.tools.clone() } else { Vec::new() },
            calls_max: looking.table.calls,
            turns_left: more,
            allow: self.allowed_before_answer(),
        };
        let span = info_span!(
            "turn",
            strategy = self.strategy.name(),
            lines = request.lines.len(),
            more
        );
        let patience = looking.deadline.saturating_duration_since(Instant::now());
        let outcome = self.app.context.request(&request, patience).instrument(span).await;
        let name = self.strategy.name();
        match outcome {
            Ok(turned) => {
                self.models.spend(ModelRole::Decide, turned.spent);
                let unusable = turned.degraded.first().cloned();
                if let Some(reason) = unusable {
                    self.degrade(format!("{name}: no decision of the language model: {reason}"));
                    return None;
                }
                Some(turned)
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no decision");
                self.models.forfeit(request.allow);
                self.degrade(format!("{name}: the reader {}", why(&error)));
                None
            }
        }
    }

    /// Makes calls of tools, all at a time, and takes what they give in view. Says whether there was anything new.
    async fn look(&mut self, by: &str, looking: &mut Looking, calls: Vec<LookV1>) -> Result<bool, Problem> {
        let _turn = self.turn(by).await?;
        let patience = looking.deadline.saturating_duration_since(Instant::now());
        let wanted = calls.iter().map(|it| self.called(looking, it, patience));
        let outcomes = join_all(wanted).await;
        let mut news = false;
        for (call, outcome) in calls.into_iter().zip(outcomes) {
            let before = looking.seen.lines().len();
            let result = match (outcome.result, outcome.error) {
                (Some(result), _) => looking.seen.told(&result),
                (None, error) => error.map_or("nothing".to_owned(), |it| format!("{}: {}", it.code, it.message)),
            };
            let found = looking.seen.after(before).to_vec();
            self.tell(&call.name, &call.arguments.to_string(), found.len(), &found);
            let lookup = LookupV1 { call, result };
            news |= !looking.lookups.contains(&lookup);
            looking.lookups.push(lookup);
        }
        Ok(news)
    }

    /// Calls a tool of this loop in the space of the question; a model can name no other.
    async fn called(&self, looking: &Looking, call: &LookV1, patience: Duration) -> ToolledV1 {
        if !looking.table.tools.contains(&call.name.as_str()) {
            return refused("unknown_tool", "there is no such tool here");
        }
        let request = ToolV1 {
            space: self.route.space.clone(),
            name: call.name.clone(),
            arguments: looking.seen.arguments(&call.arguments),
            as_of: self.route.as_of,
        };
        let outcome = self.app.context.request(&request, patience);
        let outcome = outcome.instrument(info_span!("tool")).await;
        outcome.unwrap_or_else(|error| {
            warn!(error = &error as &dyn std::error::Error, "a tool failed");
            refused("unavailable", &format!("the tool {}", why(&error)))
        })
    }

    /// Returns the tools of the loop; none if the router does not tell them, so that the loop only chooses.
    async fn offered(&mut self, looking: &Looking) -> Vec<ToolSpecV1> {
        let patience = looking.deadline.saturating_duration_since(Instant::now());
        match self.app.context.request(&ToolsV1 {}, patience).await {
            Ok(listed) => {
                let own = listed
                    .into_iter()
                    .filter(|it| looking.table.tools.contains(&it.name.as_str()));
                own.map(offered).collect()
            }
            Err(error) => {
                self.degrade(format!("{}: the list of tools {}", self.strategy.name(), why(&error)));
                Vec::new()
            }
        }
    }
}

fn refused(code: &str, message: &str) -> ToolledV1 {
    ToolledV1 {
        result: None,
        error: Some(domain::message::ToolErrorV1 {
            code: code.to_owned(),
            message: message.to_owned(),
        }),
    }
}
