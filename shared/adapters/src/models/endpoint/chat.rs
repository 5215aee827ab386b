//! A language model over HTTP.

mod options;
mod text_tools;
mod wire;

use async_trait::async_trait;
use domain::port::{self, Chat, Completion, LanguageModel};
use domain::{Classify, PortError};
use tracing::{Instrument, Span, field, info_span};

use super::{Address, Caller, EndpointError};
pub use options::{Options, RoleOptions, ToolMode};
use wire::{ChatResponse, OWN};

/// Maximum size of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 1_024 * 1_024;
/// Maximum number of tool calls read from one reply.
const CALLS_MAX: usize = 16;

/// A language model that an endpoint serves.
pub struct ChatEndpoint {
    caller: Caller,
    options: Options,
}

impl ChatEndpoint {
    /// Creates the endpoint without sending anything.
    ///
    /// # Errors
    ///
    /// If the options cannot be used.
    pub fn new(options: &Options) -> Result<ChatEndpoint, EndpointError> {
        let address = Address {
            section: "language_model",
            url: &options.url,
            path: "chat/completions",
            model: &options.model,
            key: &options.key,
            timeout_secs: options.timeout_secs,
        };
        if let Some(own) = OWN.into_iter().find(|it| options.parameters.contains_key(*it)) {
            return Err(address.options_error(format!(
                "`parameters` must not contain `{own}`, which every request sets"
            )));
        }
        Ok(ChatEndpoint {
            caller: Caller::new(&address)?,
            options: options.clone(),
        })
    }

    async fn request_completion(&self, chat: &Chat) -> Result<Completion, EndpointError> {
        let request = wire::request_body(&self.options, chat);
        let answered: ChatResponse = self.caller.post_json(&request, ANSWER_BYTES_MAX).await?;
        let Some(choice) = answered.choices.first() else {
            return Err(self
                .caller
                .malformed_answer_error("the reply contains no choice".to_owned()));
        };
        let usage = answered.token_usage();
        Span::current().record("gen_ai.usage.input_tokens", usage.prompt_tokens);
        Span::current().record("gen_ai.usage.output_tokens", usage.completion_tokens);
        let reply = choice.message.text();
        let in_text = match self.options.tools {
            ToolMode::Text if !chat.tools.is_empty() => text_tools::parse_tool_calls(chat, &reply),
            ToolMode::Text | ToolMode::Native => None,
        };
        let (text, calls) = in_text.unwrap_or_else(|| (reply, choice.message.parse_tool_calls()));
        Ok(Completion {
            cut: choice.is_cut(),
            text,
            calls,
            usage,
        })
    }
}

#[async_trait]
impl LanguageModel for ChatEndpoint {
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        let span = info_span!(
            "chat",
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = self.options.model,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            role = chat.role.name(),
        );
        let outcome = self.request_completion(chat).instrument(span).await;
        outcome
            .map_err(|error| PortError::new("model.complete", error.kind(), advice_for_error(&error)).caused_by(error))
    }
}

/// Returns the problem and the next step, for users and operators.
fn advice_for_error(error: &EndpointError) -> String {
    let status = match error {
        EndpointError::Away { source, .. } if source.is_timeout() => return "it took too long".to_owned(),
        EndpointError::Away { .. } | EndpointError::Options { .. } => return "its endpoint does not answer".to_owned(),
        EndpointError::Form { .. } => return "its endpoint answers with something other than a reply".to_owned(),
        EndpointError::Status { status, .. } => status,
    };
    let look = match status {
        400 | 422 => ": check `parameters` and `schema`",
        401 | 403 => ": check `key`",
        404 => ": check `url` and `model`",
        413 => ": the prompt is too long for it",
        429 => ": it has too many requests",
        _ => "",
    };
    format!("its endpoint answers {status}{look}")
}
