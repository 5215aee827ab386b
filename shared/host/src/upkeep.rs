//! Maintenance by an operator: files of the embedded stores, servers and language models.

use std::io;
use std::path::{Path, PathBuf};

use adapters::OpenError;
pub use adapters::{UpkeepError, backup, check, create_private, forget_vectors, is_behind, is_held, restore};

use crate::Settings;
pub use crate::backends::language_model::trial::{ModelTrial, TrialOutcome, try_language_models};
use crate::backends::{Config, Kind};

/// Returns the folder of the embedded stores, or `None` if the settings name servers.
///
/// # Errors
///
/// An invalid section `[backends]`.
pub fn directory(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let config: Config = settings.section("backends")?;
    Ok(match config.kind {
        Kind::Embedded => Some(config.dir),
        Kind::Distributed => None,
    })
}

/// Returns the disk space that is left for this process in the file system of a folder, in bytes.
///
/// # Errors
///
/// A folder that does not exist.
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the model whose vectors the embedded stores hold, if `error` says that they could not be opened because of
/// these vectors.
pub fn other_model(error: &anyhow::Error) -> Option<String> {
    if let Some(OpenError::OtherModel { found, .. }) = error.downcast_ref() {
        return Some(found.clone());
    }
    None
}

/// The state of one server after [`provision`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioned {
    /// The server: `nats`, `neo4j` or `qdrant`.
    pub server: &'static str,
    /// A description of the objects that exist now.
    pub has: String,
    /// Objects that exist but differ from what this program needs.
    pub drifts: Vec<String>,
}

/// Creates what the servers need: streams, constraints, the collection. Idempotent.
///
/// # Errors
///
/// Wrong settings; a server that is unreachable or refuses; a build without the feature `distributed`.
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

/// Fails, because this build cannot create anything on servers.
///
/// # Errors
///
/// Always: the build lacks the feature `distributed`.
#[cfg(not(feature = "distributed"))]
pub async fn provision(_: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    std::future::ready(Err(crate::backends::without())).await
}
