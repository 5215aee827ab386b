//! Connects bus, stores and index to their servers. A server that is unreachable at startup is retried until it
//! answers.

use std::sync::Arc;
use std::time::Duration;

use adapters::servers::Provisioned;
use adapters::servers::distributed::{Options, Uses};
use adapters::servers::nats::NatsBus;
use adapters::servers::neo4j::Neo4j;
use adapters::servers::qdrant::QdrantIndex;
use domain::Classify;
use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Keys, Readings, Receipts, Records, Webhooks};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{Backends, Life};
use crate::circuit_breaker::ports::Guarded;
use crate::circuit_breaker::{CircuitBreaker, CircuitBreakers};
use crate::settings::Error;
use crate::{Expected, Settings};

/// Pause before the second attempt to connect. It doubles with each attempt, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Timeout of a single attempt.
const ATTEMPT: Duration = Duration::from_secs(60);

/// Ports whose servers are connected later.
struct Ports {
    bus: Arc<Guarded<dyn Bus>>,
    dead_letters: Arc<Guarded<dyn DeadLetters>>,
    records: Arc<Guarded<dyn Records>>,
    readings: Arc<Guarded<dyn Readings>>,
    receipts: Arc<Guarded<dyn Receipts>>,
    keys: Arc<Guarded<dyn Keys>>,
    webhooks: Arc<Guarded<dyn Webhooks>>,
    graph: Arc<Guarded<dyn Graph>>,
    index: Arc<Guarded<dyn Index>>,
}

impl Ports {
    /// Returns the ports in the form that services use, even before they are connected.
    fn to_backends(&self, embedder: &Arc<dyn Embedder>, settings: &Settings) -> anyhow::Result<Backends> {
        Ok(Backends {
            bus: self.bus.clone(),
            dead_letters: self.dead_letters.clone(),
            records: self.records.clone(),
            readings: self.readings.clone(),
            receipts: self.receipts.clone(),
            keys: self.keys.clone(),
            webhooks: self.webhooks.clone(),
            graph: self.graph.clone(),
            index: self.index.clone(),
            embedder: Arc::clone(embedder),
            language_model: super::language_model::open_language_models(settings)?,
            temporary_folder: std::env::temp_dir(),
        })
    }
}

/// A server to connect, with everything that learns of the result.
struct Server {
    name: &'static str,
    guard: Arc<CircuitBreaker>,
    expected: Expected,
    life: Life,
}

/// Creates what the servers need: streams, constraints, the collection. Idempotent.
///
/// # Errors
///
/// Wrong settings; a server that is unreachable or refuses.
pub async fn provision_servers(settings: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    let (embedder, _) = super::embedder::open_embedder(settings).await?;
    Ok(adapters::servers::distributed::provision_servers(&server_options(settings, "operator")?, &*embedder).await?)
}

/// Returns the ports at once and connects them in the background. Must be called inside a runtime.
pub(super) fn connect_in_background(
    settings: &Settings,
    life: &Life,
    embedder: Arc<dyn Embedder>,
    watched: CircuitBreakers,
) -> anyhow::Result<(Backends, CircuitBreakers)> {
    let options = server_options(settings, life.name)?;
    let uses = Uses::for_service(life.name);
    let guards = [
        CircuitBreaker::new("nats"),
        CircuitBreaker::new("neo4j"),
        CircuitBreaker::new("qdrant"),
    ];
    let [nats, neo4j, qdrant] = &guards;
    let ports = Ports {
        bus: Guarded::new(nats),
        dead_letters: Guarded::new(nats),
        records: Guarded::new(neo4j),
        readings: Guarded::new(neo4j),
        receipts: Guarded::new(neo4j),
        keys: Guarded::new(neo4j),
        webhooks: Guarded::new(neo4j),
        graph: Guarded::new(neo4j),
        index: Guarded::new(qdrant),
    };
    let backends = ports.to_backends(&embedder, settings)?;
    let server = |name: &'static str, guard: &Arc<CircuitBreaker>| Server {
        name,
        guard: Arc::clone(guard),
        expected: life.readiness.register_component(name),
        life: life.clone(),
    };
    let mut used = vec![Arc::clone(nats)];
    let records = backends.records.clone();
    let Ports {
        bus,
        dead_letters,
        records: filled,
        readings,
        receipts,
        keys,
        webhooks,
        graph,
        index,
    } = ports;
    if uses.neo4j {
        used.push(Arc::clone(neo4j));
        let connect = async move || Neo4j::connect(&options.neo4j).await;
        let fill = move |it: Neo4j| {
            filled.set_port(it.records);
            readings.set_port(it.readings);
            receipts.set_port(it.receipts);
            keys.set_port(it.keys);
            webhooks.set_port(it.webhooks);
            graph.set_port(it.graph);
        };
        tokio::spawn(server("neo4j", neo4j).connect_with_retries(connect, fill));
    }
    if uses.qdrant {
        used.push(Arc::clone(qdrant));
        let connect = async move || connect_index(&options.qdrant, &records, &*embedder).await;
        tokio::spawn(server("qdrant", qdrant).connect_with_retries(connect, move |it| index.set_port(Arc::new(it))));
    }
    let connect = async move || NatsBus::connect(&options.nats).await;
    let fill = move |it: NatsBus| {
        let it = Arc::new(it);
        bus.set_port(it.clone());
        if uses.dead_letters {
            dead_letters.set_port(it);
        }
    };
    tokio::spawn(server("nats", nats).connect_with_retries(connect, fill));
    Ok((backends, watched.with_guards(used)))
}

async fn connect_index(
    options: &adapters::servers::qdrant::Options,
    records: &Arc<dyn Records>,
    embedder: &dyn Embedder,
) -> Result<QdrantIndex, adapters::servers::qdrant::SetupError> {
    QdrantIndex::connect(options, Arc::clone(records), embedder.dimension(), embedder.model()).await
}

impl Server {
    /// Connects, with as many retries as necessary, and passes the result to `fill`.
    async fn connect_with_retries<T, E>(self, connect: impl AsyncFn() -> Result<T, E>, fill: impl FnOnce(T))
    where
        E: Classify + 'static,
    {
        let mut pause = PAUSE;
        let connected = loop {
            let why = match timeout(ATTEMPT, connect()).await {
                Ok(Ok(connected)) => break connected,
                Ok(Err(error)) => error_with_causes(&error),
                Err(_) => "no answer".to_owned(),
            };
            warn!(server = self.name, why, "cannot connect, will try again");
            self.expected.report_down(why);
            tokio::select! {
                () = self.life.shutdown.cancelled() => return,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(PAUSE_MAX);
        };
        fill(connected);
        self.guard.mark_reached();
        self.expected.set_is_up(true);
        info!(server = self.name, "connected");
        // `expected` reports the server as missing when it is dropped, so it must live as long as the process.
        self.life.shutdown.cancelled().await;
    }
}

fn server_options(settings: &Settings, service: &str) -> Result<Options, Error> {
    let mut options = Options {
        nats: settings.read_section("nats")?,
        neo4j: settings.read_section("neo4j")?,
        qdrant: settings.read_section("qdrant")?,
    };
    if options.nats.service == adapters::servers::nats::Options::default().service {
        // The permissions of a service depend on its name.
        service.clone_into(&mut options.nats.service);
    }
    Ok(options)
}

/// Returns the text of an error and its causes.
fn error_with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
