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

use crate::api::problem::Problem;
use crate::api::{PathStep, ProblemDocument, QueryRequest, QueryResponse};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::request_time_limit::Patience;
use crate::app::state::App;
use crate::http::edge::TraceId;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::use_cases::query::{self, QueryContext};

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
    (status = 504, description = "The time limit was reached", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    PathParameters(name): PathParameters<String>,
    headers: HeaderMap,
    ObjectBody(request): ObjectBody<QueryRequest>,
) -> Result<Response, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    patience.extend_limit(app.question_ms_max(request.budget.model_calls));
    let by = access.name().to_owned();
    let mut context = QueryContext {
        request,
        trace_id,
        steps: None,
    };
    if !wants_events(&headers) {
        let response = query::answer_question(&app, &by, &space, context).await?;
        return Ok(Json(response).into_response());
    }
    let (steps, step_receiver) = mpsc::unbounded_channel();
    context.steps = Some(steps);
    let work = async move { query::answer_question(&app, &by, &space, context).await }.in_current_span();
    respond_with_events(stream_steps_and_outcome(step_receiver, work)).await
}

/// Items of the stream.
enum StreamItem {
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
fn stream_steps_and_outcome(
    steps: UnboundedReceiver<PathStep>,
    work: impl Future<Output = Result<QueryResponse, Problem>> + Send + 'static,
) -> BoxStream<'static, StreamItem> {
    let batches = stream::unfold(Some((steps, work.boxed())), |state| async move {
        let (mut steps, mut work) = state?;
        tokio::select! {
            biased;
            Some(step) = steps.recv() => Some((vec![StreamItem::Step(step)], Some((steps, work)))),
            outcome = &mut work => {
                let mut last: Vec<StreamItem> = Vec::new();
                while let Ok(step) = steps.try_recv() {
                    last.push(StreamItem::Step(step));
                }
                last.push(StreamItem::Done(Box::new(outcome)));
                Some((last, None))
            }
        }
    });
    batches.flat_map(stream::iter).boxed()
}

/// Returns the response as a stream of events, or a plain problem if an error comes before the first step.
async fn respond_with_events(mut items: BoxStream<'static, StreamItem>) -> Result<Response, Problem> {
    let first = match items.next().await {
        Some(StreamItem::Done(outcome)) => StreamItem::Done(Box::new(Ok((*outcome)?))),
        Some(step) => step,
        None => return Err(Problem::internal_error()),
    };
    let events = stream::iter([first]).chain(items).map(to_sse_event);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

fn to_sse_event(item: StreamItem) -> Result<Event, Infallible> {
    Ok(match item {
        StreamItem::Step(step) => sse_event_with_data("step", &step),
        StreamItem::Done(outcome) => match *outcome {
            Ok(response) => sse_event_with_data("response", &response),
            Err(problem) => sse_event_with_data("problem", &ProblemDocument::from(problem)),
        },
    })
}

fn sse_event_with_data(name: &str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    // The text is on one line, because JSON contains no raw line breaks.
    event.json_data(data).unwrap_or_else(|_| Event::default().event(name))
}
