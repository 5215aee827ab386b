use host::Settings;

use crate::args::Config;
use crate::{Outcome, out, serve};

/// Prints the settings in force.
pub(crate) fn show(args: &Config) -> anyhow::Result<Outcome> {
    let settings = complete(serve::settings(&args.local)?)?;
    out::say(settings.in_force()?.trim_end());
    settings.section::<gateway::Config>("gateway")?.check()?;
    Ok(Outcome::Done)
}

/// Returns the settings with the defaults of every service; an unknown key in any section is an error.
pub(crate) fn complete(mut settings: Settings) -> anyhow::Result<Settings> {
    settings.complete::<gateway::Config>("gateway")?;
    settings.complete::<writer::Config>("writer")?;
    settings.complete::<clusterer::Config>("clusterer")?;
    settings.complete::<router::Config>("router")?;
    settings.complete::<reader::Config>("reader")?;
    Ok(settings)
}
