use anyhow::Context;
use host::Settings;
use reader::Reader;
use router::route::scoring::heads::Weights;

use crate::args::Config;
use crate::local_commands::settings;
use crate::local_commands::settings::sample::sample_text;
use crate::{Outcome, output};

/// Prints the settings in effect, a sample file, or the schema.
pub(crate) fn print_settings(args: &Config) -> anyhow::Result<Outcome> {
    if args.schema {
        output::print_line(&format!("{:#}", settings::file_schema()));
        return Ok(Outcome::Done);
    }
    if args.sample {
        output::print_line(sample_text().trim_end());
        return Ok(Outcome::Done);
    }
    let settings = fill_in_all_defaults(settings::load_settings(&args.local)?)?;
    output::print_line(settings.in_force()?.trim_end());
    settings.read_section::<gateway::Config>("gateway")?.check_settings()?;
    settings.read_section::<writer::Config>("writer")?.check_settings()?;
    check_weights(&settings)?;
    Ok(Outcome::Done)
}

/// Fails if the router or the reader could not start with the weights in the settings.
pub(crate) fn check_weights(settings: &Settings) -> anyhow::Result<()> {
    let router: router::Config = settings.read_section("router")?;
    if !router.weights.as_os_str().is_empty() {
        Weights::from_file(&router.weights).context(
            "[router] weights: name a file that `mnemic-train fit` of this version wrote, or leave it out to use the built-in weights",
        )?;
    }
    Reader::new(&settings.read_section("reader")?)?;
    Ok(())
}

/// Returns the settings with the defaults of every service; an unknown key in any section is an error.
pub(crate) fn fill_in_all_defaults(mut settings: Settings) -> anyhow::Result<Settings> {
    settings.fill_in_defaults::<gateway::Config>("gateway")?;
    settings.fill_in_defaults::<writer::Config>("writer")?;
    settings.fill_in_defaults::<clusterer::Config>("clusterer")?;
    settings.fill_in_defaults::<router::Config>("router")?;
    settings.fill_in_defaults::<reader::Config>("reader")?;
    Ok(settings)
}
