use std::sync::Arc;

use adapters::endpoint::chat::{Chat, Options};
use domain::port::LanguageModel;
use tracing::info;

use crate::Settings;
use crate::guard::language_model::Watched;

/// Returns the language model that the settings name, if any. Whether it is there shows with the first question to it: asking
/// costs.
///
/// # Errors
/// Settings that are wrong.
pub(crate) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn LanguageModel>>> {
    let options: Options = settings.section("language_model")?;
    if options.url.is_empty() {
        return Ok(None);
    }
    let chat = Chat::new(&options)?;
    info!(
        model = options.model,
        "asks a language model where a question allows calls"
    );
    Ok(Some(Arc::new(Watched::new(Arc::new(chat)))))
}
