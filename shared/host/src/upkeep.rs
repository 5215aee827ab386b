//! What an operator does with the files of the embedded stores.

use std::path::PathBuf;

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
