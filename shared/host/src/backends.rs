//! The composition root: chooses the adapters; no other module does.

mod embedder;
pub(crate) mod language_model;
#[cfg(feature = "distributed")]
mod servers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::port::{
    Bus, DeadLetters, Embedder, Graph, Index, Keys, LanguageModel, Readings, Receipts, Records, Webhooks,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::circuit_breaker::CircuitBreakers;
use crate::{Readiness, Settings};

#[cfg(feature = "distributed")]
pub use servers::provision_servers;

/// The stores and the bus that a process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// In this process, with files in `dir`.
    #[default]
    Embedded,
    /// NATS, Qdrant and Neo4j.
    Distributed,
}

/// Settings in `[backends]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The stores and the bus.
    pub(crate) kind: Kind,
    /// Folder of the embedded stores; created if missing.
    pub(crate) dir: PathBuf,
    /// Seconds after which a message is redelivered if its consumer sends no heartbeat.
    pub(crate) ack_wait_secs: u64,
    /// Maximum number of messages in the queue, including dead letters; further records are rejected with status 429.
    pub(crate) queue_frames_max: u64,
    /// Memory limit of the search index over all spaces, in bytes.
    pub(crate) index_bytes_max: usize,
    /// Size limit of the stores' file, in bytes; 0 means that only the disk limits it.
    pub(crate) file_bytes_max: u64,
    /// Folder of a sentence encoder in ONNX form; if empty, texts are embedded with the built-in word table.
    pub(crate) encoder: PathBuf,
}

impl Default for Config {
    fn default() -> Config {
        let options = adapters::Options::default();
        Config {
            kind: Kind::Embedded,
            dir: PathBuf::from("mnemic-data"),
            ack_wait_secs: options.ack_wait.as_secs(),
            queue_frames_max: options.queue_frames_max,
            index_bytes_max: options.index_bytes_max,
            file_bytes_max: options.file_bytes_max.unwrap_or(0),
            encoder: PathBuf::new(),
        }
    }
}

/// The ports to the outside world.
#[derive(Clone)]
pub struct Backends {
    /// Durable streams and request/reply.
    pub bus: Arc<dyn Bus>,
    /// Messages that consumers gave up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// Replies of language models about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// API keys.
    pub keys: Arc<dyn Keys>,
    /// Webhooks that were created through the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations, facts, entities.
    pub graph: Arc<dyn Graph>,
    /// Search over vectors and words.
    pub index: Arc<dyn Index>,
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The language model, if the settings name one.
    pub language_model: Option<Arc<dyn LanguageModel>>,
    /// Folder for temporary files: that of the embedded stores, or else that of the system.
    pub temporary_folder: PathBuf,
}

/// Objects that a connection needs in addition to the settings.
#[derive(Clone)]
#[cfg_attr(
    not(feature = "distributed"),
    expect(dead_code, reason = "embedded stores have no name to connect under")
)]
pub(crate) struct Life {
    /// Name of the process.
    pub(crate) name: &'static str,
    /// Receives the names of servers that are not connected yet.
    pub(crate) readiness: Readiness,
    /// Ends the attempts to connect.
    pub(crate) shutdown: CancellationToken,
}

impl Life {
    pub(crate) fn new(name: &'static str) -> Life {
        Life {
            name,
            readiness: Readiness::default(),
            shutdown: CancellationToken::new(),
        }
    }
}

/// Connects the backends that the settings name.
pub(crate) async fn connect_backends(settings: &Settings, life: &Life) -> anyhow::Result<(Backends, CircuitBreakers)> {
    let config: Config = settings.read_section("backends")?;
    match config.kind {
        Kind::Embedded => open_embedded(&config.dir, settings).await,
        Kind::Distributed => connect_servers(settings, life).await,
    }
}

/// Connects distributed backends and refuses embedded ones; see [`crate::main`].
pub(crate) async fn connect_distributed(
    settings: &Settings,
    life: &Life,
) -> anyhow::Result<(Backends, CircuitBreakers)> {
    let config: Config = settings.read_section("backends")?;
    match config.kind {
        Kind::Embedded => anyhow::bail!(
            "a single service cannot use embedded backends, because their bus works only inside one process: \
             run `mnemic serve` for everything in one process, or set `kind = \"distributed\"` in [backends]"
        ),
        Kind::Distributed => connect_servers(settings, life).await,
    }
}

#[cfg(feature = "distributed")]
async fn connect_servers(settings: &Settings, life: &Life) -> anyhow::Result<(Backends, CircuitBreakers)> {
    // A process without an index does not embed, so it needs no embedder settings.
    let uses_index = adapters::servers::distributed::Uses::for_service(life.name).qdrant;
    let defaults = Settings::default();
    let (embedder, watched) = embedder::open_embedder(if uses_index { settings } else { &defaults }).await?;
    servers::connect_in_background(settings, life, embedder, watched)
}

#[cfg(not(feature = "distributed"))]
async fn connect_servers(_: &Settings, _: &Life) -> anyhow::Result<(Backends, CircuitBreakers)> {
    std::future::ready(Err(missing_feature_error())).await
}

/// Returns the error of a build without the clients of the servers.
#[cfg(not(feature = "distributed"))]
pub(crate) fn missing_feature_error() -> anyhow::Error {
    anyhow::anyhow!(
        "this build has no distributed backends (NATS, Qdrant, Neo4j): build it with `--features distributed`, or run \
         `mnemic serve` with `kind = \"embedded\"` in [backends]"
    )
}

/// Opens the embedded stores in `dir`; the folder in the settings is ignored.
pub(crate) async fn open_embedded(dir: &Path, settings: &Settings) -> anyhow::Result<(Backends, CircuitBreakers)> {
    let config: Config = settings.read_section("backends")?;
    let (embedder, guards) = embedder::open_embedder(settings).await?;
    let options = adapters::Options {
        ack_wait: Duration::from_secs(config.ack_wait_secs.max(1)),
        queue_frames_max: config.queue_frames_max,
        index_bytes_max: config.index_bytes_max,
        file_bytes_max: Some(config.file_bytes_max).filter(|it| *it > 0),
        ..adapters::Options::default()
    };
    let stores = adapters::Embedded::open_with(dir, options, embedder).await?;
    let backends = Backends {
        bus: stores.bus,
        dead_letters: stores.dead_letters,
        records: stores.records,
        readings: stores.readings,
        receipts: stores.receipts,
        keys: stores.keys,
        webhooks: stores.webhooks,
        graph: stores.graph,
        index: stores.index,
        embedder: stores.embedder,
        language_model: language_model::open_language_models(settings)?,
        temporary_folder: dir.to_owned(),
    };
    Ok((backends, guards))
}
