//! Maintenance of the files of the embedded stores.

use std::path::PathBuf;

use anyhow::Context;
use host::{Settings, clock};

use crate::args::{Backup, Restore};
use crate::{Outcome, out, serve};

/// Writes a copy of the memory.
pub(crate) fn backup(args: &Backup) -> anyhow::Result<Outcome> {
    let settings = serve::settings(&args.local)?;
    let dir = directory(&settings)?.context("[backends] names servers; back them up with their own tools")?;
    host::upkeep::backup(&dir, &args.target)?;
    let bytes = std::fs::metadata(&args.target)?.len();
    out::say(&format!(
        "{} written, {} KiB",
        args.target.display(),
        bytes.div_ceil(1024)
    ));
    Ok(Outcome::Done)
}

/// Replaces the memory with a copy.
pub(crate) fn restore(args: &Restore) -> anyhow::Result<Outcome> {
    let settings = serve::settings(&args.local)?;
    let dir = directory(&settings)?.context("[backends] names servers; restore them with their own tools")?;
    let kept = host::upkeep::restore(&dir, &args.source, clock::now())?;
    out::say(&format!(
        "{} is verified and restored in {}",
        args.source.display(),
        dir.display()
    ));
    if let Some(kept) = kept {
        out::say(&format!("the memory that was there is kept as {}", kept.display()));
    }
    Ok(Outcome::Done)
}

/// Returns the folder of the embedded stores; `None` if the settings name servers.
pub(crate) fn directory(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    host::upkeep::directory(settings)
}
