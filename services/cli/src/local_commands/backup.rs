//! Maintenance of the files of the embedded stores.

use std::path::PathBuf;

use anyhow::Context;
use host::{Settings, clock};

use crate::args::{Backup, Restore};
use crate::local_commands::settings;
use crate::{Outcome, output};

/// Writes a copy of the memory.
pub(crate) fn back_up_memory(args: &Backup) -> anyhow::Result<Outcome> {
    let settings = settings::load_settings(&args.local)?;
    let dir = embedded_directory(&settings)?.context("[backends] names servers; back them up with their own tools")?;
    host::upkeep::write_backup(&dir, &args.target)?;
    let bytes = std::fs::metadata(&args.target)?.len();
    output::print_line(&format!(
        "{} written, {} KiB",
        args.target.display(),
        bytes.div_ceil(1024)
    ));
    Ok(Outcome::Done)
}

/// Replaces the memory with a copy.
pub(crate) fn restore_memory(args: &Restore) -> anyhow::Result<Outcome> {
    let settings = settings::load_settings(&args.local)?;
    let dir = embedded_directory(&settings)?.context("[backends] names servers; restore them with their own tools")?;
    let former_file = host::upkeep::restore_backup(&dir, &args.source, clock::now())?;
    output::print_line(&format!(
        "{} is verified and restored in {}",
        args.source.display(),
        dir.display()
    ));
    if let Some(former_file) = former_file {
        output::print_line(&format!("the previous memory is kept as {}", former_file.display()));
    }
    Ok(Outcome::Done)
}

/// Returns the folder of the embedded stores; `None` if the settings name servers.
pub(crate) fn embedded_directory(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    host::upkeep::embedded_directory(settings)
}
