//! The endpoint that requests of callers are passed on to: a language model that a service stands in front of.

pub use adapters::Secret;
pub use adapters::endpoint::EndpointError;
use adapters::endpoint::chat::Options;
pub use adapters::endpoint::relay::{Relay, Relayed, Target};

use crate::Settings;

/// Opens the endpoint. Without a `url` of its own it is that of `[language_model]`, with the key set there unless the target has
/// one; a `url` of its own never gets the key of `[language_model]`.
///
/// # Errors
/// Settings that cannot be used; no `url` anywhere.
pub fn open(settings: &Settings, mut target: Target) -> anyhow::Result<Relay> {
    if target.url.is_empty() {
        let model: Options = settings.section("language_model")?;
        anyhow::ensure!(
            !model.url.is_empty(),
            "[{}] has no endpoint: set its `url`, or `url` in [language_model], to an address like http://127.0.0.1:11434/v1",
            target.section
        );
        target.url = model.url;
        if target.key.is_empty() {
            target.key = model.key;
        }
    }
    Ok(Relay::new(&target)?)
}
