use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::backends::Life;
use crate::circuit_breaker::CircuitBreakers;
use crate::in_process::InProcess;
use crate::{Backends, Metrics, Readiness, Settings, backends};

/// Everything that a service is given: stores and bus, settings, metrics, and the shutdown signal.
#[derive(Clone)]
pub struct Context {
    /// Stores, bus and embedder.
    pub backends: Backends,
    /// Cancelled at shutdown: intake stops, and work in flight is finished.
    pub shutdown: CancellationToken,
    /// All settings.
    pub settings: Arc<Settings>,
    /// The metrics of this process.
    pub metrics: Metrics,
    /// Components that must be up before `/readyz` reports ready.
    pub readiness: Readiness,
    /// The guards of the servers that the ports use.
    pub(crate) circuit_breakers: CircuitBreakers,
    /// Services of this process, which are asked without the bus.
    pub(crate) in_process: InProcess,
    /// Tracks the work that still sends requests to other services after the shutdown signal.
    asking: TaskTracker,
}

impl Context {
    /// Opens the stores in `dir`, created if missing, with default settings; for tests.
    ///
    /// # Errors
    ///
    /// The stores cannot be opened.
    pub async fn embedded_with_defaults(dir: &Path) -> anyhow::Result<Context> {
        Context::embedded_with(dir, Settings::default()).await
    }

    /// Opens the stores in `dir` with these settings; `backends.dir` is ignored.
    ///
    /// # Errors
    ///
    /// Wrong settings in `[backends]` or `[embeddings]`; the stores cannot be opened, or the endpoint cannot be
    /// reached.
    pub async fn embedded_with(dir: &Path, settings: Settings) -> anyhow::Result<Context> {
        let (backends, circuit_breakers) = backends::open_embedded(dir, &settings).await?;
        Ok(Context::new(backends, circuit_breakers, settings, Life::new("mnemic")))
    }

    /// Connects the backends that `[backends]` names, for the service `name`; a name that is not that of a service gets
    /// all of them. For tests, and for programs that embed Mnemic.
    ///
    /// # Errors
    ///
    /// Wrong settings; embedded stores that cannot be opened. An unreachable server is not an error: it is retried
    /// until shutdown, and [`Readiness`] reports it.
    pub async fn connect_for_service(name: &'static str, settings: Settings) -> anyhow::Result<Context> {
        let life = Life::new(name);
        let (backends, circuit_breakers) = backends::connect_backends(&settings, &life).await?;
        Ok(Context::new(backends, circuit_breakers, settings, life))
    }

    pub(crate) fn new(
        backends: Backends,
        circuit_breakers: CircuitBreakers,
        settings: Settings,
        life: Life,
    ) -> Context {
        let asking = TaskTracker::new();
        asking.close();
        Context {
            backends,
            shutdown: life.shutdown,
            settings: Arc::new(settings),
            metrics: Metrics::default(),
            readiness: life.readiness,
            circuit_breakers,
            in_process: InProcess::default(),
            asking,
        }
    }

    /// Returns a token. Until it is dropped, the services of this process continue to answer requests after the
    /// shutdown signal, so that work in progress can be finished.
    pub fn keep_serving(&self) -> TaskTrackerToken {
        self.asking.token()
    }

    /// Waits for the shutdown signal, then until all tokens of [`Context::keep_serving`] are dropped.
    pub(crate) async fn nobody_asks(&self) {
        self.shutdown.cancelled().await;
        self.asking.wait().await;
    }

    /// Returns a section of the settings, or its defaults if it is not set.
    ///
    /// # Errors
    ///
    /// A key that `T` does not have, or a value of the wrong type.
    pub fn read_section<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        Ok(self.settings.read_section(name)?)
    }
}
