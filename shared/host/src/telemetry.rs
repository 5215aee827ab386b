//! Logs and traces. Every span has a W3C trace id, whether traces are exported or not.

use std::error::Error;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::trace::{TraceContextExt, TracerProvider as _};
use opentelemetry::{KeyValue, TraceId, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, Sampler, SdkTracerProvider};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::fmt::format::{Format, FormatEvent, FormatFields, Json, Writer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// The library of the Model Context Protocol. It logs every request with the name that the caller gives itself; our own
/// span logs the request without it.
const TALKATIVE: &str = "rmcp";

/// Format of the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Logs {
    /// Text for people.
    #[default]
    Pretty,
    /// One JSON object per line.
    Json,
}

/// Settings in `[telemetry]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Format of the logs.
    pub logs: Logs,
    /// Log filter: a level, or directives like `info,writer=debug`.
    pub level: String,
    /// Base address of an OTLP/HTTP collector, like `http://127.0.0.1:4318`; if empty, traces are not exported.
    pub otlp_endpoint: String,
    /// Share of traces to export, 0 to 1; a caller's own sampling decision is kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sample: f64,
    /// Timeout of the collector in seconds, for each batch and at the end.
    pub export_secs: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            logs: Logs::Pretty,
            level: "info".to_owned(),
            otlp_endpoint: String::new(),
            sample: 1.0,
            export_secs: 5,
        }
    }
}

/// Keeps telemetry running; [`TelemetryGuard::flush_traces`] is the last thing a process does.
#[derive(Debug)]
pub struct TelemetryGuard {
    provider: SdkTracerProvider,
    patience: Duration,
}

impl TelemetryGuard {
    /// Exports the remaining traces. Blocks for at most `export_secs`.
    pub fn flush_traces(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(self.patience) {
            // Only the exporter is gone; the subscriber still writes logs.
            tracing::warn!(%error, "the last traces were not exported");
        }
    }
}

/// Starts logs and traces for the process; `service` is its name in traces.
///
/// # Errors
///
/// An invalid level, an endpoint that is not an address, telemetry that is already running.
pub fn start_logs_and_traces(config: &Config, service: &str) -> anyhow::Result<TelemetryGuard> {
    let patience = Duration::from_secs(config.export_secs.max(1));
    let resource = Resource::builder()
        .with_service_name(service.to_owned())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let mut provider = SdkTracerProvider::builder().with_resource(resource);
    if config.otlp_endpoint.is_empty() {
        provider = provider.with_sampler(Sampler::AlwaysOff);
    } else {
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample.clamp(0.0, 1.0))));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", config.otlp_endpoint.trim_end_matches('/')))
            .with_timeout(patience)
            .build()
            .context("[telemetry] otlp_endpoint cannot be used")?;
        provider = provider.with_sampler(sampler).with_batch_exporter(exporter);
    }
    let provider = provider.build();
    global::set_text_map_propagator(TraceContextPropagator::new());
    let traces = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("mnemic"))
        .with_filter(
            Targets::new()
                .with_default(LevelFilter::INFO)
                .with_target(TALKATIVE, LevelFilter::OFF),
        );
    let level = parse_level_filter(&config.level)?;
    let colours = allows_colours(std::env::var_os("NO_COLOR").as_deref()) && std::io::stderr().is_terminal();
    let logs = match config.logs {
        Logs::Pretty => fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(colours)
            .compact()
            .with_filter(level)
            .boxed(),
        Logs::Json => fmt::layer()
            .with_writer(std::io::stderr)
            .json()
            .flatten_event(true)
            .map_event_format(WithCauses)
            .with_filter(level)
            .boxed(),
    };
    tracing_subscriber::registry()
        .with(traces)
        .with(logs)
        .try_init()
        .context("telemetry is already running")?;
    Ok(TelemetryGuard { provider, patience })
}

/// Returns whether the value of `NO_COLOR` in the environment allows colours (<https://no-color.org>).
fn allows_colours(no_color: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty)
}

/// Returns the filter for `level`. A bare word must be a level: the library would read any other word as the name of a
/// module, and silence all other logs.
fn parse_level_filter(level: &str) -> anyhow::Result<EnvFilter> {
    let words: Vec<&str> = level.split(',').map(str::trim).collect();
    for word in &words {
        let bare = !word.contains(['=', '[', ']', '{', '}']);
        anyhow::ensure!(
            !bare || (!word.is_empty() && word.parse::<LevelFilter>().is_ok()),
            "[telemetry] level: `{word}` is not a level (off, error, warn, info, debug, trace); for one module write `module=level`"
        );
    }
    EnvFilter::builder()
        .parse(format!("{TALKATIVE}=off,{}", words.join(",")))
        .context("[telemetry] level cannot be read")
}

/// A format of JSON lines in which errors include their causes; the library only writes the outermost error.
struct WithCauses(Format<Json>);

impl<S, N> FormatEvent<S, N> for WithCauses
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &fmt::FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let mut errors = Errors::default();
        event.record(&mut errors);
        if errors.0.is_empty() {
            return self.0.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let mut fields: Map<String, Value> = serde_json::from_str(&line).map_err(|_| std::fmt::Error)?;
        fields.extend(errors.0);
        writeln!(writer, "{}", Value::Object(fields))
    }
}

/// The errors of an event that have causes, by field.
#[derive(Default)]
struct Errors(Map<String, Value>);

impl Visit for Errors {
    fn record_error(&mut self, field: &Field, error: &(dyn Error + 'static)) {
        let mut cause = error.source();
        if cause.is_none() {
            return;
        }
        let mut text = error.to_string();
        while let Some(it) = cause {
            text.push_str(": ");
            text.push_str(&it.to_string());
            cause = it.source();
        }
        self.0.insert(field.name().to_owned(), Value::String(text));
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Returns the trace id of the current span, 32 hex digits; a random one if telemetry is not running.
pub fn trace_id() -> String {
    known_trace_id(&Span::current())
        .unwrap_or_else(|| RandomIdGenerator::default().new_trace_id())
        .to_string()
}

/// Makes the sender in the W3C `traceparent` the parent of `span`. Call it before `span` is entered.
pub fn adopt_traceparent(span: &Span, traceparent: &str) {
    crate::propagation::adopt_trace_context(span, &[("traceparent".to_owned(), traceparent.to_owned())].into());
}

/// Writes the trace id into the span's field `trace_id`, so that logs contain it.
pub fn note_trace_id(span: &Span) {
    if let Some(id) = known_trace_id(span) {
        span.record("trace_id", id.to_string());
    }
}

fn known_trace_id(span: &Span) -> Option<TraceId> {
    let id = span.context().span().span_context().trace_id();
    Some(id).filter(|it| *it != TraceId::INVALID)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn colours_are_allowed_unless_the_environment_forbids_them() {
        assert!(allows_colours(None));
        assert!(allows_colours(Some(OsStr::new(""))));
        assert!(!allows_colours(Some(OsStr::new("1"))));
    }

    #[test]
    fn json_logs_contain_an_error_with_its_causes() {
        let lines = Lines::default();
        let shared_lines = lines.clone();
        let layer = fmt::layer()
            .with_writer(move || shared_lines.clone())
            .json()
            .flatten_event(true)
            .map_event_format(WithCauses);
        let error = anyhow::Error::from(io::Error::other("disk is full"))
            .context("cannot write")
            .context("request failed");
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::info_span!("outer", space = "s").in_scope(|| {
                tracing::error!(error = &*error as &dyn Error, count = 3, "it went wrong");
                tracing::info!("no error");
            });
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(lines[0]["error"], "request failed: cannot write: disk is full");
        assert_eq!(
            (&lines[0]["count"], &lines[0]["level"]),
            (&Value::from(3), &Value::from("ERROR"))
        );
        assert_eq!(lines[0]["message"], "it went wrong");
        assert_eq!((&lines[0]["span"]["space"], lines.len()), (&Value::from("s"), 2));
        assert_eq!(lines[1]["message"], "no error");
    }

    #[test]
    fn an_unknown_level_is_an_error_that_names_it() {
        for level in ["info", "WARN", "off", "info,writer=debug", "info, rmcp=trace"] {
            assert!(parse_level_filter(level).is_ok(), "{level}");
        }
        for (level, word) in [("shout", "`shout`"), ("info,loud", "`loud`"), ("", "``")] {
            let error = parse_level_filter(level).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("[telemetry] level"), "{error}");
        }
        assert!(parse_level_filter("info,writer=shout").is_err());
    }
}
