//! Trace context and deadline in the headers of a frame: W3C `traceparent`, and [`DEADLINE`].

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use domain::port::DEADLINE;
use opentelemetry::global;
use tracing::{Span, debug};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::clock;

/// Writes the trace context of `span` into `headers`.
pub(crate) fn inject_trace_context(span: &Span, headers: &mut BTreeMap<String, String>) {
    let mut carrier = HashMap::new();
    global::get_text_map_propagator(|it| it.inject_context(&span.context(), &mut carrier));
    headers.extend(carrier);
}

/// Makes the sender's span the parent of `span`. Call it before `span` is entered.
pub(crate) fn adopt_trace_context(span: &Span, headers: &BTreeMap<String, String>) {
    let carrier: HashMap<String, String> = headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let parent = global::get_text_map_propagator(|it| it.extract(&carrier));
    if let Err(error) = span.set_parent(parent) {
        debug!(%error, "no usable trace context");
    }
}

/// Writes the caller's deadline into `headers`.
pub(crate) fn set_deadline(patience: Duration, headers: &mut BTreeMap<String, String>) {
    let patience_ms = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX);
    let deadline = clock::now().timestamp_millis().saturating_add(patience_ms);
    headers.insert(DEADLINE.to_owned(), deadline.to_string());
}

/// Returns the remaining patience of the caller, or `None` if there is no deadline.
pub(crate) fn time_left(headers: &BTreeMap<String, String>) -> Option<Duration> {
    let deadline: i64 = headers.get(DEADLINE)?.parse().ok()?;
    let left = deadline.saturating_sub(clock::now().timestamp_millis());
    Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
}
