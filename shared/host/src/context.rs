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

/// What a service is given: stores and bus, settings, numbers, and the sign to stop.
#[derive(Clone)]
pub struct Context {
    /// Stores, bus and embedder.
    pub backends: Backends,
    /// Cancelled when the process is to end; intake stops, what is in flight is finished.
    pub shutdown: CancellationToken,
    /// All settings.
    pub settings: Arc<Settings>,
    /// The numbers of this process.
    pub metrics: Metrics,
    /// What must be up before `/readyz` says yes.
    pub readiness: Readiness,
    /// The servers behind the stores.
    pub(crate) guards: Guards,
    /// Services of this process, which are asked without the bus.
    pub(crate) in_process: InProcess,
    /// Those who still ask other services after the sign to stop.
    asking: TaskTracker,
}

impl Context {
    /// Opens the stores of `dir`, created if missing, with default settings; for tests.
    ///
    /// # Errors
    /// The stores cannot be opened.
    pub async fn embedded(dir: &Path) -> anyhow::Result<Context> {
        Context::embedded_with(dir, Settings::default()).await
    }

    /// Opens the stores of `dir` with these settings, all but `backends.dir`.
    ///
    /// # Errors
    /// Settings in `[backends]` or `[embeddings]` that are wrong; the stores cannot be opened, or the endpoint is away.
    pub async fn embedded_with(dir: &Path, settings: Settings) -> anyhow::Result<Context> {
        let connected = backends::embedded(dir, &settings).await?;
        Ok(Context::new(connected, settings, Life::new("mnemic")))
    }

    /// Connects whatever `[backends]` names, on behalf of the service `name`, or of all if it is none; for tests and for
    /// embedding.
    ///
    /// # Errors
    /// Settings that are wrong; embedded stores that cannot be opened. A server that is away is no error: it is tried
    /// again until shutdown, and [`Readiness`] says so.
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

    /// Until what is returned is dropped, the services of this process go on answering also after the sign to stop; for
    /// whoever must finish what it has begun.
    pub fn keep_serving(&self) -> TaskTrackerToken {
        self.asking.token()
    }

    /// Returns after the sign to stop, when nobody asks any more.
    pub(crate) async fn nobody_asks(&self) {
        self.shutdown.cancelled().await;
        self.asking.wait().await;
    }

    /// Returns a section of the settings; its defaults if nothing is set.
    ///
    /// # Errors
    /// A key that `T` does not know, or of another type.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        Ok(self.settings.section(name)?)
    }

    /// Returns once the message is durable, with its position; the trace goes on at its consumers.
    ///
    /// # Errors
    /// As [`domain::port::Bus::publish`].
    pub async fn publish<M: Message>(&self, message: &M) -> Result<Position, PortError> {
        crate::bus::publish(self, message).await
    }

    /// Asks whoever serves `R`, in this process if somebody does; the trace goes on there, and the work stops when `patience` runs out.
    ///
    /// # Errors
    /// As [`domain::port::Bus::request`].
    pub async fn request<R: Request>(&self, request: R, patience: Duration) -> Result<R::Reply, PortError> {
        // Boxed: an opaque future would be laid out by every crate that polls it, and is too deep for some.
        let reply: BoxFuture<'_, Result<R::Reply, PortError>> = Box::pin(crate::bus::request(self, request, patience));
        reply.await
    }
}
