use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::PortError;
use domain::message::{Message, Request};
use domain::port::Position;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::backends::Life;
use crate::bus::InProcess;
use crate::guard::Guards;
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
    /// What must be up before `/readyz` reports ready.
    pub readiness: Readiness,
    /// The guards of the servers behind the ports.
    pub(crate) guards: Guards,
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
    pub async fn embedded(dir: &Path) -> anyhow::Result<Context> {
        Context::embedded_with(dir, Settings::default()).await
    }

    /// Opens the stores in `dir` with these settings; `backends.dir` is ignored.
    ///
    /// # Errors
    ///
    /// Wrong settings in `[backends]` or `[embeddings]`; the stores cannot be opened, or the endpoint cannot be
    /// reached.
    pub async fn embedded_with(dir: &Path, settings: Settings) -> anyhow::Result<Context> {
        let connected = backends::embedded(dir, &settings).await?;
        Ok(Context::new(connected, settings, Life::new("mnemic")))
    }

    /// Connects the backends that `[backends]` names, for the service `name`; a name that is not that of a service gets
    /// all of them. For tests, and for programs that embed Mnemic.
    ///
    /// # Errors
    ///
    /// Wrong settings; embedded stores that cannot be opened. An unreachable server is not an error: it is retried
    /// until shutdown, and [`Readiness`] reports it.
    pub async fn connect(name: &'static str, settings: Settings) -> anyhow::Result<Context> {
        let life = Life::new(name);
        let connected = backends::any(&settings, &life).await?;
        Ok(Context::new(connected, settings, life))
    }

    pub(crate) fn new((backends, guards): (Backends, Guards), settings: Settings, life: Life) -> Context {
        let asking = TaskTracker::new();
        asking.close();
        Context {
            backends,
            shutdown: life.shutdown,
            settings: Arc::new(settings),
            metrics: Metrics::default(),
            readiness: life.readiness,
            guards,
            in_process: InProcess::default(),
            asking,
        }
    }

    /// Returns a token. Until it is dropped, the services of this process go on answering requests after the shutdown
    /// signal, so that work in progress can be finished.
    pub fn keep_serving(&self) -> TaskTrackerToken {
        self.asking.token()
    }

    /// Waits for the shutdown signal, then until all tokens of `keep_serving` are dropped.
    pub(crate) async fn nobody_asks(&self) {
        self.shutdown.cancelled().await;
        self.asking.wait().await;
    }

    /// Returns a section of the settings, or its defaults if it is not set.
    ///
    /// # Errors
    ///
    /// A key that `T` does not have, or a value of the wrong type.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        Ok(self.settings.section(name)?)
    }

    /// Publishes a message durably and returns its position. The trace continues at the consumers.
    ///
    /// # Errors
    ///
    /// Like [`domain::port::Bus::publish`].
    pub async fn publish<M: Message>(&self, message: &M) -> Result<Position, PortError> {
        crate::bus::publish(self, message).await
    }

    /// Sends a request to a server of `R`, in this process if there is one, and returns the reply. The trace continues
    /// there, and the work stops after `patience`.
    ///
    /// # Errors
    ///
    /// Like [`domain::port::Bus::request`].
    pub async fn request<R: Request>(&self, request: R, patience: Duration) -> Result<R::Reply, PortError> {
        // Boxed: an opaque future would be laid out by every crate that polls it, and is too deep for some.
        let reply: BoxFuture<'_, Result<R::Reply, PortError>> = Box::pin(crate::bus::request(self, request, patience));
        reply.await
    }
}
