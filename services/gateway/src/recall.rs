//! Finds hints for a message (MemCog, section 3.4): reads the ledger, asks the router, and writes the ledger.
//!
//! The default is silence: recall does not repeat hints that were given in the session or dismissed in the space, and a
//! session gets at most `recall_hints_per_minute`. If calls of a language model are allowed, the model decides which
//! candidates become hints (`choice`).

mod choice;

use std::time::Duration;

use domain::id::{HintId, SessionId, SpaceId};
use domain::message::{RecallV1, RecalledV1};
use domain::port::Position;
use domain::{Classify, ErrorKind, PortError};
use host::clock;
use tokio::time::{Instant, timeout};
use tracing::{Instrument, info_span};

use self::choice::Decided;
use crate::api::{Dismissal, RecallCost, RecallRequest, RecallResponse, StepTime};
use crate::model_budget::ModelBudget;
use crate::problem::Problem;
use crate::state::App;
use crate::trail::Trail;
use crate::{labels, ledger, query, validate, watermark};

const LIMIT_MAX: u32 = 10;
/// A scope of the ledger is at most 256 bytes.
const SESSION_BYTES_MAX: usize = 240;
const DISMISSED_MAX: usize = 100;

/// A message and its context.
pub(crate) struct Asked {
    pub(crate) request: RecallRequest,
    /// Name of the caller's key.
    pub(crate) by: String,
    pub(crate) trace_id: String,
}

/// A message in progress.
struct Recalling<'a> {
    app: &'a App,
    by: String,
    started: Instant,
    budget: Duration,
    models: ModelBudget,
    trail: Trail,
    steps: Vec<StepTime>,
}

/// Returns the hints for a message.
pub(crate) async fn recall(app: &App, space: &SpaceId, asked: Asked) -> Result<RecallResponse, Problem> {
    let budget = &asked.request.budget;
    let most = app.question_ms_max(budget.model_calls);
    let patience = Duration::from_millis(budget.time_ms(most).min(most));
    let work = async {
        app.space(space).await?;
        woken(app, space, asked).await
    };
    host::within(patience, work).await
}

async fn woken(app: &App, space: &SpaceId, asked: Asked) -> Result<RecallResponse, Problem> {
    let Asked { request, by, trace_id } = asked;
    let most = app.question_ms_max(request.budget.model_calls);
    let mut recalling = Recalling {
        app,
        by,
        started: Instant::now(),
        budget: Duration::from_millis(request.budget.time_ms(most)),
        models: ModelBudget::new(request.budget.models()),
        trail: Trail::default(),
        steps: Vec::new(),
    };
    check(app, &request)?;
    let at = validate::moment("at", request.at.as_deref())?.unwrap_or_else(|| clock::now().fixed_offset());
    if let Some(position) = watermark::given(app, space, request.after.as_deref()).await? {
        recalling.wait(space, position).await?;
    }
    // Hints for another message of the session count for this one too.
    let turn = timeout(recalling.left(), app.sessions.turn(space, &request.session)).await;
    let Ok(_turn) = turn else {
        let detail = "other messages of this session were answered for all the time this one may take";
        return Err(Problem::timeout(detail));
    };
    let begun = Instant::now();
    let known = ledger::session(app, space, &request.session).await?;
    recalling.note("ledger", begun);
    let most = app.config.recall_hints_per_minute;
    let open = most.saturating_sub(u32::try_from(known.recent).unwrap_or(u32::MAX));
    let mut decided = Decided::default();
    if open > 0 {
        let ask = RecallV1 {
            space: space.clone(),
            message: request.message,
            actor: request.actor,
            session: Some(SessionId::derive(space, &request.session)),
            at,
            limit: request.limit.min(open),
            sensitive: request.sensitive,
            silent: known.silent,
            wide: false,
            chosen: Vec::new(),
            labels: labels::checked(request.filter)?,
        };
        decided = recalling.decide(&ask).await?;
    }
    let said: Vec<HintId> = decided.recalled.hints.iter().map(|it| it.id).collect();
    if !said.is_empty() {
        let begun = Instant::now();
        ledger::said(app, space, (&request.session, &known.erasures), &said).await?;
        recalling.note("note", begun);
    }
    let silent = silence(open, most, &decided);
    Ok(recalling.respond(decided.recalled, silent, trace_id))
}

impl Recalling<'_> {
    async fn wait(&mut self, space: &SpaceId, position: Position) -> Result<(), Problem> {
        let begun = Instant::now();
        let written = query::wait_written(self.app, space, position, self.left()).await?;
        self.note("wait", begun);
        match written {
            true => Ok(()),
            false => Err(query::not_written(self.app, space, position).await?),
        }
    }

    /// Returns the hints: chosen by a language model if calls are allowed, else by rule.
    async fn decide(&mut self, ask: &RecallV1) -> Result<Decided, Problem> {
        let mut decided = match self.models.left().calls {
            0 => Decided {
                recalled: self.ask("recall", ask).await?,
                silent: None,
            },
            _ => self.by_model(ask).await?,
        };
        decided.recalled.hints.truncate(ask.limit as usize);
        Ok(decided)
    }

    /// Asks the router; its steps are recorded as parts of `step`.
    async fn ask(&mut self, step: &str, ask: &RecallV1) -> Result<RecalledV1, Problem> {
        let begun = Instant::now();
        let outcome = self.app.context.request(ask.clone(), self.left());
        let outcome = outcome.instrument(info_span!("recall")).await;
        let mut recalled = outcome.map_err(|error| self.unrecalled(error))?;
        self.note(step, begun);
        self.steps.extend(recalled.steps.drain(..).map(|(name, ms)| StepTime {
            step: format!("{step}.{name}"),
            ms,
        }));
        let sentences = std::mem::take(&mut recalled.degraded);
        let codes = std::mem::take(&mut recalled.degraded_codes);
        self.trail.degrade_each(sentences, codes);
        Ok(recalled)
    }

    fn unrecalled(&self, error: PortError) -> Problem {
        let late = error.kind() == ErrorKind::Timeout;
        let problem = Problem::from(error);
        if late {
            problem.detail(format!("no hints within the budget of {} ms", self.budget.as_millis()))
        } else {
            problem
        }
    }

    fn respond(self, recalled: RecalledV1, silent: Option<String>, trace_id: String) -> RecallResponse {
        let tokens: usize = recalled.hints.iter().map(|it| text::tokens(&it.text)).sum();
        let (model_calls, usage) = self.models.total();
        RecallResponse {
            silent,
            cost: RecallCost {
                tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
                model_calls,
                usage,
                roles: self.models.roles(),
                ms: query::ms(self.started),
                steps: self.steps,
                candidates: recalled.considered,
            },
            hints: recalled.hints,
            degraded: self.trail.degraded,
            degraded_codes: self.trail.degraded_codes,
            trace_id,
        }
    }

    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.started.elapsed())
    }

    fn note(&mut self, step: &str, begun: Instant) {
        self.steps.push(StepTime {
            step: step.to_owned(),
            ms: query::ms(begun),
        });
    }
}

/// Stores that hints are dismissed.
pub(crate) async fn dismiss(app: &App, space: &SpaceId, request: &Dismissal) -> Result<(), Problem> {
    if let Some(session) = &request.session {
        check_session(session)?;
    }
    if request.hints.is_empty() || request.hints.len() > DISMISSED_MAX {
        return Err(Problem::invalid(format!(
            "hints: a request has 1 to {DISMISSED_MAX} ids of hints, this one has {}",
            request.hints.len()
        )));
    }
    ledger::dismissed(app, space, request.session.as_deref(), &request.hints).await
}

fn check(app: &App, request: &RecallRequest) -> Result<(), Problem> {
    validate::content("message", &request.message, app.config.question_bytes_max).map_err(Problem::invalid)?;
    if request.message.trim().is_empty() {
        return Err(Problem::invalid("message: is empty"));
    }
    validate::name("actor", Some(&request.actor), validate::NAME_BYTES_MAX).map_err(Problem::invalid)?;
    check_session(&request.session)?;
    if !(1..=LIMIT_MAX).contains(&request.limit) {
        return Err(Problem::invalid(format!("limit: is not 1 to {LIMIT_MAX}")));
    }
    let budget = &request.budget;
    let most = app.question_ms_max(budget.model_calls);
    query::check_cost(app, budget.time_ms(most), budget.models())
}

fn check_session(session: &str) -> Result<(), Problem> {
    validate::name("session", Some(session), SESSION_BYTES_MAX).map_err(Problem::invalid)?;
    if session.trim().is_empty() {
        return Err(Problem::invalid("session: is empty; leave it out instead"));
    }
    validate::addressable("session", Some(session)).map_err(Problem::invalid)
}

/// Returns the reason why there are no hints; `None` if there are hints.
fn silence(open: u32, most: u32, decided: &Decided) -> Option<String> {
    if !decided.recalled.hints.is_empty() {
        return None;
    }
    Some(if open == 0 {
        format!("this session heard {most} hints within a minute; ask again later")
    } else if let Some(reason) = decided.silent {
        reason.to_owned()
    } else if decided.recalled.considered == 0 {
        "the message wakes nothing in this memory".to_owned()
    } else {
        "nothing that the message wakes is worth saying, or it was said or dismissed before".to_owned()
    })
}
