//! Answers a question: waits for the write that it names, collects evidence, routes, judges and answers.
//!
//! All steps share one time budget. If the router fails, the query fails. If the reader fails, the response has the
//! evidence, a verdict that says so, and an entry in `degraded`. If calls of a language model are allowed, the model
//! chooses among the candidates (`select`) or explores first (`model_exploration`, the loops of the strategies);
//! without a model, a strategy routes the parts of the question (`question_parts`). Every strategy ends with the same
//! route, which packs within the token budget. A step that fails is reported in `degraded`, and the query continues
//! with the data that it has.

pub(crate) mod memory_block;
mod metadata;
mod model_exploration;
mod question_parts;
mod request;
mod select;
mod strategy_choice;
mod write_progress;

use std::time::Duration;

use domain::code::DegradedCode;
use domain::evidence::{Answer, AnswerStyle, EvidencePack, Sufficiency, Verdict};
use domain::id::SpaceId;
use domain::message::{AnswerV1, AnsweredV1, RouteV1, RoutedV1};
use domain::port::{ModelRole, Position};
use domain::{Classify, ErrorKind, PortError};
use host::metrics::Operation;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tracing::{Instrument, info_span, warn};

use self::metadata::Metadata;
pub(crate) use self::request::check_cost;

use self::request::parse_request;
use self::write_progress::is_behind;
pub(crate) use self::write_progress::{given_up, not_written, wait_written};

use crate::api::problem::Problem;
use crate::api::{Cost, Limits, Pack, PathStep, QueryRequest, QueryResponse, StepTime, Strategy};
use crate::app::state::App;
use crate::app::watermark;
use crate::strategies::model_budget::ModelBudget;
use crate::strategies::request_report::{Trail, describe_failure};

/// Entry in `degraded` if records that were accepted before the question may be missing.
const BEHIND: &str =
    "writer: some accepted batches are not searchable yet, so their records may be missing; `after` waits for them";

/// A question and its context.
pub(crate) struct QueryContext {
    pub(crate) request: QueryRequest,
    pub(crate) trace_id: String,
    /// Receives the steps of the strategy as they are made.
    pub(crate) steps: Option<UnboundedSender<PathStep>>,
}

struct Query<'a> {
    app: &'a App,
    route: RouteV1,
    strategy: Strategy,
    limits: Limits,
    answer: bool,
    style: AnswerStyle,
    models: ModelBudget,
    metadata: bool,
    trace_id: String,
    started: Instant,
    budget: Duration,
    trail: Trail,
    steps: Vec<StepTime>,
}

/// Answers a question of the key `by`.
pub(crate) async fn answer_question(
    app: &App,
    by: &str,
    space: &SpaceId,
    context: QueryContext,
) -> Result<QueryResponse, Problem> {
    let started = Instant::now();
    let patience = caller_timeout(app, &context);
    let answer = async {
        let (mut query, mut routed) = collect_evidence(app, by, space, context, started).await?;
        let answered = query.request_answer(&mut routed).await;
        let metadata = query.read_metadata(&routed.pack).await;
        Ok(query.build_response(routed, answered, metadata))
    };
    measure_operation(app, started, host::with_deadline(patience, answer)).await
}

/// Returns the evidence for a question of the key `by` without a verdict, for callers that show it to a model.
pub(crate) async fn find_evidence(
    app: &App,
    by: &str,
    space: &SpaceId,
    context: QueryContext,
) -> Result<EvidencePack, Problem> {
    let started = Instant::now();
    let patience = caller_timeout(app, &context);
    let gathered = collect_evidence(app, by, space, context, started);
    let pack = async { Ok(gathered.await?.1.pack) };
    measure_operation(app, started, host::with_deadline(patience, pack)).await
}

/// Returns the longest time that the caller of a question waits.
fn caller_timeout(app: &App, context: &QueryContext) -> Duration {
    let budget = &context.request.budget;
    let most = app.question_ms_max(budget.model_calls);
    Duration::from_millis(budget.time_ms(most).min(most))
}

async fn measure_operation<T>(
    app: &App,
    started: Instant,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let outcome = work.await;
    app.context
        .metrics
        .observe_operation(Operation::Recall, outcome.is_ok(), started.elapsed());
    outcome
}

/// Collects and packs evidence with the strategy of a question.
async fn collect_evidence<'a>(
    app: &'a App,
    by: &str,
    space: &SpaceId,
    context: QueryContext,
    started: Instant,
) -> Result<(Query<'a>, RoutedV1), Problem> {
    let QueryContext {
        request,
        trace_id,
        steps: step_sender,
    } = context;
    let after = watermark::position_in_request(app, space, request.after.as_deref()).await?;
    let (strategy, limits) = (request.strategy, request.limits);
    let (answer, style, metadata) = (request.answer, request.style, request.metadata);
    let most = app.question_ms_max(request.budget.model_calls);
    let budget = Duration::from_millis(request.budget.time_ms(most));
    let models = ModelBudget::new(request.budget.model_allowance());
    let mut route = parse_request(app, space, request)?;
    route.current = after.is_some();
    let mut query = Query {
        app,
        route,
        strategy,
        limits,
        answer,
        style,
        models,
        metadata,
        trace_id,
        started,
        budget,
        trail: Trail::with_step_sender(step_sender),
        steps: Vec::new(),
    };
    if let Some(position) = after {
        query.wait_for_write(position).await?;
    }
    // A request that waits for a write uses no core; from here on it uses one.
    let permit = app.question_turn(by, query.time_left()).await?;
    query.look_behind().await;
    let ranked = query.route.ranked;
    query.rank_candidates();
    query.open_view();
    let mut routed = query.route_question().await?;
    // A language model takes seconds, in which other questions may use the core; the reader limits the number of
    // questions that wait for a model.
    let _permit = Some(permit).filter(|_| query.models.remaining_allowance().calls == 0);
    routed = match query.strategy {
        Strategy::Route | Strategy::Auto => query.select_by_model(by, ranked, routed).await?,
        Strategy::Explore | Strategy::Reconstruct | Strategy::Recollect | Strategy::Navigate => {
            query.look_around(by, ranked, routed).await?
        }
    };
    Ok((query, routed))
}

impl Query<'_> {
    /// Waits for a write. Without a write to wait for, the router is the first to read the space, and reports if it
    /// does not exist.
    async fn wait_for_write(&mut self, position: Position) -> Result<(), Problem> {
        self.app.may_ask(&self.route.space).await?;
        let begun = Instant::now();
        let span = info_span!("wait", position = position.0);
        let written = wait_written(self.app, &self.route.space, position, self.time_left())
            .instrument(span)
            .await?;
        self.note_step("wait", begun);
        if written {
            Ok(())
        } else {
            Err(not_written(self.app, &self.route.space, position).await?)
        }
    }

    /// Adds an entry to `degraded` if records that were accepted before the question may be missing; see [`is_behind`].
    /// It runs before the space is read: records written in between are then in the evidence, although the entry says
    /// that they may be missing.
    async fn look_behind(&mut self) {
        let begun = Instant::now();
        let space = &self.route.space;
        let behind = is_behind(self.app, space).instrument(info_span!("unsettled")).await;
        match behind {
            Ok(false) => {}
            Ok(true) => self
                .trail
                .report_degraded(DegradedCode::WriterBehind, BEHIND.to_owned()),
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "the backlog of the writer is unknown"
                );
                let reason = format!("writer: its backlog is unknown, the bus {}", describe_failure(&error));
                self.trail.report_degraded(DegradedCode::WriterUnknown, reason);
            }
        }
        self.note_step("unsettled", begun);
    }

    /// Routes the question as a whole, or by its parts for a strategy that has no language model available.
    async fn route_question(&mut self) -> Result<RoutedV1, Problem> {
        if self.strategy == Strategy::Auto {
            let first = self.request_route().await?;
            self.strategy = self.choose_strategy(&first.anchors);
            return Ok(first);
        }
        if self.strategy == Strategy::Route || self.may_look() {
            return self.request_route().await;
        }
        self.routed_by_parts().await
    }

    async fn request_route(&mut self) -> Result<RoutedV1, Problem> {
        let begun = Instant::now();
        let routed = self
            .app
            .context
            .send_request(self.route.clone(), self.time_left())
            .await
            .map_err(|error| self.routing_problem(error))?;
        self.note_step("route", begun);
        self.steps.extend(routed.steps.iter().map(|(step, ms)| StepTime {
            step: format!("route.{step}"),
            ms: *ms,
        }));
        self.trail
            .report_each_degraded(routed.degraded.clone(), routed.degraded_codes.clone());
        Ok(routed)
    }

    async fn request_answer(&mut self, routed: &mut RoutedV1) -> AnsweredV1 {
        let begun = Instant::now();
        let request = AnswerV1 {
            space: self.route.space.clone(),
            question: self.route.question.clone(),
            anchors: routed.anchors.clone(),
            reading: routed.reading.take(),
            speakers: routed.speakers.clone(),
            words: routed.words.clone(),
            pack: routed.pack.clone(),
            scenes: std::mem::take(&mut routed.scenes),
            style: self.style,
            // A caller that wants no answer spends nothing on one.
            allow: Some(self.models.remaining_allowance())
                .filter(|_| self.answer)
                .unwrap_or_default(),
        };
        let outcome = self.app.context.send_request(request, self.time_left()).await;
        self.note_step("answer", begun);
        let mut answered: AnsweredV1 = outcome.unwrap_or_else(|error| self.answer_without_reader(&error));
        self.models.subtract_cost(ModelRole::Answer, answered.spent);
        for reason in answered.degraded.drain(..) {
            self.trail
                .report_degraded(DegradedCode::AnswerWithoutModel, format!("answer: {reason}"));
        }
        answered
    }

    fn build_response(self, routed: RoutedV1, answered: AnsweredV1, metadata: Option<Metadata>) -> QueryResponse {
        let explain = self.route.explain > 0;
        let text = text_of(&routed.pack);
        let best = routed.pack.items.iter().map(|it| it.probability).max_by(f32::total_cmp);
        self.app.context.metrics.observe_recall(routed.pack.items.len(), best);
        let (model_calls, usage) = self.models.total_calls_and_usage();
        QueryResponse {
            verdict: answered.verdict,
            answer: answered.answer.filter(|_: &Answer| self.answer),
            cost: Cost {
                tokens: routed.pack.tokens,
                model_calls,
                usage,
                roles: self.models.cost_by_role(),
                ms: elapsed_ms(self.started),
                steps: self.steps,
                units: routed.units,
                candidates: routed.candidates,
            },
            pack: Pack {
                items: routed.pack.items,
                tokens: routed.pack.tokens,
                budget: routed.pack.budget,
                text,
                metadata,
            },
            path: self.trail.path.filter(|_| explain),
            anchors: explain.then_some(routed.anchors),
            explained: explain.then_some(routed.explained),
            ranked: (self.route.ranked > 0).then_some(routed.ranked),
            degraded: self.trail.degraded,
            degraded_codes: self.trail.degraded_codes,
            trace_id: self.trace_id,
            weights: routed.weights,
        }
    }

    fn routing_problem(&self, error: PortError) -> Problem {
        if error.kind() == ErrorKind::NotFound {
            return Problem::unknown_space(&self.route.space);
        }
        let late = error.kind() == ErrorKind::Timeout;
        let problem = Problem::from(error);
        if late {
            problem.with_detail(format!(
                "no evidence within the budget of {} ms; a large space is loaded once after a start, so try again",
                self.budget.as_millis()
            ))
        } else {
            problem
        }
    }

    /// Returns the response without the reader: the evidence is valid, and `degraded` says what is missing.
    fn answer_without_reader(&mut self, error: &PortError) -> AnsweredV1 {
        warn!(error = error as &dyn std::error::Error, "no verdict");
        let reason = match error.kind() {
            ErrorKind::Timeout => format!(
                "the reader did not answer within the budget of {} ms",
                self.budget.as_millis()
            ),
            ErrorKind::Unavailable | ErrorKind::Exhausted => "the reader cannot be reached".to_owned(),
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Damaged
            | ErrorKind::Internal => "the reader failed".to_owned(),
        };
        self.trail
            .report_degraded(DegradedCode::ReaderUnavailable, format!("answer: {reason}"));
        let reasons = vec![format!("not judged: {reason}")];
        let verdict = Verdict {
            status: Sufficiency::Insufficient,
            code: None,
            reasons,
            nearest: Vec::new(),
        };
        AnsweredV1::new(verdict, None)
    }

    fn time_left(&self) -> Duration {
        self.budget.saturating_sub(self.started.elapsed())
    }

    fn note_step(&mut self, step: &str, begun: Instant) {
        self.steps.push(StepTime {
            step: step.to_owned(),
            ms: elapsed_ms(begun),
        });
    }
}

/// Returns the lines of a pack as one text.
pub(crate) fn text_of(pack: &EvidencePack) -> String {
    let lines: Vec<&str> = pack.items.iter().map(|it| it.text.as_str()).collect();
    lines.join("\n")
}

/// Returns the milliseconds since `since`, with microsecond precision.
pub(crate) fn elapsed_ms(since: Instant) -> f32 {
    (since.elapsed().as_secs_f64() * 1_000_000.0).round() as f32 / 1_000.0
}
