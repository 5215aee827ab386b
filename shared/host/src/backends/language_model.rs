pub(crate) mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use adapters::models::recording::{Recorded, Recording};
use async_trait::async_trait;
use domain::port::{self, Chat, Completion, LanguageModel, ModelRole};
use domain::{ErrorKind, PortError};
use tracing::info;

use crate::Settings;
use crate::circuit_breaker::language_model::{Endpoint, Watched};

/// The models by role, with their names; a role without a model is absent.
struct ByRole(BTreeMap<ModelRole, NamedModel>);

struct NamedModel {
    name: String,
    model: Arc<dyn LanguageModel>,
}

#[async_trait]
impl LanguageModel for ByRole {
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        match self.0.get(&chat.role) {
            Some(role_model) => role_model.model.complete(chat).await,
            None => {
                let detail = format!(
                    "no language model is set up for the role `{}`; set `url` in [language_model]",
                    chat.role
                );
                Err(PortError::new("model.complete", ErrorKind::Unavailable, detail))
            }
        }
    }

    fn name(&self, role: ModelRole) -> Option<&str> {
        self.0.get(&role).map(|it| it.name.as_str())
    }

    fn pause_before_background_calls(&self, role: ModelRole) -> Option<Duration> {
        self.0.get(&role)?.model.pause_before_background_calls(role)
    }
}

/// Returns the language models that the settings name, if any. No test call is made, because calls cost money; the
/// first real call shows whether an endpoint is up.
///
/// # Errors
///
/// Wrong settings; a recording that cannot be used.
pub(crate) fn open_language_models(settings: &Settings) -> anyhow::Result<Option<Arc<dyn LanguageModel>>> {
    let options: Options = settings.read_section("language_model")?;
    let recording = open_recording(&options)?;
    let replays = !options.replay.as_os_str().is_empty();
    // Models with the same address share one queue and its pauses.
    let mut endpoints: BTreeMap<String, Arc<Endpoint>> = BTreeMap::new();
    let mut models: BTreeMap<ModelRole, NamedModel> = BTreeMap::new();
    for role in ModelRole::ALL {
        let own = options.for_role(role);
        let endpoint = match replays || own.url.is_empty() {
            true => None,
            false => Some(open_watched_model(&own, &mut endpoints)?),
        };
        let model: Arc<dyn LanguageModel> = match (&recording, endpoint) {
            (Some(recording), endpoint) if replays || endpoint.is_some() => Arc::new(Recorded::new(
                Arc::clone(recording),
                &own.model,
                &own.parameters,
                endpoint,
            )),
            (_, Some(model)) => model,
            (_, None) => continue,
        };
        info!(
            model = own.model,
            %role,
            replays,
            "asks a language model where a question allows calls"
        );
        let name = own.model.clone();
        models.insert(role, NamedModel { name, model });
    }
    if models.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(ByRole(models))))
}

/// Returns the model of one role, with a guard that it shares with the other models at its address.
fn open_watched_model(
    options: &Options,
    endpoints: &mut BTreeMap<String, Arc<Endpoint>>,
) -> anyhow::Result<Arc<dyn LanguageModel>> {
    let endpoint = endpoints
        .entry(options.url.clone())
        .or_insert_with(|| Arc::new(Endpoint::new(options.in_flight_max)));
    let chat = Arc::new(ChatEndpoint::new(options)?);
    Ok(Arc::new(Watched::new(Arc::clone(endpoint), chat)))
}

/// Returns the recording that the settings name, if any.
fn open_recording(options: &Options) -> anyhow::Result<Option<Arc<Recording>>> {
    let (record, replay) = (&options.record, &options.replay);
    let opened = match (record.as_os_str().is_empty(), replay.as_os_str().is_empty()) {
        (true, true) => return Ok(None),
        (false, true) => Recording::open_for_recording(record)?,
        (true, false) => Recording::open_for_replay(replay)?,
        (false, false) => anyhow::bail!("[language_model] sets both `record` and `replay`: remove one of them"),
    };
    Ok(Some(Arc::new(opened)))
}
