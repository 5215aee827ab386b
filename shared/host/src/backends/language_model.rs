pub(crate) mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapters::endpoint::chat::{ChatEndpoint, Options};
use adapters::recording::{Recorded, Recording};
use async_trait::async_trait;
use domain::port::{self, Chat, Completion, LanguageModel, ModelRole};
use domain::{ErrorKind, PortError};
use tracing::info;

use crate::Settings;
use crate::guard::language_model::{Endpoint, Watched};

/// The models by role, with their names; a role without a model is absent.
struct ByRole(BTreeMap<ModelRole, Named>);

struct Named {
    name: String,
    model: Arc<dyn LanguageModel>,
}

#[async_trait]
impl LanguageModel for ByRole {
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        match self.0.get(&chat.role) {
            Some(named) => named.model.complete(chat).await,
            None => {
                let detail = format!("none is set up for the role `{}` ([language_model] url)", chat.role);
                Err(PortError::new("model.complete", ErrorKind::Unavailable, detail))
            }
        }
    }

    fn name(&self, role: ModelRole) -> Option<&str> {
        self.0.get(&role).map(|it| it.name.as_str())
    }

    fn rest(&self, role: ModelRole) -> Option<Duration> {
        self.0.get(&role)?.model.rest(role)
    }
}

/// Returns the language models that the settings name, if any. No test call is made, because calls cost money; the
/// first real call shows whether an endpoint is up.
///
/// # Errors
///
/// Wrong settings; a recording that cannot be used.
pub(crate) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn LanguageModel>>> {
    let options: Options = settings.section("language_model")?;
    let recording = recording(&options)?;
    let replays = !options.replay.as_os_str().is_empty();
    // Models with the same address share one queue and its pauses.
    let mut endpoints: BTreeMap<String, Arc<Endpoint>> = BTreeMap::new();
    let mut models: BTreeMap<ModelRole, Named> = BTreeMap::new();
    for role in ModelRole::ALL {
        let own = options.of(role);
        let asked = match replays || own.url.is_empty() {
            true => None,
            false => Some(watched(&own, &mut endpoints)?),
        };
        let model: Arc<dyn LanguageModel> = match (&recording, asked) {
            (Some(recording), asked) if replays || asked.is_some() => {
                Arc::new(Recorded::new(Arc::clone(recording), &own.model, &own.parameters, asked))
            }
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
        models.insert(role, Named { name, model });
    }
    if models.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(ByRole(models))))
}

/// Returns the model of one role, with a guard that it shares with the other models at its address.
fn watched(
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
fn recording(options: &Options) -> anyhow::Result<Option<Arc<Recording>>> {
    let (record, replay) = (&options.record, &options.replay);
    let opened = match (record.as_os_str().is_empty(), replay.as_os_str().is_empty()) {
        (true, true) => return Ok(None),
        (false, true) => Recording::record(record)?,
        (true, false) => Recording::replay(replay)?,
        (false, false) => anyhow::bail!("[language_model] sets both `record` and `replay`: remove one of them"),
    };
    Ok(Some(Arc::new(opened)))
}
