use anyhow::Context;
use host::Settings;
use reader::Reader;
use router::heads::Weights;

use crate::args::Config;
use crate::settings::sample::sample;
use crate::{Outcome, out, serve, settings};

/// Prints the settings in effect, a sample file, or the schema.
pub(crate) fn show(args: &Config) -> anyhow::Result<Outcome> {
    if args.schema {
        out::say(&format!("{:#}", settings::schema()));
        return Ok(Outcome::Done);
    }
    if args.sample {
        out::say(sample().trim_end());
        return Ok(Outcome::Done);
    }
    let settings = complete(serve::settings(&args.local)?)?;
    out::say(settings.in_force()?.trim_end());
    settings.section::<gateway::Config>("gateway")?.check()?;
    check_weights(&settings)?;
    Ok(Outcome::Done)
}

/// Fails if the router or the reader could not start with the weights in the settings.
pub(crate) fn check_weights(settings: &Settings) -> anyhow::Result<()> {
    let router: router::Config = settings.section("router")?;
    if !router.weights.as_os_str().is_empty() {
        Weights::load(&router.weights).context(
            "[router] weights: name a file that `mnemic-train fit` of this version wrote, or leave it out for what is built in",
        )?;
    }
    Reader::new(&settings.section("reader")?)?;
    Ok(())
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
