//! Finds hints for a message (MemCog, section 3.4): reads the ledger, asks the router, and writes the ledger.
//!
//! The default is silence: recall does not repeat hints that were given in the session or dismissed in the space, and a
//! session gets at most `recall_hints_per_minute`. If calls of a language model are allowed, the model decides which
//! candidates become hints (`choice`).

mod choice;
pub(crate) mod recall_ledger;

use std::time::Duration;

use domain::id::{HintId, SessionId, SpaceId};
use domain::message::{RecallV1, RecalledV1};
use domain::port::Position;
use domain::{Classify, ErrorKind, PortError};
use host::clock;
use tokio::time::{Instant, timeout};
use tracing::{Instrument, info_span};

use self::choice::HintDecision;
use self::recall_ledger::GivenHints;
use crate::api::problem::Problem;
use crate::api::{Dismissal, RecallCost, RecallRequest, RecallResponse, StepTime};
use crate::app::state::App;
use crate::app::watermark;
use crate::strategies::model_budget::ModelBudget;
use crate::strategies::request_report::Trail;
use crate::use_cases::validate::label_filter;
use crate::use_cases::{query, validate};

const LIMIT_MAX: u32 = 10;
/// A scope of the ledger is at most 256 bytes.
const SESSION_BYTES_MAX: usize = 240;
const DISMISSED_MAX: usize = 100;

/// A message and its context.
pub(crate) struct RecallContext {
    pub(crate) request: RecallRequest,
    /// Name of the caller's key.
    pub(crate) by: String,
    pub(crate) trace_id: String,
}

/// A message in progress.
struct RecallInProgress<'a> {
    app: &'a App,
    by: String,
    started: Instant,
    budget: Duration,
    /// Whether the router was asked before.
    has_looked: bool,
    models: ModelBudget,
    trail: Trail,
    steps: Vec<StepTime>,
}

/// Returns the hints for a message.
pub(crate) async fn recall_hints(
    app: &App,
    space: &SpaceId,
    context: RecallContext,
) -> Result<RecallResponse, Problem> {
    let budget = &context.request.budget;
    let most = app.question_ms_max(budget.model_calls);
    let patience = Duration::from_millis(budget.time_ms(most).min(most));
    let work = async {
        app.require_space(space).await?;
        find_hints(app, space, context).await
    };
    host::with_deadline(patience, work).await
}

async fn find_hints(app: &App, space: &SpaceId, context: RecallContext) -> Result<RecallResponse, Problem> {
    let RecallContext { request, by, trace_id } = context;
    let most = app.question_ms_max(request.budget.model_calls);
    let mut recalling = RecallInProgress {
        app,
        by,
        started: Instant::now(),
        budget: Duration::from_millis(request.budget.time_ms(most)),
        has_looked: false,
        models: ModelBudget::new(request.budget.model_allowance()),
        trail: Trail::default(),
        steps: Vec::new(),
    };
    check_request(app, &request)?;
    let at = validate::parse_time_field("at", request.at.as_deref())?.unwrap_or_else(|| clock::now().fixed_offset());
    if let Some(position) = watermark::position_in_request(app, space, request.after.as_deref()).await? {
        recalling.wait_for_write(space, position).await?;
    }
    // Hints for another message of the session count for this one too.
    let turn = timeout(
        recalling.time_left(),
        app.sessions.lock_session(space, &request.session),
    )
    .await;
    let Ok(turn) = turn else {
        let detail = "the time limit was reached while other messages of this session were in progress";
        return Err(Problem::timeout(detail));
    };
    let begun = Instant::now();
    let known = recall_ledger::read_session_state(app, space, &request.session).await?;
    recalling.note_step("ledger", begun);
    let most = app.config.recall_hints_per_minute;
    let open = most.saturating_sub(u32::try_from(known.recent).unwrap_or(u32::MAX));
    let mut decided = HintDecision::default();
    if open > 0 {
        let ask = RecallV1 {
            space: space.clone(),
            message: request.message,
            actor: request.actor,
            session: Some(SessionId::from_name(space, &request.session)),
            at,
            limit: request.limit.min(open),
            sensitive: request.sensitive,
            silent: known.silent,
            wide: false,
            chosen: Vec::new(),
            labels: label_filter::check_filter(request.filter)?,
        };
        decided = recalling.decide_hints(&ask).await?;
    }
    let hint_ids: Vec<HintId> = decided.recall_result.hints.iter().map(|it| it.id).collect();
    if !hint_ids.is_empty() {
        let begun = Instant::now();
        let given = GivenHints {
            space: space.clone(),
            session: request.session,
            known_erasures: known.erasures,
            hints: hint_ids,
            turn,
        };
        recall_ledger::note_given_hints(app, given).await?;
        recalling.note_step("note", begun);
    }
    let silent = reason_for_silence(open, most, &decided);
    Ok(recalling.build_response(decided.recall_result, silent, trace_id))
}

impl RecallInProgress<'_> {
    async fn wait_for_write(&mut self, space: &SpaceId, position: Position) -> Result<(), Problem> {
        let begun = Instant::now();
        let written = query::wait_written(self.app, space, position, self.time_left()).await?;
        self.note_step("wait", begun);
        match written {
            true => Ok(()),
            false => Err(query::not_written(self.app, space, position).await?),
        }
    }

    /// Returns the hints: chosen by a language model if calls are allowed, else by rule.
    async fn decide_hints(&mut self, ask: &RecallV1) -> Result<HintDecision, Problem> {
        let mut decided = match self.models.remaining_allowance().calls {
            0 => HintDecision {
                recall_result: self.request_hints("recall", ask).await?,
                silent: None,
            },
            _ => self.by_model(ask).await?,
        };
        decided.recall_result.hints.truncate(ask.limit as usize);
        Ok(decided)
    }

    /// Asks the router, as one question of the caller's key; its steps are recorded as parts of `step`.
    ///
    /// # Errors
    /// If too many questions are in progress, the first look of a message is refused, and a later one waits within the
    /// time limit.
    async fn request_hints(&mut self, step: &str, ask: &RecallV1) -> Result<RecalledV1, Problem> {
        let _turn = if self.has_looked {
            self.app.later_question_turn(&self.by, self.time_left()).await?
        } else {
            self.app.question_turn(&self.by, self.time_left()).await?
        };
        self.has_looked = true;
        let begun = Instant::now();
        let outcome = self.app.context.send_request(ask.clone(), self.time_left());
        let outcome = outcome.instrument(info_span!("recall")).await;
        let mut recall_result = outcome.map_err(|error| self.recall_problem(error))?;
        self.note_step(step, begun);
        self.steps
            .extend(recall_result.steps.drain(..).map(|(name, ms)| StepTime {
                step: format!("{step}.{name}"),
                ms,
            }));
        let sentences = std::mem::take(&mut recall_result.degraded);
        let codes = std::mem::take(&mut recall_result.degraded_codes);
        self.trail.report_each_degraded(sentences, codes);
        Ok(recall_result)
    }

    fn recall_problem(&self, error: PortError) -> Problem {
        let late = error.kind() == ErrorKind::Timeout;
        let problem = Problem::from(error);
        if late {
            problem.with_detail(format!("no hints within the budget of {} ms", self.budget.as_millis()))
        } else {
            problem
        }
    }

    fn build_response(self, recall_result: RecalledV1, silent: Option<String>, trace_id: String) -> RecallResponse {
        let tokens: usize = recall_result.hints.iter().map(|it| text::count_tokens(&it.text)).sum();
        let (model_calls, usage) = self.models.total_calls_and_usage();
        RecallResponse {
            silent,
            cost: RecallCost {
                tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
                model_calls,
                usage,
                roles: self.models.cost_by_role(),
                ms: query::elapsed_ms(self.started),
                steps: self.steps,
                candidates: recall_result.considered,
            },
            hints: recall_result.hints,
            degraded: self.trail.degraded,
            degraded_codes: self.trail.degraded_codes,
            trace_id,
        }
    }

    fn time_left(&self) -> Duration {
        self.budget.saturating_sub(self.started.elapsed())
    }

    fn note_step(&mut self, step: &str, begun: Instant) {
        self.steps.push(StepTime {
            step: step.to_owned(),
            ms: query::elapsed_ms(begun),
        });
    }
}

/// Stores that hints are dismissed.
pub(crate) async fn dismiss_hints(app: &App, space: &SpaceId, request: &Dismissal) -> Result<(), Problem> {
    if let Some(session) = &request.session {
        check_session(session)?;
    }
    if request.hints.is_empty() || request.hints.len() > DISMISSED_MAX {
        return Err(Problem::invalid_request(format!(
            "hints: must have 1 to {DISMISSED_MAX} ids, this request has {}",
            request.hints.len()
        )));
    }
    recall_ledger::note_dismissed_hints(app, space, request.session.as_deref(), &request.hints).await
}

fn check_request(app: &App, request: &RecallRequest) -> Result<(), Problem> {
    validate::check_content("message", &request.message, app.config.question_bytes_max)
        .map_err(Problem::invalid_request)?;
    if request.message.trim().is_empty() {
        return Err(Problem::invalid_request("message: is empty"));
    }
    validate::check_name("actor", Some(&request.actor), validate::NAME_BYTES_MAX).map_err(Problem::invalid_request)?;
    check_session(&request.session)?;
    if !(1..=LIMIT_MAX).contains(&request.limit) {
        return Err(Problem::invalid_request(format!("limit: must be 1 to {LIMIT_MAX}")));
    }
    let budget = &request.budget;
    let most = app.question_ms_max(budget.model_calls);
    query::check_cost(app, budget.time_ms(most), budget.model_allowance())
}

fn check_session(session: &str) -> Result<(), Problem> {
    validate::check_name("session", Some(session), SESSION_BYTES_MAX).map_err(Problem::invalid_request)?;
    if session.trim().is_empty() {
        return Err(Problem::invalid_request("session: is empty; leave it out instead"));
    }
    validate::check_addressable("session", Some(session)).map_err(Problem::invalid_request)
}

/// Returns the reason why there are no hints; `None` if there are hints.
fn reason_for_silence(open: u32, most: u32, decided: &HintDecision) -> Option<String> {
    if !decided.recall_result.hints.is_empty() {
        return None;
    }
    Some(if open == 0 {
        format!("this session got {most} hints within a minute; try again later")
    } else if let Some(reason) = decided.silent {
        reason.to_owned()
    } else if decided.recall_result.considered == 0 {
        "the message relates to nothing in this memory".to_owned()
    } else {
        "nothing that relates to the message is worth saying, or it was already said or dismissed".to_owned()
    })
}
