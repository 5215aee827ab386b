//! Mnemic as a whole, either way to run: all in one process, or five services over real servers.

pub mod api;
pub mod processes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Result;
use domain::port::Bus;
use host::{Context, Settings};
use tokio::task::JoinHandle;

use crate::servers::{nats, neo4j, qdrant};
use api::Api;

/// The services, as processes and as parts of one.
pub const SERVICES: [&str; 5] = ["gateway", "writer", "clusterer", "router", "reader"];

/// The three servers; gone when dropped.
pub struct Servers {
    /// The bus.
    pub nats: nats::Nats,
    /// Records and graph.
    pub neo4j: neo4j::Server,
    /// The index.
    pub qdrant: qdrant::Server,
}

impl Servers {
    /// Starts them; none, with a word why, if one is not installed and need not be.
    ///
    /// # Errors
    /// A server that does not start.
    pub async fn start() -> Result<Option<Servers>> {
        let Some(nats) = nats::Nats::start("") else {
            return Ok(None);
        };
        let Some(neo4j) = neo4j::Server::start(true, "").await? else {
            return Ok(None);
        };
        let qdrant = qdrant::Server::start("")?;
        Ok(Some(Servers { nats, neo4j, qdrant }))
    }

    /// Settings of the distributed way on these servers, under names no other test uses.
    pub fn settings(&self) -> Vec<(String, String)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("d{}", NUMBER.fetch_add(1, Ordering::SeqCst));
        let (neo4j, qdrant) = (self.neo4j.options(&name), self.qdrant.options(&name));
        [
            ("backends.kind", "distributed".to_owned()),
            ("nats.url", self.nats.url()),
            ("nats.prefix", name.clone()),
            ("nats.bytes_max", (256 << 20).to_string()),
            ("nats.dead_letters_bytes_max", (64 << 20).to_string()),
            ("nats.ack_wait_ms", "3000".to_owned()),
            ("consumer.heartbeat_secs", "1".to_owned()),
            ("neo4j.url", neo4j.url),
            ("neo4j.password", neo4j.password.reveal().to_owned()),
            ("neo4j.namespace", name.clone()),
            ("qdrant.url", qdrant.url),
            ("qdrant.prefix", name),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }
}

/// Services inside the process of the test, each with connections of its own on the distributed way.
pub struct Running {
    /// Speaks to the gateway, without a key.
    pub api: Api,
    nodes: Vec<Node>,
}

struct Node {
    service: &'static str,
    context: Context,
    work: JoinHandle<Result<()>>,
}

impl Running {
    /// Runs everything over files in a folder.
    ///
    /// # Errors
    /// Stores that cannot be opened, services that do not start.
    pub async fn standalone(dir: &Path, more: &[(String, String)]) -> Result<Running> {
        let address = free_address();
        let context = Context::embedded_with(dir, settings(more, &address)?).await?;
        let node = Node::start("mnemic", context);
        let running = Running {
            api: Api::new(&address)?,
            nodes: vec![node],
        };
        running.ready().await?;
        Ok(running)
    }

    /// Provisions the servers and runs each service with connections of its own.
    ///
    /// # Errors
    /// Servers that refuse, services that do not start.
    pub async fn distributed(servers: &Servers, more: &[(String, String)]) -> Result<Running> {
        let mut all = servers.settings();
        all.extend_from_slice(more);
        Running::over(&all).await
    }

    /// As [`Running::distributed`], with the settings of servers given.
    ///
    /// # Errors
    /// As [`Running::distributed`].
    pub async fn over(all: &[(String, String)]) -> Result<Running> {
        for it in host::upkeep::provision(&settings(all, "127.0.0.1:0")?).await? {
            anyhow::ensure!(it.drifts.is_empty(), "{it:?}");
        }
        let running = Running::begun(all).await?;
        running.ready().await?;
        Ok(running)
    }

    /// Starts each service with connections of its own, and does not wait for anything.
    ///
    /// # Errors
    /// Settings that are wrong.
    pub async fn begun(all: &[(String, String)]) -> Result<Running> {
        let address = free_address();
        let mut nodes = Vec::new();
        for service in SERVICES {
            let context = Context::connect(service, settings(all, &address)?).await?;
            nodes.push(Node::start(service, context));
        }
        let api = Api::new(&address)?;
        Ok(Running { api, nodes })
    }

    /// Waits until every service says that it is ready.
    ///
    /// # Errors
    /// What is missing after two minutes.
    pub async fn ready(&self) -> Result<()> {
        for _ in 0..2_400 {
            if self.missing().is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("not ready: {:?}", self.missing())
    }

    /// Returns the bus as the gateway has it.
    ///
    /// # Panics
    /// If everything was stopped.
    pub fn bus(&self) -> Arc<dyn Bus> {
        Arc::clone(&self.nodes[0].context.backends.bus)
    }

    /// Returns what is not up, over all services.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.nodes.iter().flat_map(|it| it.context.readiness.missing());
        missing.collect()
    }

    /// Stops one service and waits until it has ended.
    ///
    /// # Errors
    /// What the service ended with.
    pub async fn stop(&mut self, service: &str) -> Result<()> {
        while let Some(at) = self.nodes.iter().position(|it| it.service == service) {
            let node = self.nodes.remove(at);
            node.ended().await?;
        }
        Ok(())
    }

    /// Stops everything.
    ///
    /// # Errors
    /// What the first service that failed ended with.
    pub async fn end(mut self) -> Result<()> {
        for node in std::mem::take(&mut self.nodes) {
            node.ended().await?;
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.nodes.iter().for_each(|it| it.context.shutdown.cancel());
    }
}

impl Node {
    fn start(service: &'static str, context: Context) -> Node {
        let ctx = context.clone();
        let work = tokio::spawn(async move {
            match service {
                "gateway" => gateway::run(ctx).await,
                "writer" => writer::run(ctx).await,
                "clusterer" => clusterer::run(ctx).await,
                "router" => router::run(ctx).await,
                "reader" => reader::run(ctx).await,
                _ => tokio::try_join!(
                    gateway::run(ctx.clone()),
                    writer::run(ctx.clone()),
                    clusterer::run(ctx.clone()),
                    router::run(ctx.clone()),
                    reader::run(ctx),
                )
                .map(|_| ()),
            }
        });
        Node { service, context, work }
    }

    /// Ends as a process does.
    async fn ended(self) -> Result<()> {
        self.context.shutdown.cancel();
        self.work.await??;
        // A test may have taken the bus away before.
        self.context.backends.bus.flush().await.unwrap_or(());
        Ok(())
    }
}

/// Makes settings of pairs of `section.key` and value, read as the environment is.
fn settings(pairs: &[(String, String)], address: &str) -> Result<Settings> {
    let mut settings = Settings::default();
    let variables = pairs.iter().map(|(key, value)| (variable(key), value.clone()));
    settings.merge_environment(variables)?;
    settings.set("gateway.listen", address)?;
    Ok(settings)
}

/// Returns the variable of the environment that sets a key.
fn variable(key: &str) -> String {
    format!("MNEMIC_{}", key.replace('.', "__").to_uppercase())
}

/// Returns an address nobody listens on at the moment.
pub(crate) fn free_address() -> String {
    format!("127.0.0.1:{}", crate::servers::free_port())
}
