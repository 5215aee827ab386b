//! The agent loop, in which a language model explores the memory: it sees lines, calls read-only tools, and finally
//! chooses lines. Strategies of questions and recall share it.
//!
//! A loop ends when the model makes no call, one turn after a turn with no new lines, or when turns, calls, tokens or
//! time are used up.

mod loop_limits;
mod numbered_lines;

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use domain::code::{DegradedCode, ToolCode};
use domain::filter::Filter;
use domain::id::{SpaceId, UnitId};
use domain::message::{
    ExplorationStrategy, LookV1, LookupV1, QueryFilter, ToolErrorV1, ToolSpecV1, ToolV1, ToolledV1, ToolsV1, TurnV1,
    TurnedV1,
};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

pub(crate) use self::loop_limits::{LoopLimits, RECALL};
pub(crate) use self::numbered_lines::NumberedLines;

use self::numbered_lines::with_line_number_arguments;
use crate::app::state::App;
use crate::strategies::model_budget::{ModelBudget, Reserve};
use crate::strategies::request_report::{Trail, describe_failure};

/// Share of the remaining time that a loop may take.
const SHARE: f64 = 0.8;

/// Subject and scope of a loop. The caller sets all of it; the model sets none of it.
#[derive(Clone, Debug)]
pub(crate) struct LoopSubject {
    /// The only space that the loop reads.
    pub(crate) space: SpaceId,
    /// The question or message.
    pub(crate) text: String,
    /// Time of the question or message.
    pub(crate) asked_at: Option<DateTime<FixedOffset>>,
    /// Only data known at this time.
    pub(crate) as_of: Option<DateTime<FixedOffset>>,
    /// Only data from units that this filter admits.
    pub(crate) filter: QueryFilter,
    /// Planned subgoals; empty without a plan.
    pub(crate) subgoals: Vec<String>,
    /// Maximum number of chosen lines; `None` for no limit.
    pub(crate) lines_max: Option<u32>,
}

/// A running loop.
pub(crate) struct AgentLoop<'a> {
    pub(crate) app: &'a App,
    /// The caller's key: tool calls use its share of questions.
    pub(crate) by: &'a str,
    /// Name of the loop in `degraded`.
    pub(crate) name: &'static str,
    /// Code in `degraded` if the loop fails.
    pub(crate) degraded: DegradedCode,
    pub(crate) matter: LoopSubject,
    pub(crate) limits: LoopLimits,
    /// Budget that the loop leaves for later steps.
    pub(crate) reserve: Reserve,
    pub(crate) models: &'a mut ModelBudget,
    pub(crate) trail: &'a mut Trail,
    pub(crate) deadline: Instant,
}

/// Result of a loop.
#[derive(Debug)]
pub(crate) struct LoopResult {
    /// The units that the model chose, in its order; `None` if it made no choice, and then `degraded` gives the reason.
    pub(crate) chosen: Option<Vec<UnitId>>,
    /// The units that the loop found, the first found first.
    pub(crate) found: Vec<UnitId>,
}

/// Contents of the prompt in a turn.
struct PromptView {
    numbered_lines: NumberedLines,
    tools: Vec<ToolSpecV1>,
    lookups: Vec<LookupV1>,
}

/// Returns the deadline of a loop that starts now, if `time_left` remains for all steps.
pub(crate) fn loop_deadline(time_left: Duration) -> Instant {
    Instant::now() + time_left.mul_f64(SHARE)
}

impl AgentLoop<'_> {
    /// Runs the loop. The lines in `numbered_lines` are shown from the beginning.
    pub(crate) async fn run_loop(mut self, numbered_lines: NumberedLines) -> LoopResult {
        let mut view = PromptView {
            numbered_lines,
            tools: self.tools_for_loop().await,
            lookups: Vec::new(),
        };
        let opened = self.make_initial_lookups(&mut view).await;
        let opening = view.numbered_lines.lines().len();
        let chosen = match opened {
            true => self.run_turns(&mut view).await,
            false => None,
        };
        LoopResult {
            chosen,
            found: view.numbered_lines.units_found_after(opening).to_vec(),
        }
    }

    /// Makes the initial lookups that the paper describes: gists by meaning and by words, dimensions. Returns false if
    /// they fail.
    async fn make_initial_lookups(&mut self, view: &mut PromptView) -> bool {
        let look = |name: &str, arguments: Value| LookV1 {
            name: name.to_owned(),
            arguments,
        };
        let calls = match self.limits.walk {
            ExplorationStrategy::Recollect => {
                let arguments = json!({"query": self.matter.text});
                ["semantic_retrieve", "lexical_retrieve"]
                    .map(|it| look(it, arguments.clone()))
                    .into()
            }
            ExplorationStrategy::Navigate => vec![look("list_dimensions", json!({}))],
            ExplorationStrategy::Explore | ExplorationStrategy::Reconstruct | ExplorationStrategy::Recall => {
                return true;
            }
        };
        self.run_tool_calls(view, calls).await.is_some()
    }

    /// Runs turns and returns the final choice of the model; `None` without a choice, and the reason is then in
    /// `degraded`.
    async fn run_turns(&mut self, view: &mut PromptView) -> Option<Vec<UnitId>> {
        let mut more = self.limits.turns;
        while self.models.allows_call(self.reserve) && more > 0 {
            more -= 1;
            let spare = self.models.remaining_allowance().calls - self.reserve.calls - 1;
            more = more.min(spare);
            let turned = self.request_decision(view, more).await?;
            if !turned.degraded.is_empty() {
                // The last call is that of the final turn.
                more = 1;
                continue;
            }
            if turned.calls.is_empty() {
                let chosen = view.numbered_lines.units_of_lines(&turned.lines);
                let what = "the model has seen enough";
                self.trail
                    .report_step("end", what, view.numbered_lines.lines().len(), &chosen);
                return Some(chosen);
            }
            let calls = turned.calls.into_iter().take(self.limits.calls as usize).collect();
            if more > 0 && !self.run_tool_calls(view, calls).await? {
                more = 1;
            }
        }
        self.report_degraded("ended without a choice");
        None
    }

    /// Returns the decision of the model for a turn; `None` if there is no usable one, and the reason is then in
    /// `degraded`. If the model may be asked again only in the final turn, an unusable reply is returned with its
    /// reason.
    async fn request_decision(&mut self, view: &PromptView, more: u32) -> Option<TurnedV1> {
        let request = TurnV1 {
            space: self.matter.space.clone(),
            question: self.matter.text.clone(),
            asked_at: self.matter.asked_at,
            walk: self.limits.walk,
            subgoals: self.matter.subgoals.clone(),
            lines: view.numbered_lines.lines().to_vec(),
            lookups: view.lookups.clone(),
            tools: if more > 0 { view.tools.clone() } else { Vec::new() },
            calls_max: self.limits.calls,
            turns_left: more,
            lines_max: self.matter.lines_max,
            allow: self.models.step_allowance(self.reserve_of_turn(more)),
        };
        let allow = request.allow;
        let span = info_span!("turn", strategy = self.name, lines = request.lines.len(), more);
        let outcome = self
            .app
            .context
            .send_request(request, self.time_left())
            .instrument(span)
            .await;
        match outcome {
            Ok(turned) => {
                self.models.subtract_cost(self.limits.walk.model_role(), turned.spent);
                let is_asked_again = more > 0 && (allow.calls, turned.spent.calls) == (1, 1);
                if let Some(reason) = turned.degraded.first().filter(|_| !is_asked_again) {
                    self.report_degraded(&format!("no decision of the language model: {reason}"));
                    return None;
                }
                Some(turned)
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "no decision");
                self.models.forfeit_allowance(allow);
                self.report_degraded(&format!("the reader {}", describe_failure(&error)));
                None
            }
        }
    }

    /// Makes tool calls in parallel and adds the results to the lines. Returns whether any line was new; `None` if the
    /// caller's key gets no slot within the time left, and the reason is then in `degraded`.
    async fn run_tool_calls(&mut self, view: &mut PromptView, calls: Vec<LookV1>) -> Option<bool> {
        let app = self.app;
        let _turn = match app.later_question_turn(self.by, self.time_left()).await {
            Ok(turn) => turn,
            Err(problem) => {
                self.report_degraded(&problem.detail);
                return None;
            }
        };
        let pending_calls = calls.iter().map(|it| self.call_tool(&view.numbered_lines, it));
        let outcomes = join_all(pending_calls).await;
        let mut news = false;
        for (call, outcome) in calls.into_iter().zip(outcomes) {
            let before = view.numbered_lines.lines().len();
            let result = match (outcome.result, outcome.error) {
                (Some(result), _) => view.numbered_lines.render_result(&result),
                (None, error) => error.map_or("nothing".to_owned(), |it| format!("{}: {}", it.code, it.message)),
            };
            let found = view.numbered_lines.units_found_after(before);
            self.trail
                .report_step(&call.name, &call.arguments.to_string(), found.len(), found);
            let lookup = LookupV1 { call, result };
            news |= !view.lookups.contains(&lookup);
            view.lookups.push(lookup);
        }
        Some(news)
    }

    /// Calls a tool of this loop in the space of the matter; the model cannot name another space.
    async fn call_tool(&self, numbered_lines: &NumberedLines, call: &LookV1) -> ToolledV1 {
        if !self.limits.tools.contains(&call.name.as_str()) {
            return tool_error(ToolCode::UnknownTool, "there is no such tool here");
        }
        let request = ToolV1 {
            space: self.matter.space.clone(),
            name: call.name.clone(),
            arguments: numbered_lines.resolve_arguments(&call.arguments),
            as_of: self.matter.as_of,
            labels: self.matter.filter.labels.clone(),
            // A router of an older release reads tags and metadata from `labels` only, so they are not repeated here.
            filter: QueryFilter {
                labels: Filter::default(),
                ..self.matter.filter.clone()
            },
        };
        let outcome = self.app.context.send_request(request, self.time_left());
        let outcome = outcome.instrument(info_span!("tool")).await;
        outcome.unwrap_or_else(|error| {
            warn!(error = &error as &dyn std::error::Error, "a tool failed");
            tool_error(ToolCode::Unavailable, &format!("the tool {}", describe_failure(&error)))
        })
    }

    /// Returns the tools of the loop; empty if the router does not list them, and then the model can only choose.
    async fn tools_for_loop(&mut self) -> Vec<ToolSpecV1> {
        match self.app.context.send_request(ToolsV1 {}, self.time_left()).await {
            Ok(listed) => {
                let own = |it: &ToolSpecV1| self.limits.tools.contains(&it.name.as_str());
                listed.into_iter().filter(own).map(with_line_number_arguments).collect()
            }
            Err(error) => {
                self.report_degraded(&format!("the list of tools {}", describe_failure(&error)));
                Vec::new()
            }
        }
    }

    /// Returns the budget that a turn leaves. If more turns may follow, one call of the final turn is part of it.
    fn reserve_of_turn(&self, more: u32) -> Reserve {
        Reserve {
            calls: self.reserve.calls + u32::from(more > 0),
            ..self.reserve
        }
    }

    fn report_degraded(&mut self, what: &str) {
        self.trail
            .report_degraded(self.degraded, format!("{}: {what}", self.name));
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

fn tool_error(code: ToolCode, message: &str) -> ToolledV1 {
    ToolledV1 {
        result: None,
        error: Some(ToolErrorV1::new(code, message)),
    }
}
