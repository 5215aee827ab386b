//! What an operator does with the files of the embedded stores, servers and language models.

use std::io;
use std::path::{Path, PathBuf};

use adapters::OpenError;
pub use adapters::{UpkeepError, backup, check, create_private, forget_vectors, is_behind, is_held, restore};

use crate::Settings;
pub use crate::backends::language_model::trial::{ModelTrial, TrialOutcome, try_language_models};
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

/// Returns the space that is left for this process on the disk of a folder.
///
/// # Errors
/// A folder that is not there.
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the model whose vectors the embedded stores hold, if it is because of them that they could not be opened.
pub fn other_model(error: &anyhow::Error) -> Option<String> {
    if let Some(OpenError::OtherModel { found, .. }) = error.downcast_ref() {
        return Some(found.clone());
    }
    None
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
