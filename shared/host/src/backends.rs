//! The only place that chooses adapters.

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

use crate::guard::Guards;
use crate::{Readiness, Settings};

#[cfg(feature = "distributed")]
pub(crate) use servers::{complete, provision};

/// Which stores and bus a process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Inside this process, files in `dir`.
    #[default]
    Embedded,
    /// NATS, Qdrant and Neo4j.
    Distributed,
}

/// Settings in `[backends]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Which stores and bus.
    pub(crate) kind: Kind,
    /// Where the embedded stores keep their files; created if missing.
    pub(crate) dir: PathBuf,
    /// Seconds a message may stay with a consumer that shows no life; then another one gets it.
    pub(crate) ack_wait_secs: u64,
    /// Most messages kept in the queue, dead ones included; records beyond are refused with 429.
    pub(crate) queue_frames_max: u64,
    /// Memory of the search index over all spaces, in bytes.
    pub(crate) index_bytes_max: usize,
    /// Size the file of the stores may reach, in bytes; 0 leaves it to the disk.
    pub(crate) file_bytes_max: u64,
    /// Folder of a sentence encoder in ONNX form; empty: texts are embedded with the table that is built in.
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

/// The outside world, as ports.
#[derive(Clone)]
pub struct Backends {
    /// Durable streams and request/reply.
    pub bus: Arc<dyn Bus>,
    /// Messages given up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// What language models said about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// Keys of the API.
    pub keys: Arc<dyn Keys>,
    /// Webhooks of the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations, facts, entities.
    pub graph: Arc<dyn Graph>,
    /// Vectors and words.
    pub index: Arc<dyn Index>,
    /// Texts to vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Replies to prompts, if one is named in the settings.
    pub language_model: Option<Arc<dyn LanguageModel>>,
}

/// What connecting is given beside the settings.
#[derive(Clone)]
#[cfg_attr(
    not(feature = "distributed"),
    expect(dead_code, reason = "embedded stores have no name to connect under")
)]
pub(crate) struct Life {
    /// Name of the process.
    pub(crate) name: &'static str,
    /// Gets what is not reached yet.
    pub(crate) readiness: Readiness,
    /// Ends the attempts.
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

/// Connects whatever the settings name.
pub(crate) async fn any(settings: &Settings, life: &Life) -> anyhow::Result<(Backends, Guards)> {
    let config: Config = settings.section("backends")?;
    match config.kind {
        Kind::Embedded => embedded(&config.dir, settings).await,
        Kind::Distributed => servers(settings, life).await,
    }
}

/// Refuses embedded backends; see [`crate::main`].
pub(crate) async fn distributed(settings: &Settings, life: &Life) -> anyhow::Result<(Backends, Guards)> {
    let config: Config = settings.section("backends")?;
    match config.kind {
        Kind::Embedded => anyhow::bail!(
            "a service on its own cannot use embedded backends, whose bus lives inside one process: \
             run `mnemic serve` for everything in one process, or set `kind = \"distributed\"` in [backends]"
        ),
        Kind::Distributed => servers(settings, life).await,
    }
}

#[cfg(feature = "distributed")]
async fn servers(settings: &Settings, life: &Life) -> anyhow::Result<(Backends, Guards)> {
    // Whoever has no index neither embeds nor has to know with what.
    let uses_index = adapters::distributed::Uses::of(life.name).qdrant;
    let defaults = Settings::default();
    let embedder = embedder::open(if uses_index { settings } else { &defaults }).await?;
    servers::connect(settings, life, embedder)
}

#[cfg(not(feature = "distributed"))]
async fn servers(_: &Settings, _: &Life) -> anyhow::Result<(Backends, Guards)> {
    std::future::ready(Err(without())).await
}

/// What is said where the clients of the servers were not built in.
#[cfg(not(feature = "distributed"))]
pub(crate) fn without() -> anyhow::Error {
    anyhow::anyhow!(
        "this build has no distributed backends (NATS, Qdrant, Neo4j): build it with `--features distributed`, or run \
         `mnemic serve` with `kind = \"embedded\"` in [backends]"
    )
}

/// Opens the embedded stores of `dir`, whatever folder the settings name.
pub(crate) async fn embedded(dir: &Path, settings: &Settings) -> anyhow::Result<(Backends, Guards)> {
    let config: Config = settings.section("backends")?;
    let (embedder, guards) = embedder::open(settings).await?;
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
        language_model: language_model::open(settings)?,
    };
    Ok((backends, guards))
}
