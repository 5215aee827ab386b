//! A language model over HTTP.

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::port::{self, Completion, LanguageModel, Prompt, Usage};
use domain::{Classify, PortError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tracing::{Instrument, Span, field, info_span};

use super::{Address, Caller, EndpointError};
use crate::Secret;

/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 1_024 * 1_024;
/// What a request holds anyway.
const OWN: [&str; 4] = ["model", "messages", "stream", "response_format"];

/// Settings in `[language_model]`: where the endpoint is, and how its model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Its address up to the version, as `http://127.0.0.1:11434/v1`; empty: no language model is asked.
    pub url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Sent as `Authorization: Bearer`; empty: nothing is sent.
    pub key: Secret,
    /// Time for one request, seconds; whoever waits for less gets less.
    pub timeout_secs: u64,
    /// Whether the endpoint is told the JSON schema of a reply; some do not take one.
    pub schema: bool,
    /// Sent with every request as they stand. What is set here takes the place of all that is there by default.
    pub parameters: BTreeMap<String, Value>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: String::new(),
            model: String::new(),
            key: Secret::default(),
            timeout_secs: 60,
            schema: true,
            parameters: [("temperature", 0), ("max_tokens", 1_024)]
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .into(),
        }
    }
}

/// Replies by asking an endpoint.
pub struct Chat {
    caller: Caller,
    options: Options,
}

/// What is of use is read leniently: endpoints differ in the rest.
#[derive(Deserialize)]
struct Answered {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

impl Message {
    /// The text, or those of its parts that are none but text.
    fn text(self) -> String {
        match self.content {
            Value::String(text) => text,
            Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
        }
    }
}

/// A count, whether it is written as 12 or as 12.0; 0 if it is none.
fn count(value: &Value) -> u32 {
    let whole = value.as_u64().or_else(|| value.as_f64().map(|it| it.max(0.0) as u64));
    whole.map_or(0, |it| u32::try_from(it).unwrap_or(u32::MAX))
}

impl Chat {
    /// Takes the options; nothing is asked yet.
    ///
    /// # Errors
    /// Options that cannot be used.
    pub fn new(options: &Options) -> Result<Chat, EndpointError> {
        let address = Address {
            section: "language_model",
            url: &options.url,
            path: "chat/completions",
            model: &options.model,
            key: &options.key,
            timeout_secs: options.timeout_secs,
        };
        if let Some(own) = OWN.into_iter().find(|it| options.parameters.contains_key(*it)) {
            return Err(address.wrong(format!("`parameters` cannot hold `{own}`, which every request has")));
        }
        Ok(Chat {
            caller: Caller::new(&address)?,
            options: options.clone(),
        })
    }

    fn request(&self, prompt: &Prompt) -> Value {
        let mut request: Map<String, Value> = self.options.parameters.clone().into_iter().collect();
        let messages = json!([
            { "role": "system", "content": prompt.system },
            { "role": "user", "content": prompt.user },
        ]);
        request.insert("model".to_owned(), json!(self.options.model));
        request.insert("messages".to_owned(), messages);
        if self.options.schema {
            let schema = json!({ "name": prompt.name, "strict": true, "schema": prompt.schema });
            let format = json!({ "type": "json_schema", "json_schema": schema });
            request.insert("response_format".to_owned(), format);
        }
        Value::Object(request)
    }

    async fn ask(&self, prompt: &Prompt) -> Result<Completion, EndpointError> {
        let answered: Answered = self.caller.ask(&self.request(prompt), ANSWER_BYTES_MAX).await?;
        let Some(choice) = answered.choices.into_iter().next() else {
            return Err(self.caller.form("it gives no choice".to_owned()));
        };
        let usage = Usage {
            prompt_tokens: count(&answered.usage["prompt_tokens"]),
            completion_tokens: count(&answered.usage["completion_tokens"]),
        };
        Span::current().record("gen_ai.usage.input_tokens", usage.prompt_tokens);
        Span::current().record("gen_ai.usage.output_tokens", usage.completion_tokens);
        Ok(Completion {
            cut: choice.finish_reason == "length",
            text: choice.message.text(),
            usage,
        })
    }
}

#[async_trait]
impl LanguageModel for Chat {
    fn name(&self) -> &str {
        &self.options.model
    }

    async fn complete(&self, prompt: &Prompt) -> port::Result<Completion> {
        let span = info_span!(
            "chat",
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = self.options.model,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
        );
        let asked = self.ask(prompt).instrument(span).await;
        asked.map_err(|error| PortError::new("model.complete", error.kind(), told(&error)).caused_by(error))
    }
}

/// Says what went wrong, and what to look at, to whoever asked and whoever runs it.
fn told(error: &EndpointError) -> String {
    let status = match error {
        EndpointError::Away { source, .. } if source.is_timeout() => return "it took too long".to_owned(),
        EndpointError::Away { .. } | EndpointError::Options { .. } => return "its endpoint does not answer".to_owned(),
        EndpointError::Form { .. } => return "its endpoint answers with something else than a reply".to_owned(),
        EndpointError::Status { status, .. } => status,
    };
    let look = match status {
        400 | 422 => ": look at `parameters` and `schema`",
        401 | 403 => ": look at `key`",
        404 => ": look at `url` and `model`",
        413 => ": the evidence is too much for it",
        429 => ": it has too much to do",
        _ => "",
    };
    format!("its endpoint answers {status}{look}")
}
