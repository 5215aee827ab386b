//! Layers around every request: trace, limits, panics, metrics.

mod admission;
mod cors;
mod unread_body;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::body::HttpBody as _;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use host::telemetry;
use tokio::time::Instant;
use tracing::{Instrument, debug, error, field, info, info_span};

use crate::api::problem::Problem;
use crate::app::keys::access::Access;
use crate::app::request_time_limit::Patience;
use crate::app::state::App;
pub(crate) use admission::admit_request;
pub(crate) use cors::cors_layer;
use unread_body::UnreadBody;

/// Trace id of the request, 32 hex digits.
#[derive(Clone, Debug)]
pub(crate) struct TraceId(pub(crate) String);

/// Additional time for a request after its time limit, so that it can report the timeout itself.
const GRACE: Duration = Duration::from_secs(1);
const TRACE_HEADER: &str = "x-trace-id";

/// Runs the request within its time limit, in a span that continues the caller's trace.
pub(crate) async fn trace_and_bound_request(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = known_method(request.method().as_str().to_owned());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("unmatched", |it| it.as_str())
        .to_owned();
    let span = info_span!(
        "http",
        otel.kind = "server",
        otel.name = format!("{method} {route}"),
        http.request.method = method,
        http.route = route,
        http.response.status_code = field::Empty,
        trace_id = field::Empty
    );
    if let Some(parent) = request.headers().get("traceparent").and_then(|it| it.to_str().ok()) {
        telemetry::adopt_traceparent(&span, parent);
    }
    telemetry::note_trace_id(&span);
    let trace = span.in_scope(telemetry::trace_id);
    request.extensions_mut().insert(TraceId(trace.clone()));
    let unread = UnreadBody::wrap_body(&mut request);
    let mut response = run_within_time_limit(&app, request, next)
        .instrument(span.clone())
        .await;
    if let Some(unread) = unread
        && !unread.drop_rest(app.config.body_bytes_max).await
    {
        response
            .headers_mut()
            .insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Ok(value) = HeaderValue::from_str(&trace) {
        response.headers_mut().insert(TRACE_HEADER, value);
    }
    let status = response.status().as_u16();
    let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
    span.in_scope(|| debug!(status, duration_ms, "answered"));
    span.record("http.response.status_code", status);
    if app.config.access_log {
        log_access(&response, &method, &route, started.elapsed(), &trace);
    }
    app.context
        .metrics
        .count_http_request(&method, &route, status, started.elapsed());
    response
}

/// Writes the access log line of a request. The line contains no text that a caller chose.
fn log_access(response: &Response, method: &str, route: &str, duration: Duration, request_id: &str) {
    let key = response.extensions().get::<Access>().map_or("", Access::name);
    info!(
        target: "access",
        method,
        route,
        status = response.status().as_u16(),
        ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        bytes = response.body().size_hint().exact(),
        key,
        request_id,
        "request"
    );
}

async fn run_within_time_limit(app: &App, mut request: Request, next: Next) -> Response {
    let patience = Patience::new(app.config.request_ms_max, GRACE);
    request.extensions_mut().insert(patience.clone());
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    let outcome = patience.run_within_limit(work).await;
    app.note_in_flight();
    match outcome {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            error!("a handler panicked");
            Problem::internal_error().into_response()
        }
        Err(ms) => Problem::timeout(format!("the request took longer than {ms} ms")).into_response(),
    }
}

/// Returns the name of a known method, else `other`: callers may invent methods, and the name is in spans, logs and
/// metrics.
fn known_method(method: String) -> String {
    let known = ["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"];
    if known.contains(&method.as_str()) {
        method
    } else {
        "other".to_owned()
    }
}
