//! Connects bus, stores and index to their servers. A server that is unreachable at startup is retried until it
//! answers.

use std::sync::Arc;
use std::time::Duration;

use adapters::distributed::{Options, Provisioned, Uses};
use adapters::nats::NatsBus;
use adapters::neo4j::Neo4j;
use adapters::qdrant::QdrantIndex;
use domain::Classify;
use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Keys, Readings, Receipts, Records, Webhooks};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{Backends, Life};
use crate::guard::ports::Guarded;
use crate::guard::{Guard, Guards};
use crate::settings::Error;
use crate::{Settings, health::Expected};

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
    fn backends(&self, embedder: &Arc<dyn Embedder>, settings: &Settings) -> anyhow::Result<Backends> {
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
            language_model: super::language_model::open(settings)?,
        })
    }
}

/// A server to connect, with everything that learns of the result.
struct Server {
    name: &'static str,
    guard: Arc<Guard>,
    expected: Expected,
    life: Life,
}

/// Fills in the defaults of the servers' sections.
pub(crate) fn complete(settings: &mut Settings) -> Result<(), Error> {
    settings.complete::<adapters::nats::Options>("nats")?;
    settings.complete::<adapters::neo4j::Options>("neo4j")?;
    settings.complete::<adapters::qdrant::Options>("qdrant")
}

/// Creates what the servers need: streams, constraints, collections.
///
/// # Errors
///
/// Wrong settings; a server that is unreachable or refuses.
pub(crate) async fn provision(settings: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    let (embedder, _) = super::embedder::open(settings).await?;
    Ok(adapters::distributed::provision(&options(settings, "operator")?, &*embedder).await?)
}

/// Returns the ports at once and connects them in the background. Must be called inside a runtime.
pub(super) fn connect(
    settings: &Settings,
    life: &Life,
    (embedder, watched): (Arc<dyn Embedder>, Guards),
) -> anyhow::Result<(Backends, Guards)> {
    let options = options(settings, life.name)?;
    let uses = Uses::of(life.name);
    let guards = [Guard::new("nats"), Guard::new("neo4j"), Guard::new("qdrant")];
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
    let backends = ports.backends(&embedder, settings)?;
    let server = |name: &'static str, guard: &Arc<Guard>| Server {
        name,
        guard: Arc::clone(guard),
        expected: life.readiness.expect(name),
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
            filled.fill(it.records);
            readings.fill(it.readings);
            receipts.fill(it.receipts);
            keys.fill(it.keys);
            webhooks.fill(it.webhooks);
            graph.fill(it.graph);
        };
        tokio::spawn(server("neo4j", neo4j).reach(connect, fill));
    }
    if uses.qdrant {
        used.push(Arc::clone(qdrant));
        let connect = async move || connect_index(&options.qdrant, &records, &*embedder).await;
        tokio::spawn(server("qdrant", qdrant).reach(connect, move |it| index.fill(Arc::new(it))));
    }
    let connect = async move || NatsBus::connect(&options.nats).await;
    let fill = move |it: NatsBus| {
        let it = Arc::new(it);
        bus.fill(it.clone());
        if uses.dead_letters {
            dead_letters.fill(it);
        }
    };
    tokio::spawn(server("nats", nats).reach(connect, fill));
    Ok((backends, watched.and(used)))
}

async fn connect_index(
    options: &adapters::qdrant::Options,
    records: &Arc<dyn Records>,
    embedder: &dyn Embedder,
) -> Result<QdrantIndex, adapters::qdrant::SetupError> {
    QdrantIndex::connect(options, Arc::clone(records), embedder.dimension(), embedder.model()).await
}

impl Server {
    /// Connects, with as many retries as necessary, and passes the result to `fill`.
    async fn reach<T, E>(self, connect: impl AsyncFn() -> Result<T, E>, fill: impl FnOnce(T))
    where
        E: Classify + 'static,
    {
        let mut pause = PAUSE;
        let connected = loop {
            let why = match timeout(ATTEMPT, connect()).await {
                Ok(Ok(connected)) => break connected,
                Ok(Err(error)) => told(&error),
                Err(_) => "no answer".to_owned(),
            };
            warn!(server = self.name, why, "cannot connect, will try again");
            self.expected.down(why);
            tokio::select! {
                () = self.life.shutdown.cancelled() => return,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(PAUSE_MAX);
        };
        fill(connected);
        self.guard.reached();
        self.expected.set(true);
        info!(server = self.name, "connected");
        // `expected` reports the server as missing when it is dropped, so it must live as long as the process.
        self.life.shutdown.cancelled().await;
    }
}

fn options(settings: &Settings, service: &str) -> Result<Options, Error> {
    let mut options = Options {
        nats: settings.section("nats")?,
        neo4j: settings.section("neo4j")?,
        qdrant: settings.section("qdrant")?,
    };
    if options.nats.service == adapters::nats::Options::default().service {
        // The permissions of a service depend on its name.
        service.clone_into(&mut options.nats.service);
    }
    Ok(options)
}

/// Returns the text of an error and its causes.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
