//! Runs Mnemic as a whole in either mode: all in one process, or five services over real servers.

pub mod api;
pub mod processes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Result;
use domain::port::Bus;
use fixtures::{WAIT_MAX, look_within, wait_for};
use host::{Context, Settings};
use tokio::task::JoinHandle;

use crate::servers::{nats, neo4j, qdrant};
use api::Api;

/// Names of the services.
pub const SERVICES: [&str; 5] = ["gateway", "writer", "clusterer", "router", "reader"];

/// The three servers; stopped when dropped.
pub struct Servers {
    /// Server of the bus.
    pub nats: nats::Nats,
    /// Server of records and graph.
    pub neo4j: neo4j::Server,
    /// Server of the index.
    pub qdrant: qdrant::Server,
}

impl Servers {
    /// Starts the servers. Returns `None`, with a note on stderr, if one is neither installed nor required.
    ///
    /// # Errors
    /// If a server does not start.
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

    /// Returns the settings of the distributed mode on these servers, with names that no other test uses.
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

/// Services inside the test process. In distributed mode, each has its own connections.
pub struct Running {
    /// Client of the gateway, without a key.
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
    /// If a store cannot be opened or a service does not start.
    pub async fn standalone(dir: &Path, more: &[(String, String)]) -> Result<Running> {
        let address = free_address();
        let context = Context::embedded_with(dir, settings(more, &address)?).await?;
        let node = Node::start("mnemic", context);
        let running = Running {
            api: Api::new(&address)?,
            nodes: vec![node],
        };
        running.wait_until_ready().await?;
        Ok(running)
    }

    /// Does the same as [`Running::standalone`] in a folder that another run used. A statement that was running when
    /// that run ended may hold the folder for a moment.
    pub async fn standalone_again(dir: &Path, more: &[(String, String)]) -> Running {
        wait_for("the folder is free", async || Running::standalone(dir, more).await).await
    }

    /// Provisions the servers and runs each service with its own connections.
    ///
    /// # Errors
    /// If a server refuses or a service does not start.
    pub async fn distributed(servers: &Servers, more: &[(String, String)]) -> Result<Running> {
        let mut all = servers.settings();
        all.extend_from_slice(more);
        Running::start_with_servers(&all).await
    }

    /// Does the same as [`Running::distributed`] with the given settings of servers.
    ///
    /// # Errors
    /// Those of [`Running::distributed`].
    pub async fn start_with_servers(all: &[(String, String)]) -> Result<Running> {
        for it in host::upkeep::provision_servers(&settings(all, "127.0.0.1:0")?).await? {
            anyhow::ensure!(it.drifts.is_empty(), "{it:?}");
        }
        let running = Running::start_services(all).await?;
        running.wait_until_ready().await?;
        Ok(running)
    }

    /// Starts each service with its own connections, without waiting for readiness.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub async fn start_services(all: &[(String, String)]) -> Result<Running> {
        let address = free_address();
        let mut nodes = Vec::new();
        for service in SERVICES {
            let context = Context::connect_for_service(service, settings(all, &address)?).await?;
            nodes.push(Node::start(service, context));
        }
        let api = Api::new(&address)?;
        Ok(Running { api, nodes })
    }

    /// Waits until every service reports that it is ready.
    ///
    /// # Errors
    /// If a service is not ready after two minutes; the error names the missing parts.
    pub async fn wait_until_ready(&self) -> Result<()> {
        let look = async || match self.missing() {
            missing if missing.is_empty() => Ok(()),
            missing => Err(missing),
        };
        let outcome = look_within(WAIT_MAX, look).await;
        outcome.map_err(|missing| anyhow::anyhow!("not ready: {missing:?}"))
    }

    /// Returns the bus of the gateway.
    ///
    /// # Panics
    /// If everything was stopped.
    pub fn bus(&self) -> Arc<dyn Bus> {
        Arc::clone(&self.nodes[0].context.backends.bus)
    }

    /// Returns the parts that are not ready, over all services.
    pub fn missing(&self) -> Vec<String> {
        let missing = self
            .nodes
            .iter()
            .flat_map(|it| it.context.readiness.missing_components());
        missing.collect()
    }

    /// Stops one service and waits until it has ended.
    ///
    /// # Errors
    /// If the service ended with an error.
    pub async fn stop(&mut self, service: &str) -> Result<()> {
        while let Some(at) = self.nodes.iter().position(|it| it.service == service) {
            let node = self.nodes.remove(at);
            node.shut_down().await?;
        }
        Ok(())
    }

    /// Stops everything.
    ///
    /// # Errors
    /// If a service ended with an error; the first one is returned.
    pub async fn end(mut self) -> Result<()> {
        for node in std::mem::take(&mut self.nodes) {
            node.shut_down().await?;
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

    /// Ends the service in the way a process ends.
    async fn shut_down(self) -> Result<()> {
        self.context.shutdown.cancel();
        self.work.await??;
        // The test may have stopped the bus already.
        self.context.backends.bus.flush().await.unwrap_or(());
        Ok(())
    }
}

/// Returns the settings from pairs of `section.key` and value, which are read like environment variables.
fn settings(pairs: &[(String, String)], address: &str) -> Result<Settings> {
    let mut settings = Settings::default();
    let variables = pairs
        .iter()
        .map(|(key, value)| (environment_variable(key), value.clone()));
    settings.merge_environment(variables)?;
    settings.set_key("gateway.listen", address)?;
    Ok(settings)
}

/// Returns the environment variable that sets a key.
fn environment_variable(key: &str) -> String {
    format!("MNEMIC_{}", key.replace('.', "__").to_uppercase())
}

/// Returns an address on which no program listens at the moment.
pub(crate) fn free_address() -> String {
    format!("127.0.0.1:{}", crate::servers::free_port())
}
