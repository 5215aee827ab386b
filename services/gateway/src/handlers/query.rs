use std::convert::Infallible;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::id::SpaceId;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde::Serialize;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tracing::Instrument;

use crate::api::{PathStep, QueryRequest, QueryResponse};
use crate::auth::Access;
use crate::config::Right;
use crate::edge::{Patience, TraceId};
use crate::extract::{At, ObjectBody};
use crate::problem::Problem;
use crate::query::{self, Asked};
use crate::state::App;

/// Media type in `Accept` that requests a stream of events.
const EVENTS: &str = "text/event-stream";

/// Answers a question: evidence within a budget, a verdict, and optionally an answer.
///
/// With `Accept: text/event-stream`, each step of the strategy is sent as an event `step` while the query runs. The
/// event `response` then holds the response, or the event `problem` an error. If the caller disconnects, the query is
/// cancelled.
#[utoipa::path(post, path = "/v1/spaces/{space}/query", tag = "query", request_body = QueryRequest,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Evidence, verdict and cost", content(
        (QueryResponse = "application/json"),
        (PathStep = "text/event-stream"),
    )),
    (status = 504, description = "The budget of time ran out", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    At(name): At<String>,
    headers: HeaderMap,
    ObjectBody(request): ObjectBody<QueryRequest>,
) -> Result<Response, Problem> {
    let space = access.enter(&name, Right::Read)?;
    patience.extend(app.question_ms_max(request.budget.model_calls));
    let by = access.name().to_owned();
    let mut asked = Asked {
        request,
        trace_id,
        steps: None,
    };
    if !wants_events(&headers) {
        let response = query::ask(&app, &by, &space, asked).await?;
        return Ok(Json(response).into_response());
    }
    let (steps, heard) = mpsc::unbounded_channel();
    asked.steps = Some(steps);
    let work = async move { query::ask(&app, &by, &space, asked).await }.in_current_span();
    streamed(told(heard, work)).await
}

/// Items of the stream.
enum Told {
    Step(PathStep),
    Done(Box<Result<QueryResponse, Problem>>),
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| {
        it.split(';')
            .next()
            .is_some_and(|it| it.trim().eq_ignore_ascii_case(EVENTS))
    })
}

/// Returns the steps in order and then the outcome of the work. The work continues only while the stream is read.
fn told(
    heard: UnboundedReceiver<PathStep>,
    work: impl Future<Output = Result<QueryResponse, Problem>> + Send + 'static,
) -> BoxStream<'static, Told> {
    let told = stream::unfold(Some((heard, work.boxed())), |state| async move {
        let (mut heard, mut work) = state?;
        tokio::select! {
            biased;
            Some(step) = heard.recv() => Some((vec![Told::Step(step)], Some((heard, work)))),
            outcome = &mut work => {
                let mut last: Vec<Told> = Vec::new();
                while let Ok(step) = heard.try_recv() {
                    last.push(Told::Step(step));
                }
                last.push(Told::Done(Box::new(outcome)));
                Some((last, None))
            }
        }
    });
    told.flat_map(stream::iter).boxed()
}

/// Returns the response as a stream of events, or a plain problem if an error comes before the first step.
async fn streamed(mut told: BoxStream<'static, Told>) -> Result<Response, Problem> {
    let first = match told.next().await {
        Some(Told::Done(outcome)) => Told::Done(Box::new(Ok((*outcome)?))),
        Some(step) => step,
        None => return Err(Problem::internal()),
    };
    let events = stream::iter([first]).chain(told).map(event);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

fn event(told: Told) -> Result<Event, Infallible> {
    Ok(match told {
        Told::Step(step) => named("step", &step),
        Told::Done(outcome) => match *outcome {
            Ok(response) => named("response", &response),
            Err(problem) => named("problem", &problem),
        },
    })
}

fn named(name: &str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    // The text is on one line, because JSON contains no raw line breaks.
    event.json_data(data).unwrap_or_else(|_| Event::default().event(name))
}
