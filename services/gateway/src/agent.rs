//! The loop in which a language model explores the memory: it sees lines, calls read-only tools, and finally chooses
//! lines. Strategies of questions and recall share it.
//!
//! A loop ends when the model makes no call, one turn after a turn with no new lines, or when turns, calls, tokens or
//! time are used up.

mod seen;
mod table;

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use domain::code::{DegradedCode, ToolCode};
use domain::filter::Filter;
use domain::id::{SpaceId, UnitId};
use domain::message::{LookV1, LookupV1, ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1, Walk};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

pub(crate) use self::seen::Seen;
use self::seen::offered;
pub(crate) use self::table::{RECALL, Table};
use crate::model_budget::{ModelBudget, Reserve};
use crate::state::App;
use crate::trail::{Trail, why};

/// Share of the remaining time that a loop may take.
const SHARE: f64 = 0.8;

/// Subject and scope of a loop. The caller sets all of it; the model sets none of it.
#[derive(Clone, Debug)]
pub(crate) struct Matter {
    /// The only space that the loop reads.
    pub(crate) space: SpaceId,
    /// The question or message.
    pub(crate) text: String,
    /// Time of the question or message.
    pub(crate) asked_at: Option<DateTime<FixedOffset>>,
    /// Only data known at this time.
    pub(crate) as_of: Option<DateTime<FixedOffset>>,
    /// Only data from records with these tags and this metadata.
    pub(crate) labels: Filter,
    /// Planned subgoals; empty without a plan.
    pub(crate) subgoals: Vec<String>,
    /// Maximum number of chosen lines; `None` for no limit.
    pub(crate) lines_max: Option<u32>,
}

/// A running loop.
pub(crate) struct Agent<'a> {
    pub(crate) app: &'a App,
    /// The caller's key: tool calls use its share of questions.
    pub(crate) by: &'a str,
    /// Name of the loop in `degraded`.
    pub(crate) name: &'static str,
    /// Code in `degraded` if the loop fails.
    pub(crate) degraded: DegradedCode,
    pub(crate) matter: Matter,
    pub(crate) table: Table,
    /// Budget that the loop leaves for later steps.
    pub(crate) reserve: Reserve,
    pub(crate) models: &'a mut ModelBudget,
    pub(crate) trail: &'a mut Trail,
    pub(crate) deadline: Instant,
}

/// Result of a loop.
#[derive(Debug)]
pub(crate) struct Looked {
    /// The units that the model chose, in its order; `None` if it made no choice, and then `degraded` gives the reason.
    pub(crate) chosen: Option<Vec<UnitId>>,
    /// The units that the loop found, the first found first.
    pub(crate) found: Vec<UnitId>,
}

/// Contents of the prompt in a turn.
struct View {
    seen: Seen,
    tools: Vec<ToolSpecV1>,
    lookups: Vec<LookupV1>,
}

/// Returns the deadline of a loop that starts now, if `left` remains for all steps.
pub(crate) fn deadline(left: Duration) -> Instant {
    Instant::now() + left.mul_f64(SHARE)
}

impl Agent<'_> {
    /// Runs the loop. The lines in `seen` are shown from the beginning.
    pub(crate) async fn run(mut self, seen: Seen) -> Looked {
        let mut view = View {
            seen,
            tools: self.offered().await,
            lookups: Vec::new(),
        };
        let opened = self.open(&mut view).await;
        let opening = view.seen.lines().len();
        let chosen = match opened {
            true => self.turns(&mut view).await,
            false => None,
        };
        Looked {
            chosen,
            found: view.seen.after(opening).to_vec(),
        }
    }

    /// Makes the initial lookups that the paper describes: gists by meaning and by words, dimensions. Returns false if
    /// they fail.
    async fn open(&mut self, view: &mut View) -> bool {
        let look = |name: &str, arguments: Value| LookV1 {
            name: name.to_owned(),
            arguments,
        };
        let calls = match self.table.walk {
            Walk::Recollect => {
                let arguments = json!({"query": self.matter.text});
                ["semantic_retrieve", "lexical_retrieve"]
                    .map(|it| look(it, arguments.clone()))
                    .into()
            }
            Walk::Navigate => vec![look("list_dimensions", json!({}))],
            Walk::Explore | Walk::Reconstruct | Walk::Recall => return true,
        };
        self.look(view, calls).await.is_some()
    }

    /// Runs turns and returns the final choice of the model; `None` without a choice, and the reason is then in
    /// `degraded`.
    async fn turns(&mut self, view: &mut View) -> Option<Vec<UnitId>> {
        let mut more = self.table.turns;
        while self.models.allows(self.reserve) && more > 0 {
            more -= 1;
            let spare = self.models.left().calls - self.reserve.calls - 1;
            more = more.min(spare);
            let turned = self.decided(view, more).await?;
            if turned.calls.is_empty() {
                let chosen = view.seen.units(&turned.lines);
                let what = "the model has seen enough";
                self.trail.tell("end", what, view.seen.lines().len(), &chosen);
                return Some(chosen);
            }
            let calls = turned.calls.into_iter().take(self.table.calls as usize).collect();
            if more > 0 && !self.look(view, calls).await? {
                more = 1;
            }
        }
        self.degrade("ended without a choice");
        None
    }

    /// Returns the decision of the model for a turn; `None` if there is no usable one, and the reason is then in
    /// `degraded`.
    async fn decided(&mut self, view: &View, more: u32) -> Option<TurnedV1> {
        let request = TurnV1 {
            space: self.matter.space.clone(),
            question: self.matter.text.clone(),
            asked_at: self.matter.asked_at,
            walk: self.table.walk,
            subgoals: self.matter.subgoals.clone(),
            lines: view.seen.lines().to_vec(),
            lookups: view.lookups.clone(),
            tools: if more > 0 { view.tools.clone() } else { Vec::new() },
            calls_max: self.table.calls,
            turns_left: more,
            lines_max: self.matter.lines_max,
            allow: self.models.step(self.reserve),
        };
        let allow = request.allow;
        let span = info_span!("turn", strategy = self.name, lines = request.lines.len(), more);
        let outcome = self
            .app
            .context
            .request(request, self.patience())
            .instrument(span)
            .await;
        match outcome {
            Ok(turned) => {
                self.models.spend(self.table.walk.role(), turned.spent);
                if let Some(reason) = turned.degraded.first() {
                    self.degrade(&format!("no decision of the language model: {reason}"));
                    return None;
                }
                Some(turned)
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no decision");
                self.models.forfeit(allow);
                self.degrade(&format!("the reader {}", why(&error)));
                None
            }
        }
    }

    /// Makes tool calls in parallel and adds the results to the lines. Returns whether any line was new; `None` if the
    /// caller's key has no free slot, and the reason is then in `degraded`.
    async fn look(&mut self, view: &mut View, calls: Vec<LookV1>) -> Option<bool> {
        let app = self.app;
        let _turn = match app.question_turn(self.by, self.patience()).await {
            Ok(turn) => turn,
            Err(problem) => {
                self.degrade(&problem.detail);
                return None;
            }
        };
        let wanted = calls.iter().map(|it| self.called(&view.seen, it));
        let outcomes = join_all(wanted).await;
        let mut news = false;
        for (call, outcome) in calls.into_iter().zip(outcomes) {
            let before = view.seen.lines().len();
            let result = match (outcome.result, outcome.error) {
                (Some(result), _) => view.seen.told(&result),
                (None, error) => error.map_or("nothing".to_owned(), |it| format!("{}: {}", it.code, it.message)),
            };
            let found = view.seen.after(before);
            self.trail
                .tell(&call.name, &call.arguments.to_string(), found.len(), found);
            let lookup = LookupV1 { call, result };
            news |= !view.lookups.contains(&lookup);
            view.lookups.push(lookup);
        }
        Some(news)
    }

    /// Calls a tool of this loop in the space of the matter; the model cannot name another space.
    async fn called(&self, seen: &Seen, call: &LookV1) -> ToolledV1 {
        if !self.table.tools.contains(&call.name.as_str()) {
            return refused(ToolCode::UnknownTool, "there is no such tool here");
        }
        let request = ToolV1 {
            space: self.matter.space.clone(),
            name: call.name.clone(),
            arguments: seen.arguments(&call.arguments),
            as_of: self.matter.as_of,
            labels: self.matter.labels.clone(),
        };
        let outcome = self.app.context.request(request, self.patience());
        let outcome = outcome.instrument(info_span!("tool")).await;
        outcome.unwrap_or_else(|error| {
            warn!(error = &error as &dyn std::error::Error, "a tool failed");
            refused(ToolCode::Unavailable, &format!("the tool {}", why(&error)))
        })
    }

    /// Returns the tools of the loop; empty if the router does not list them, and then the model can only choose.
    async fn offered(&mut self) -> Vec<ToolSpecV1> {
        match self.app.context.request(ToolsV1 {}, self.patience()).await {
            Ok(listed) => {
                let own = |it: &ToolSpecV1| self.table.tools.contains(&it.name.as_str());
                listed.into_iter().filter(own).map(offered).collect()
            }
            Err(error) => {
                self.degrade(&format!("the list of tools {}", why(&error)));
                Vec::new()
            }
        }
    }

    fn degrade(&mut self, what: &str) {
        self.trail.degrade(self.degraded, format!("{}: {what}", self.name));
    }

    fn patience(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

fn refused(code: ToolCode, message: &str) -> ToolledV1 {
    ToolledV1 {
        result: None,
        error: Some(ToolErrorV1::new(code, message)),
    }
}
