//! The admin port with health checks and metrics: `/livez`, `/readyz`, `/metrics`.

mod limits;

use std::path::PathBuf;
use std::time::Duration;

use adapters::free_bytes;
use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing::info;

use crate::Context;
use crate::backends::{self, Kind};
use limits::Limited;

/// Timeout of a probe of a store.
const PATIENCE: Duration = Duration::from_secs(2);

/// Settings in `[admin]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Address of health and metrics. No keys protect it, so keep it off public networks.
    pub listen: String,
    /// Maximum number of open connections; further ones wait to be accepted.
    #[schemars(range(min = 1))]
    pub connections_max: u32,
    /// Maximum duration of a connection in milliseconds, including its one request and the answer.
    #[schemars(range(min = 1_000))]
    pub connection_ms_max: u64,
    /// Minimum free space on the disk of the embedded stores, in bytes; with less, `/readyz` reports not ready.
    pub disk_free_bytes_min: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: "127.0.0.1:7078".to_owned(),
            connections_max: 64,
            connection_ms_max: 10_000,
            disk_free_bytes_min: 64 << 20,
        }
    }
}

impl Config {
    /// Refuses bounds that could never work.
    pub(crate) fn check_bounds(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.connections_max > 0, "[admin] connections_max must be at least 1");
        anyhow::ensure!(
            self.connection_ms_max >= 1_000,
            "[admin] connection_ms_max must be at least 1000"
        );
        Ok(())
    }
}

/// Serves the admin port until the process ends. It stays open during the drain, so that probes can see it.
pub(crate) async fn serve_admin_port(context: Context) -> anyhow::Result<()> {
    let config: Config = context.read_section("admin")?;
    config.check_bounds()?;
    let listener = TcpListener::bind(&config.listen)
        .await
        .with_context(|| format!("cannot listen on {} ([admin] listen)", config.listen))?;
    info!(address = %listener.local_addr()?, "admin port is open");
    let lifetime = Duration::from_millis(config.connection_ms_max);
    let listener = Limited::new(listener, config.connections_max, lifetime);
    axum::serve(listener, admin_router(context)).await?;
    Ok(())
}

fn admin_router(context: Context) -> Router {
    Router::new()
        .route("/livez", get(async || "live\n"))
        .route("/readyz", get(answer_readyz))
        .route("/metrics", get(answer_metrics))
        .layer(map_response(async |mut response: Response| {
            // One request per connection, because an idle connection would hold its slot until its time is over.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }))
        .with_state(context)
}

async fn answer_readyz(State(context): State<Context>) -> Response {
    let mut missing = context.readiness.missing_components();
    if context.shutdown.is_cancelled() {
        missing.push("shutting down".to_owned());
    }
    if context.circuit_breakers.has_records() {
        match timeout(PATIENCE, context.backends.records.spaces(None, 1)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => missing.push(format!("records: {error}")),
            Err(_) => missing.push("records: no answer".to_owned()),
        }
    }
    missing.extend(check_free_disk(&context).err());
    if missing.is_empty() {
        return "ready\n".into_response();
    }
    (
        StatusCode::SERVICE_UNAVAILABLE,
        format!("not ready: {}\n", missing.join("; ")),
    )
        .into_response()
}

/// Returns an error if the disk is too full for writes; reads still work.
fn check_free_disk(context: &Context) -> Result<(), String> {
    let Some(dir) = existing_embedded_directory(context) else {
        return Ok(());
    };
    let config: Config = context.read_section("admin").map_err(|it| it.to_string())?;
    let least = config.disk_free_bytes_min;
    match free_bytes(&dir) {
        Ok(free) if free < least => Err(format!(
            "the disk of {} is full: {free} bytes are left, and [admin] disk_free_bytes_min is {least}",
            dir.display()
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the disk of {}: {error}", dir.display())),
    }
}

/// Returns the folder of the embedded stores, if this process has them.
fn existing_embedded_directory(context: &Context) -> Option<PathBuf> {
    let config: backends::Config = context.read_section("backends").ok()?;
    // Tests open their stores in a folder that is not in the settings.
    (config.kind == Kind::Embedded && config.dir.is_dir()).then_some(config.dir)
}

async fn answer_metrics(State(context): State<Context>) -> Response {
    context
        .metrics
        .measure_resources(existing_embedded_directory(&context).as_deref());
    context.metrics.refresh_from_stores(&context.backends, PATIENCE).await;
    match context.metrics.to_openmetrics_text() {
        Ok(text) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        )
            .into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    async fn get_path(context: &Context, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = admin_router(context.clone()).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn readyz_names_the_parts_that_are_not_ready() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
        assert_eq!(get_path(&context, "/livez").await.0, 200);
        assert_eq!(
            get_path(&context, "/readyz").await,
            (503, "not ready: nothing started\n".to_owned())
        );
        let door = context.readiness.register_component("door");
        assert_eq!(
            get_path(&context, "/readyz").await,
            (503, "not ready: door\n".to_owned())
        );
        door.set_is_up(true);
        assert_eq!(get_path(&context, "/readyz").await, (200, "ready\n".to_owned()));
        context.shutdown.cancel();
        assert_eq!(
            get_path(&context, "/readyz").await,
            (503, "not ready: shutting down\n".to_owned())
        );
        assert_eq!(get_path(&context, "/livez").await.0, 200);
    }

    #[tokio::test]
    async fn a_process_whose_disk_is_full_is_not_ready() {
        for (least, status) in [(0_u64, 200), (i64::MAX as u64, 503)] {
            let dir = tempfile::tempdir().unwrap();
            let settings = format!(
                "[backends]\ndir = \"{}\"\n[admin]\ndisk_free_bytes_min = {least}",
                dir.path().display()
            );
            let settings = crate::Settings::from_toml(&settings, "test").unwrap();
            let context = Context::embedded_with(dir.path(), settings).await.unwrap();
            let door = context.readiness.register_component("door");
            door.set_is_up(true);
            let (code, body) = get_path(&context, "/readyz").await;
            assert_eq!((code, body.contains("is full")), (status, status == 503), "{body}");
            let (_, text) = get_path(&context, "/metrics").await;
            for name in [
                "process_resident_memory_bytes",
                "process_open_fds",
                "mnemic_disk_free_bytes",
                "mnemic_database_bytes",
            ] {
                let value = text.lines().find_map(|it| it.strip_prefix(&format!("{name} ")));
                assert!(value.unwrap().parse::<u64>().unwrap() > 0, "{name}");
            }
        }
    }

    #[tokio::test]
    async fn metrics_are_openmetrics_text() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
        context
            .metrics
            .count_http_request("GET", "/v1/spaces/{space}", 200, Duration::from_millis(3));
        context
            .metrics
            .observe_operation(crate::metrics::Operation::Recall, true, Duration::from_millis(3));
        context.metrics.observe_recall(7, Some(0.5));
        let (status, text) = get_path(&context, "/metrics").await;
        assert_eq!(status, 200);
        for line in [
            "http_requests_total{method=\"GET\",route=\"/v1/spaces/{space}\",status=\"200\"} 1",
            "memory_operation_duration_seconds_count{operation=\"recall\",outcome=\"ok\"} 1",
            "memory_recall_result_count_sum 7.0",
            "memory_items{kind=\"record\"} 0",
            "mnemic_dead_letters 0",
            "mnemic_unfinished_erasures 0",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
    }
}
