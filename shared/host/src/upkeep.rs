//! Maintenance by an operator: files of the embedded stores, servers and language models.

use std::path::PathBuf;

use adapters::OpenError;
pub use adapters::servers::Provisioned;
pub use adapters::{
    UpkeepError, check_file, create_private, forget_vectors, free_bytes, is_held, needs_migration, restore_backup,
    write_backup,
};

use crate::Settings;
pub use crate::backends::language_model::trial::{ModelTrial, TrialOutcome, try_language_models};
#[cfg(feature = "distributed")]
pub use crate::backends::provision_servers;
use crate::backends::{Config, Kind};
use crate::health;

/// Returns the number of free bytes on the disk of the embedded stores below which `/readyz` reports not ready.
///
/// # Errors
///
/// An invalid section `[admin]`.
pub fn disk_free_bytes_min(settings: &Settings) -> anyhow::Result<u64> {
    let config: health::Config = settings.read_section("admin")?;
    Ok(config.disk_free_bytes_min)
}

/// Returns the folder of the embedded stores, or `None` if the settings name servers.
///
/// # Errors
///
/// An invalid section `[backends]`.
pub fn embedded_directory(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let config: Config = settings.read_section("backends")?;
    Ok(match config.kind {
        Kind::Embedded => Some(config.dir),
        Kind::Distributed => None,
    })
}

/// Returns the model whose vectors the embedded stores hold, if `error` says that they could not be opened because of
/// these vectors.
pub fn other_model(error: &anyhow::Error) -> Option<String> {
    if let Some(OpenError::OtherModel { found, .. }) = error.downcast_ref() {
        return Some(found.clone());
    }
    None
}

/// Fails, because this build cannot create anything on servers.
///
/// # Errors
///
/// Always: the build lacks the feature `distributed`.
#[cfg(not(feature = "distributed"))]
pub async fn provision_servers(_: &Settings) -> anyhow::Result<Vec<Provisioned>> {
    std::future::ready(Err(crate::backends::missing_feature_error())).await
}
