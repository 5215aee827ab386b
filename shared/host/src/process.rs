//! The life of a process: settings, telemetry, backends, services, signals, graceful shutdown, and flushing telemetry
//! last.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::backends::Life;
use crate::circuit_breaker::CircuitBreakers;
use crate::{Backends, Context, Settings, backends, health, telemetry};

/// Settings in `[process]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Maximum number of seconds for finishing work in flight after the shutdown signal.
    pub drain_secs: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { drain_secs: 20 }
    }
}

/// Whether this build can make HTTPS requests.
pub const SPEAKS_TLS: bool = cfg!(feature = "https");

/// Sets the TLS implementation for every HTTP client of this process. Call it before the first client is created.
pub fn provide_tls() {
    #[cfg(feature = "https")]
    adapters::provide_tls();
}

/// Runs one service as a process, with settings from `--config FILE` or from the default places of [`Settings::load`].
///
/// Refuses embedded backends, because their bus works only inside one process.
pub fn run_service<F, Fut>(name: &'static str, run: F) -> ExitCode
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let work = || {
        provide_tls();
        let settings = Settings::load(config_argument()?.as_deref())?;
        run_process(name, settings, backends::connect_distributed, Admin::Open, run)
    };
    exit_code(work())
}

/// Runs several services in this process, with embedded backends by default.
pub fn run_standalone<F, Fut>(settings: Settings, run: F) -> ExitCode
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    exit_code(run_process(
        "mnemic",
        settings,
        backends::connect_backends,
        Admin::Open,
        run,
    ))
}

/// Does the same as [`run_standalone`] but without the admin port, for work over pipes that no other process on the machine
/// should reach.
pub fn without_ports<F, Fut>(settings: Settings, run: F) -> ExitCode
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    exit_code(run_process(
        "mnemic",
        settings,
        backends::connect_backends,
        Admin::Closed,
        run,
    ))
}

/// Whether the process serves health and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admin {
    Open,
    Closed,
}

fn run_process<F, Fut>(
    name: &'static str,
    settings: Settings,
    connect: impl AsyncFnOnce(&Settings, &Life) -> anyhow::Result<(Backends, CircuitBreakers)>,
    admin: Admin,
    run: F,
) -> anyhow::Result<()>
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    adapters::limit_heap_arenas();
    let config: Config = settings.read_section("process")?;
    let guard = telemetry::start_logs_and_traces(&settings.read_section("telemetry")?, name)?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let outcome = runtime.block_on(async {
        let life = Life::new(name);
        let (backends, circuit_breakers) = connect(&settings, &life).await?;
        let context = Context::new(backends, circuit_breakers, settings, life);
        let bus = Arc::clone(&context.backends.bus);
        let outcome = run_until_shutdown(context, Duration::from_secs(config.drain_secs), admin, run).await;
        // The last replies and settlements may still wait to be sent.
        if let Err(error) = bus.flush().await {
            debug!(
                error = &error as &dyn std::error::Error,
                "the bus did not accept the last messages"
            );
        }
        outcome
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    guard.flush_traces();
    outcome
}

async fn run_until_shutdown<F, Fut>(context: Context, drain: Duration, admin: Admin, run: F) -> anyhow::Result<()>
where
    F: FnOnce(Context) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let shutdown = context.shutdown.clone();
    listen_for_signals(shutdown.clone())?;
    let health = context.clone();
    let mut admin = tokio::spawn(async move {
        match admin {
            Admin::Open => health::serve_admin_port(health).await,
            Admin::Closed => std::future::pending().await,
        }
    });
    let mut work = std::pin::pin!(run(context));
    tokio::select! {
        outcome = &mut work => {
            shutdown.cancel();
            return outcome;
        }
        outcome = &mut admin => {
            shutdown.cancel();
            outcome.context("the admin port panicked")??;
        }
        () = shutdown.cancelled() => {}
    }
    info!(
        drain_secs = drain.as_secs(),
        "stopping: accepting no new work, finishing the work in flight"
    );
    let outcome = match timeout(drain, work).await {
        Ok(outcome) => outcome,
        Err(_) => {
            warn!("work was still in flight at the end; the bus delivers it again after the next start");
            Ok(())
        }
    };
    admin.abort();
    info!("stopped");
    outcome
}

/// The first signal starts the drain; the second one ends the process at once.
fn listen_for_signals(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    tokio::spawn(async move {
        for nth in 1.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if nth > 1 {
                std::process::exit(130);
            }
            shutdown.cancel();
        }
    });
    Ok(())
}

fn config_argument() -> anyhow::Result<Option<PathBuf>> {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(None),
        (Some(flag), Some(path), None) if flag == "--config" => Ok(Some(path.into())),
        _ => anyhow::bail!("usage: --config FILE"),
    }
}

fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    if tracing::enabled!(tracing::Level::ERROR) {
        error!("{error:#}");
    } else {
        print_error(&error);
    }
    ExitCode::FAILURE
}

#[expect(
    clippy::print_stderr,
    reason = "telemetry does not run yet, so nobody else would say it"
)]
fn print_error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
