//! A Jaeger server that keeps traces in memory.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use fixtures::{WAIT_MAX, look_within};
use serde_json::Value;
use tempfile::TempDir;

/// A running server; stopped when dropped.
pub struct Jaeger {
    process: Child,
    ports: Ports,
    http: reqwest::Client,
    _home: TempDir,
}

struct Ports {
    otlp: u16,
    query: u16,
    grpc: u16,
    health: u16,
}

impl Jaeger {
    /// Starts a server on free ports. Returns `None` if Jaeger is neither installed nor required.
    ///
    /// # Errors
    /// If it is required but missing, or does not start.
    pub async fn start() -> Result<Option<Jaeger>> {
        let Some(program) = find_program()? else {
            return Ok(None);
        };
        let home = TempDir::new()?;
        let ports = Ports {
            otlp: super::free_port(),
            query: super::free_port(),
            grpc: super::free_port(),
            health: super::free_port(),
        };
        let path = home.path().join("config.yaml");
        std::fs::write(&path, write_config(&ports))?;
        let log = std::fs::File::create(home.path().join("log"))?;
        let process = Command::new(program)
            .arg("--config")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting jaeger")?;
        let jaeger = Jaeger {
            process,
            ports,
            http: reqwest::Client::new(),
            _home: home,
        };
        let status = format!("http://127.0.0.1:{}/status", jaeger.ports.health);
        let starts = async || jaeger.http.get(&status).send().await?.error_for_status();
        match look_within(WAIT_MAX, starts).await {
            Ok(_) => Ok(Some(jaeger)),
            Err(error) => bail!("jaeger did not start: {error:?}"),
        }
    }

    /// Returns the address to which traces are sent.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.otlp)
    }

    /// Returns a trace in the format of Jaeger's API, as soon as `complete` returns true for it.
    ///
    /// # Errors
    /// If the trace is not complete after the longest wait; the error contains the incomplete trace.
    pub async fn trace(&self, id: &str, complete: impl Fn(&Value) -> bool) -> Result<Value> {
        let url = format!("http://127.0.0.1:{}/api/traces/{id}", self.ports.query);
        let look = async || match self.read_trace(&url).await {
            Ok(trace) if complete(&trace) => Ok(trace),
            other => Err(other),
        };
        let outcome = look_within(WAIT_MAX, look).await;
        outcome.map_err(|last| anyhow!("the trace never was complete: {last:?}"))
    }

    async fn read_trace(&self, url: &str) -> Result<Value> {
        let response = self.http.get(url).send().await?.error_for_status()?;
        Ok(serde_json::from_str::<Value>(&response.text().await?)?["data"][0].take())
    }
}

impl Drop for Jaeger {
    fn drop(&mut self) {
        // The server stores nothing, and it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn find_program() -> Result<Option<PathBuf>> {
    let home = std::env::var("HOME").unwrap_or_default();
    let default = PathBuf::from(home).join(".cache/mnemic-ci/servers/jaeger/jaeger");
    let program = std::env::var_os("MNEMIC_TEST_JAEGER").map_or(default, PathBuf::from);
    if program.is_file() {
        return Ok(Some(program));
    }
    if std::env::var("MNEMIC_TEST_SERVERS").is_ok_and(|it| it == "required") {
        bail!("no jaeger at {}; run .ci/servers/jaeger", program.display());
    }
    eprintln!("skipped: no jaeger; run .ci/servers/jaeger");
    Ok(None)
}

fn write_config(ports: &Ports) -> String {
    let Ports {
        otlp,
        query,
        grpc,
        health,
    } = ports;
    format!(
        "service:
  extensions: [jaeger_storage, jaeger_query, healthcheckv2]
  pipelines:
    traces: {{ receivers: [otlp], processors: [batch], exporters: [jaeger_storage_exporter] }}
  telemetry:
    metrics: {{ level: none }}
extensions:
  healthcheckv2: {{ use_v2: true, http: {{ endpoint: 127.0.0.1:{health} }} }}
  jaeger_query:
    storage: {{ traces: memory }}
    http: {{ endpoint: 127.0.0.1:{query} }}
    grpc: {{ endpoint: 127.0.0.1:{grpc} }}
  jaeger_storage:
    backends: {{ memory: {{ memory: {{ max_traces: 10000 }} }} }}
receivers:
  otlp:
    protocols: {{ http: {{ endpoint: 127.0.0.1:{otlp} }} }}
processors:
  batch: {{ timeout: 100ms }}
exporters:
  jaeger_storage_exporter: {{ trace_storage: memory }}
"
    )
}
