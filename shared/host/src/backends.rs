//! The only place that chooses adapters.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Records};
use serde::{Deserialize, Serialize};

/// Which stores and bus a process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Inside this process, files in `dir`.
    #[default]
    Embedded,
    /// NATS, Qdrant and Neo4j.
    Distributed,
}

/// Settings in `[backends]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Which stores and bus.
    pub(crate) kind: Kind,
    /// Where the embedded stores keep their files; created if missing.
    pub(crate) dir: PathBuf,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            kind: Kind::Embedded,
            dir: PathBuf::from("mnemic-data"),
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
    /// Units, relations, facts, entities.
    pub graph: Arc<dyn Graph>,
    /// Vectors and words.
    pub index: Arc<dyn Index>,
    /// Texts to vectors.
    pub embedder: Arc<dyn Embedder>,
}

/// Connects whatever the settings name.
pub(crate) async fn any(config: Config) -> anyhow::Result<Backends> {
    match config.kind {
        Kind::Embedded => embedded(&config.dir).await,
        Kind::Distributed => distributed(config).await,
    }
}

/// Refuses embedded backends; see [`crate::main`].
pub(crate) async fn distributed(config: Config) -> anyhow::Result<Backends> {
    match config.kind {
        Kind::Embedded => anyhow::bail!(
            "a service on its own cannot use embedded backends, whose bus lives inside one process: \
             run `mnemic serve` for everything in one process, or set `kind = \"distributed\"` in [backends]"
        ),
        Kind::Distributed => anyhow::bail!(
            "this build has no distributed backends (NATS, Qdrant, Neo4j): run `mnemic serve` with `kind = \"embedded\"` in [backends]"
        ),
    }
}

/// Opens the embedded stores of `dir`.
pub(crate) async fn embedded(dir: &Path) -> anyhow::Result<Backends> {
    let stores = adapters::Embedded::open(dir, adapters::Options::default()).await?;
    Ok(Backends {
        bus: stores.bus,
        dead_letters: stores.dead_letters,
        records: stores.records,
        graph: stores.graph,
        index: stores.index,
        embedder: stores.embedder,
    })
}
