//! The endpoint of a language model to which a service forwards the requests of its callers.

pub use adapters::Secret;
pub use adapters::models::endpoint::EndpointError;
use adapters::models::endpoint::chat::Options;
pub use adapters::models::endpoint::relay::{Relay, Relayed, Target};

use crate::Settings;

/// Opens the endpoint. If the target has no `url`, that of `[language_model]` is used, with the key set there unless
/// the target has a key. A target with its own `url` never gets the key of `[language_model]`.
///
/// # Errors
///
/// Unusable settings; no `url` anywhere.
pub fn open_relay(settings: &Settings, mut target: Target) -> anyhow::Result<Relay> {
    if target.url.is_empty() {
        let model: Options = settings.read_section("language_model")?;
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
