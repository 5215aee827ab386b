use std::collections::BTreeMap;
use std::sync::Arc;

use adapters::endpoint::chat::{ChatEndpoint, Options};
use async_trait::async_trait;
use domain::port::{self, Chat, Completion, LanguageModel, ModelRole};
use domain::{ErrorKind, PortError};
use tracing::info;

use crate::Settings;
use crate::guard::language_model::{Endpoint, Watched};

/// The models of all roles that have one.
struct ByRole(BTreeMap<ModelRole, Arc<dyn LanguageModel>>);

#[async_trait]
impl LanguageModel for ByRole {
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        match self.0.get(&chat.role) {
            Some(model) => model.complete(chat).await,
            None => {
                let detail = format!("none is set up for the role `{}` ([language_model] url)", chat.role);
                Err(PortError::new("model.complete", ErrorKind::Unavailable, detail))
            }
        }
    }
}

/// Returns the language models that the settings name, if any. Whether one is there shows with the first question to it: asking
/// costs.
///
/// # Errors
/// Settings that are wrong.
pub(crate) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn LanguageModel>>> {
    let options: Options = settings.section("language_model")?;
    // Models behind one address share its turns and its pauses.
    let mut endpoints: BTreeMap<String, Arc<Endpoint>> = BTreeMap::new();
    let mut models: BTreeMap<ModelRole, Arc<dyn LanguageModel>> = BTreeMap::new();
    for role in ModelRole::ALL {
        let own = options.of(role);
        if own.url.is_empty() {
            continue;
        }
        let model = Arc::new(ChatEndpoint::new(&own)?);
        info!(
            model = own.model,
            %role,
            "asks a language model where a question allows calls"
        );
        let endpoint = endpoints
            .entry(own.url)
            .or_insert_with(|| Arc::new(Endpoint::new(options.in_flight_max)));
        models.insert(role, Arc::new(Watched::new(Arc::clone(endpoint), model)));
    }
    if models.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(ByRole(models))))
}
