//! The way of a message that may wake something (MemCog, section 3.4): what the ledger says, the router, the ledger again.
//!
//! Silence is the rule: what was said in the session or dismissed in the space is not said again, and a session hears at most
//! `recall_hints_per_minute`.

use std::time::Duration;

use domain::id::{HintId, SessionId, SpaceId};
use domain::message::{RecallV1, RecalledV1};
use domain::{Classify, ErrorKind};
use host::clock;
use tokio::time::{Instant, timeout};
use tracing::{Instrument, info_span};

use crate::api::{Dismissal, RecallCost, RecallRequest, RecallResponse, StepTime};
use crate::problem::Problem;
use crate::state::App;
use crate::{ledger, query, validate, watermark};

const LIMIT_MAX: u32 = 10;
/// A scope of the ledger is at most 256 bytes.
const SESSION_BYTES_MAX: usize = 240;
const DISMISSED_MAX: usize = 100;

/// Says what a message wakes.
pub(crate) async fn recall(
    app: &App,
    space: &SpaceId,
    request: RecallRequest,
    trace_id: String,
) -> Result<RecallResponse, Problem> {
    let patience = Duration::from_millis(request.budget.ms.min(app.config.request_ms_max));
    let work = async {
        app.space(space).await?;
        woken(app, space, request, trace_id).await
    };
    host::within(patience, work).await
}

async fn woken(
    app: &App,
    space: &SpaceId,
    request: RecallRequest,
    trace_id: String,
) -> Result<RecallResponse, Problem> {
    let started = Instant::now();
    let budget = Duration::from_millis(request.budget.ms);
    check(app, &request)?;
    let at = validate::moment("at", request.at.as_deref())?.unwrap_or_else(|| clock::now().fixed_offset());
    let after = watermark::given(app, space, request.after.as_deref()).await?;
    let left = || budget.saturating_sub(started.elapsed());
    let mut steps = Vec::new();
    if let Some(position) = after {
        let written = query::wait_written(app, space, position, left()).await?;
        note(&mut steps, "wait", started);
        if !written {
            return Err(query::not_written(app, space, position).await?);
        }
    }
    // What another message of the session is told counts for this one.
    let turn = timeout(left(), app.sessions.turn(space, &request.session)).await;
    let Ok(_turn) = turn else {
        let detail = "other messages of this session were answered for all the time this one may take";
        return Err(Problem::timeout(detail));
    };
    let begun = Instant::now();
    let known = ledger::session(app, space, &request.session).await?;
    note(&mut steps, "ledger", begun);
    let most = app.config.recall_hints_per_minute;
    let open = most.saturating_sub(u32::try_from(known.recent).unwrap_or(u32::MAX));
    let mut recalled = RecalledV1::default();
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
        };
        let begun = Instant::now();
        recalled = asked(app, &ask, left(), budget).await?;
        recalled.hints.truncate(ask.limit as usize);
        note(&mut steps, "recall", begun);
        steps.extend(recalled.steps.drain(..).map(|(step, ms)| StepTime {
            step: format!("recall.{step}"),
            ms,
        }));
    }
    let said: Vec<HintId> = recalled.hints.iter().map(|it| it.id).collect();
    if !said.is_empty() {
        let begun = Instant::now();
        ledger::said(app, space, (&request.session, &known.erasures), &said).await?;
        note(&mut steps, "note", begun);
    }
    let tokens: usize = recalled.hints.iter().map(|it| text::tokens(&it.text)).sum();
    Ok(RecallResponse {
        silent: silence(open, most, &recalled),
        hints: recalled.hints,
        cost: RecallCost {
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            model_calls: 0,
            ms: query::ms(started),
            steps,
            candidates: recalled.considered,
        },
        degraded: recalled.degraded,
        trace_id,
    })
}

/// Remembers that hints are not wanted.
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
    let most = app.config.request_ms_max;
    if request.budget.ms > most {
        return Err(Problem::invalid(format!("budget.ms: is more than {most}")));
    }
    Ok(())
}

fn check_session(session: &str) -> Result<(), Problem> {
    validate::name("session", Some(session), SESSION_BYTES_MAX).map_err(Problem::invalid)?;
    if session.trim().is_empty() {
        return Err(Problem::invalid("session: is empty; leave it out instead"));
    }
    validate::addressable("session", Some(session)).map_err(Problem::invalid)
}

async fn asked(app: &App, ask: &RecallV1, left: Duration, budget: Duration) -> Result<RecalledV1, Problem> {
    let outcome = app.context.request(ask, left).instrument(info_span!("recall")).await;
    outcome.map_err(|error| {
        let late = error.kind() == ErrorKind::Timeout;
        let problem = Problem::from(error);
        if late {
            problem.detail(format!("no hints within the budget of {} ms", budget.as_millis()))
        } else {
            problem
        }
    })
}

/// Says why nothing is said.
fn silence(open: u32, most: u32, recalled: &RecalledV1) -> Option<String> {
    if !recalled.hints.is_empty() {
        return None;
    }
    Some(if open == 0 {
        format!("this session heard {most} hints within a minute; ask again later")
    } else if recalled.considered == 0 {
        "the message wakes nothing in this memory".to_owned()
    } else {
        "nothing that the message wakes is worth saying, or it was said or dismissed before".to_owned()
    })
}

fn note(steps: &mut Vec<StepTime>, step: &str, begun: Instant) {
    steps.push(StepTime {
        step: step.to_owned(),
        ms: query::ms(begun),
    });
}
