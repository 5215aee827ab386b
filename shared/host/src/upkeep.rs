//! What an operator does with the files of the embedded stores.

use std::path::{Path, PathBuf};

pub use adapters::{UpkeepError, backup, check};

use crate::Settings;
use crate::backends::{Config, Kind};

/// Returns the folder of the embedded stores; none if the settings name servers.
///
/// # Errors
/// A section `[backends]` that is not understood.
pub fn directory(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let config: Config = settings.section("backends")?;
    Ok(match config.kind {
        Kind::Embedded => Some(config.dir),
        Kind::Distributed => None,
    })
}

/// Takes the vectors out of the embedded stores of `dir` if another model made them than the settings name, and returns
/// which; everything is to be embedded again then.
///
/// # Errors
/// Settings in `[backends]` that are wrong; the file cannot be opened, or is in use.
pub async fn forget_other_vectors(dir: &Path, settings: &Settings) -> anyhow::Result<Option<String>> {
    let embedder = crate::backends::embedder(&settings.section("backends")?).await?;
    let dir = dir.to_owned();
    let forget = move || adapters::forget_other_vectors(&dir, embedder.model());
    Ok(tokio::task::spawn_blocking(forget).await??)
}

/// What one server has after [`provision`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioned {
    /// The server: `nats`, `neo4j` or `qdrant`.
    pub server: &'static str,
    /// What is there now.
    pub has: String,
    /// What is there but otherwise than this program wants it.
    pub drifts: Vec<String>,
}

/// Makes what the servers have to have: streams, constraints, the collection. To run it again changes nothing.
///
/// # Errors
/// Settings that are wrong, a server that is away or refuses; a build without the feature `distributed`.
#[cfg(feature = "distributed")]
pub async fn provision(settings: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    let servers = crate::backends::provision(settings).await?;
    let shown = |it: adapters::distributed::Provisioned| Provisioned {
        server: it.server,
        has: it.has,
        drifts: it.drifts,
    };
    Ok(servers.into_iter().map(shown).collect())
}

/// Makes what the servers have to have; not in this build.
///
/// # Errors
/// Always: the build has not the feature `distributed`.
#[cfg(not(feature = "distributed"))]
pub async fn provision(_: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    std::future::ready(Err(crate::backends::without())).await
}
