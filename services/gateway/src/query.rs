//! The way of a question, as a state machine: wait for the write it names, route, judge and answer.
//!
//! All steps share one budget of time. A router that fails fails the query; a reader that fails leaves the evidence,
//! a verdict that says so, and an entry in `degraded`.

use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use domain::evidence::{Answer, Sufficiency, Verdict};
use domain::id::SpaceId;
use domain::message::{AnswerV1, AnsweredV1, Message, QueryFilter, RecordsAcceptedV1, RouteV1, RoutedV1};
use domain::port::Position;
use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, sleep};
use tracing::{Instrument, info_span, warn};

use crate::api::{Cost, Pack, Progress, QueryRequest, QueryResponse, StepTime, Strategy};
use crate::problem::Problem;
use crate::state::App;
use crate::{validate, watermark};

const EXPLAIN_MAX: u32 = 100;
const RANKED_MAX: u32 = 200;
const MODEL_CALLS_MAX: u32 = 64;
const FILTER_ENTRIES_MAX: usize = 100;
const FILTER_BYTES_MAX: usize = 256;
/// Longest pause between two looks at whether a write is searchable.
const POLL_MAX: Duration = Duration::from_millis(20);
/// Dead letters looked through for the reason why a write does not come.
const DEAD_LETTERS_SEEN: usize = 1_000;

/// Where a question stands.
enum State {
    Waiting(Option<Position>),
    Routing,
    Reading(Box<RoutedV1>),
    Done(Box<RoutedV1>, AnsweredV1),
}

struct Query<'a> {
    app: &'a App,
    route: RouteV1,
    answer: bool,
    trace_id: String,
    started: Instant,
    budget: Duration,
    steps: Vec<StepTime>,
    degraded: Vec<String>,
}

/// Answers a question of a space that exists.
pub(crate) async fn ask(
    app: &App,
    space: &SpaceId,
    request: QueryRequest,
    trace_id: String,
) -> Result<QueryResponse, Problem> {
    let started = Instant::now();
    let after = request
        .after
        .as_deref()
        .map(|it| watermark::parse(space, it))
        .transpose()?;
    let (answer, budget) = (request.answer, Duration::from_millis(request.budget.ms));
    let route = parse(app, space, request)?;
    let mut query = Query {
        app,
        route,
        answer,
        trace_id,
        started,
        budget,
        steps: Vec::new(),
        degraded: Vec::new(),
    };
    let mut state = State::Waiting(after);
    loop {
        state = match state {
            State::Waiting(after) => query.wait(after).await?,
            State::Routing => query.route().await?,
            State::Reading(routed) => query.read(routed).await,
            State::Done(routed, answered) => return Ok(query.respond(*routed, answered)),
        }
    }
}

/// Waits until the write is searchable, for at most `patience`; false if it then is not.
pub(crate) async fn wait_written(
    app: &App,
    space: &SpaceId,
    position: Position,
    patience: Duration,
) -> Result<bool, Problem> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        if position == Position(0) || app.stores().records.is_written(space, position).await? {
            return Ok(true);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        sleep(pause.min(left)).await;
        pause = (pause * 2).min(POLL_MAX);
    }
}

/// Says that a write is not searchable, how far the writer is, and why if it was given up.
pub(crate) async fn not_written(app: &App, space: &SpaceId, position: Position) -> Result<Problem, Problem> {
    let info = app.space(space).await?;
    let backlog = app.stores().bus.backlog(RecordsAcceptedV1::SUBJECT, "writer").await?;
    let letters = app.stores().dead_letters.list(0, DEAD_LETTERS_SEEN).await?;
    let given_up = letters
        .iter()
        .find(|it| it.position == position && it.subject == RecordsAcceptedV1::SUBJECT);
    let detail = match given_up {
        Some(letter) => format!(
            "the write was given up and is kept as dead letter {}; an operator can replay it",
            letter.id
        ),
        None => format!("the write is not searchable yet; {backlog} accepted batches wait for the writer"),
    };
    let mut problem = Problem::timeout(detail);
    let watermark = watermark::print(space, info.written);
    problem.progress = Some(Box::new(Progress {
        watermark,
        written: false,
        backlog,
    }));
    Ok(problem)
}

fn parse(app: &App, space: &SpaceId, request: QueryRequest) -> Result<RouteV1, Problem> {
    let Strategy::Route = request.strategy;
    let config = &app.config;
    validate::content("question", &request.question, config.question_bytes_max).map_err(Problem::invalid)?;
    if request.question.trim().is_empty() {
        return Err(Problem::invalid("question: is empty"));
    }
    for (field, value, most) in [
        (
            "budget.tokens",
            u64::from(request.budget.tokens),
            u64::from(config.pack_tokens_max),
        ),
        ("budget.ms", request.budget.ms, config.request_ms_max),
        (
            "budget.model_calls",
            u64::from(request.budget.model_calls),
            u64::from(MODEL_CALLS_MAX),
        ),
        ("explain", u64::from(request.explain), u64::from(EXPLAIN_MAX)),
        ("ranked", u64::from(request.ranked), u64::from(RANKED_MAX)),
    ] {
        if value > most {
            return Err(Problem::invalid(format!("{field}: is more than {most}")));
        }
    }
    for (field, names) in [
        ("filter.actors", &request.filter.actors),
        ("filter.sessions", &request.filter.sessions),
    ] {
        if names.len() > FILTER_ENTRIES_MAX || names.iter().any(|it| it.len() > FILTER_BYTES_MAX) {
            let detail = format!(
                "{field}: has more than {FILTER_ENTRIES_MAX} names, or one of more than {FILTER_BYTES_MAX} bytes"
            );
            return Err(Problem::invalid(detail));
        }
    }
    if request.filter.modalities.len() > FILTER_ENTRIES_MAX {
        return Err(Problem::invalid(format!(
            "filter.modalities: has more than {FILTER_ENTRIES_MAX} entries"
        )));
    }
    let filter = QueryFilter {
        from: time("filter.from", request.filter.from.as_deref())?,
        until: time("filter.until", request.filter.until.as_deref())?,
        actors: request.filter.actors,
        sessions: request.filter.sessions,
        modalities: request.filter.modalities,
    };
    Ok(RouteV1 {
        space: space.clone(),
        as_of: time("as_of", request.as_of.as_deref())?,
        question: request.question,
        tokens: request.budget.tokens,
        filter,
        explain: request.explain,
        ranked: request.ranked,
        scenes: config.scenes,
        focus: Vec::new(),
    })
}

fn time(field: &str, text: Option<&str>) -> Result<Option<DateTime<FixedOffset>>, Problem> {
    text.map(|it| validate::time(it).map_err(|error| Problem::invalid(format!("{field}: {error}"))))
        .transpose()
}

impl Query<'_> {
    async fn wait(&mut self, after: Option<Position>) -> Result<State, Problem> {
        let Some(position) = after else {
            return Ok(State::Routing);
        };
        let begun = Instant::now();
        let span = info_span!("wait", position = position.0);
        let written = wait_written(self.app, &self.route.space, position, self.left())
            .instrument(span)
            .await?;
        self.note("wait", begun);
        if written {
            Ok(State::Routing)
        } else {
            Err(not_written(self.app, &self.route.space, position).await?)
        }
    }

    async fn route(&mut self) -> Result<State, Problem> {
        let begun = Instant::now();
        let routed = self
            .app
            .context
            .request(&self.route, self.left())
            .await
            .map_err(|error| self.unrouted(error))?;
        self.note("route", begun);
        self.steps.extend(routed.steps.iter().map(|(step, ms)| StepTime {
            step: format!("route.{step}"),
            ms: *ms,
        }));
        self.degraded.extend(routed.degraded.iter().cloned());
        Ok(State::Reading(Box::new(routed)))
    }

    async fn read(&mut self, mut routed: Box<RoutedV1>) -> State {
        let begun = Instant::now();
        let request = AnswerV1 {
            space: self.route.space.clone(),
            question: self.route.question.clone(),
            anchors: routed.anchors.clone(),
            speakers: routed.speakers.clone(),
            words: routed.words.clone(),
            pack: routed.pack.clone(),
            scenes: std::mem::take(&mut routed.scenes),
        };
        let outcome = self.app.context.request(&request, self.left()).await;
        self.note("answer", begun);
        let answered = outcome.unwrap_or_else(|error| self.unread(&error));
        State::Done(routed, answered)
    }

    fn respond(self, routed: RoutedV1, answered: AnsweredV1) -> QueryResponse {
        let explain = self.route.explain > 0;
        let text = routed
            .pack
            .items
            .iter()
            .map(|it| it.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let best = routed.pack.items.iter().map(|it| it.probability).max_by(f32::total_cmp);
        self.app.context.metrics.recalled(routed.pack.items.len(), best);
        QueryResponse {
            verdict: answered.verdict,
            answer: answered.answer.filter(|_: &Answer| self.answer),
            cost: Cost {
                tokens: routed.pack.tokens,
                model_calls: answered.model_calls,
                ms: ms(self.started),
                steps: self.steps,
                units: routed.units,
                candidates: routed.candidates,
            },
            pack: Pack {
                items: routed.pack.items,
                tokens: routed.pack.tokens,
                budget: routed.pack.budget,
                text,
            },
            anchors: explain.then_some(routed.anchors),
            explained: explain.then_some(routed.explained),
            ranked: (self.route.ranked > 0).then_some(routed.ranked),
            degraded: self.degraded,
            trace_id: self.trace_id,
            weights: routed.weights,
        }
    }

    fn unrouted(&self, error: PortError) -> Problem {
        let late = error.kind() == ErrorKind::Timeout;
        let problem = Problem::from(error);
        if late {
            problem.detail(format!(
                "no evidence within the budget of {} ms",
                self.budget.as_millis()
            ))
        } else {
            problem
        }
    }

    /// The evidence stands without the reader; what is missing is said.
    fn unread(&mut self, error: &PortError) -> AnsweredV1 {
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
        self.degraded.push(format!("answer: {reason}"));
        let reasons = vec![format!("not judged: {reason}")];
        let verdict = Verdict {
            status: Sufficiency::Insufficient,
            reasons,
            nearest: Vec::new(),
        };
        AnsweredV1 {
            verdict,
            answer: None,
            model_calls: 0,
        }
    }

    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.started.elapsed())
    }

    fn note(&mut self, step: &str, begun: Instant) {
        self.steps.push(StepTime {
            step: step.to_owned(),
            ms: ms(begun),
        });
    }
}

/// Returns milliseconds since, to the microsecond.
pub(crate) fn ms(since: Instant) -> f32 {
    (since.elapsed().as_secs_f64() * 1_000_000.0).round() as f32 / 1_000.0
}
