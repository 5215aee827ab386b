//! Calls language models for the services: counts and measures calls, retries once if a reply is unreadable, and gives
//! up soon after the shutdown signal.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use domain::port::{self, Chat, ChatMessage, Completion, LanguageModel, ModelAllowance, ModelCost, ModelRole, Usage};
use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::metrics::ModelOutcome;
use crate::{Context, Metrics};

/// Maximum number of calls for one reply: an unreadable reply is requested once more.
const CALLS_MAX: u32 = 2;
/// How long a service waits for a reply after the shutdown signal; less than the time a process has to end.
const STOPPING: Duration = Duration::from_secs(10);
/// Minimum number of tokens that must be left for a reply.
const REPLY_MIN: u32 = 64;
/// Tokens of a message in addition to its text.
const PER_MESSAGE: u32 = 4;
/// Tokens of a picture: the number that models with published figures count for a large one. Models differ; the reply
/// reports the true number.
const PER_PICTURE: u32 = 1_500;
/// Reason for a reply that ends too early.
const CUT: &str = "its reply was cut off (`max_tokens` in its `parameters` or the tokens of the budget limit it)";
/// Remark to the model with the second call.
const UNREADABLE: &str = "The reply before this one could not be read: it has to be the JSON object alone.";

/// Calls the language models of this process.
#[derive(Clone)]
pub struct Asker {
    model: Arc<dyn LanguageModel>,
    metrics: Metrics,
    shutdown: CancellationToken,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResult<T> {
    /// The value read from the reply, or the reason why there is none, in words for the user who asked the question.
    pub outcome: Result<T, String>,
    /// Kind of the failure of the last call. Absent if that call succeeded, was not made, or had an unreadable reply.
    pub failure: Option<ErrorKind>,
    /// The cost of all calls.
    pub spent: ModelCost,
}

impl Asker {
    /// Returns an asker, or `None` if no language model is set up.
    pub fn new(ctx: &Context) -> Option<Asker> {
        Some(Asker {
            model: ctx.backends.language_model.clone()?,
            metrics: ctx.metrics.clone(),
            shutdown: ctx.shutdown.clone(),
        })
    }

    /// Returns the name of the model for a role, if there is one.
    pub fn model_name(&self, role: ModelRole) -> Option<&str> {
        self.model.name(role)
    }

    /// Returns the time for which background work should make no call in a role, because its endpoint is down or
    /// refuses every call.
    pub fn pause_before_background_calls(&self, role: ModelRole) -> Option<Duration> {
        self.model.pause_before_background_calls(role)
    }

    /// Makes at most two calls, within an allowance; a call that the allowance does not cover is not made. `read` takes
    /// the wanted value from a reply and returns `None` if the reply is unreadable.
    pub async fn ask_model<T>(
        &self,
        chat: &Chat,
        mut allow: ModelAllowance,
        read: impl Fn(&Completion) -> Option<T>,
    ) -> ModelResult<T> {
        let mut spent = ModelCost::default();
        let mut why = "the budget allows no call".to_owned();
        let mut failure = None;
        let mut chat = chat.clone();
        for _ in 0..allow.calls.min(CALLS_MAX) {
            let prompt_tokens = estimate_prompt_tokens(&chat);
            match completion_limit(allow, prompt_tokens) {
                Ok(room) => chat.completion_max = room,
                Err(refusal) => {
                    // If an earlier reply was unreadable, that is the better reason.
                    why = if spent.calls == 0 { refusal } else { why };
                    break;
                }
            }
            let (outcome, cost) = self.call_model(&chat, prompt_tokens, &read).await;
            spent.add_cost(cost);
            allow.subtract_cost(cost);
            match outcome {
                Called::Read(found) => {
                    return ModelResult {
                        outcome: Ok(found),
                        failure: None,
                        spent,
                    };
                }
                Called::Unreadable(reason) => why = reason.to_owned(),
                Called::Failed(reason, kind) => {
                    (why, failure) = (reason, Some(kind));
                    break;
                }
            }
            chat = chat.with_remark(UNREADABLE);
        }
        ModelResult {
            outcome: Err(why),
            failure,
            spent,
        }
    }

    /// Makes one call.
    async fn call_model<T>(
        &self,
        chat: &Chat,
        prompt_tokens: u32,
        read: impl Fn(&Completion) -> Option<T>,
    ) -> (Called<T>, ModelCost) {
        let begun = Instant::now();
        let replied = self.complete_or_stop(chat).await;
        let time = begun.elapsed();
        let cost = |calls: u32, usage: Usage| ModelCost {
            calls,
            usage,
            ms: time.as_secs_f32() * 1_000.0,
        };
        let completion = match replied {
            Ok(completion) => completion,
            Err(error) => {
                let reason = Called::Failed(error.detail().to_owned(), error.kind());
                // An error without a source means that no call was sent: the model is known to be unreachable, or there
                // is no time for it.
                if error.kind() == ErrorKind::Unavailable && error.source().is_none() {
                    return (reason, cost(0, Usage::default()));
                }
                self.metrics
                    .count_model_call(chat.role, ModelOutcome::Failed, Usage::default(), time);
                warn!(error = &error as &dyn Error, role = %chat.role, "no reply of the language model");
                return (reason, cost(1, Usage::default()));
            }
        };
        let usage = match completion.usage.is_none() {
            true => Usage {
                prompt_tokens,
                completion_tokens: count_tokens(&completion.text),
            },
            false => completion.usage,
        };
        let (outcome, called) = match (read(&completion), completion.cut) {
            (Some(found), _) => (ModelOutcome::Done, Called::Read(found)),
            (None, true) => (ModelOutcome::Unreadable, Called::Unreadable(CUT)),
            (None, false) => (ModelOutcome::Unreadable, Called::Unreadable("its reply cannot be read")),
        };
        self.metrics.count_model_call(chat.role, outcome, usage, time);
        (called, cost(1, usage))
    }

    /// Makes a call, but waits no longer than [`STOPPING`] after the shutdown signal.
    async fn complete_or_stop(&self, chat: &Chat) -> port::Result<Completion> {
        let stopping = async {
            self.shutdown.cancelled().await;
            sleep(STOPPING).await;
        };
        tokio::select! {
            outcome = self.model.complete(chat) => outcome,
            () = stopping => Err(PortError::new("model.complete", ErrorKind::Timeout, "the service is shutting down")),
        }
    }
}

/// The result of one call.
enum Called<T> {
    Read(T),
    Unreadable(&'static str),
    Failed(String, ErrorKind),
}

/// Returns the maximum number of tokens of the reply, if the allowance limits it. Returns a refusal if too few tokens
/// are left for the call.
fn completion_limit(allow: ModelAllowance, prompt_tokens: u32) -> Result<Option<u32>, String> {
    let Some(left) = allow.tokens else {
        return Ok(None);
    };
    let room = left.saturating_sub(prompt_tokens);
    match room >= REPLY_MIN {
        true => Ok(Some(room)),
        false => Err(format!(
            "the budget has {left} model tokens left, and the call takes about {}",
            prompt_tokens + REPLY_MIN
        )),
    }
}

/// Estimates the number of tokens that a model reads. Tokenisers differ, so a fifth is added to the o200k count.
fn estimate_prompt_tokens(chat: &Chat) -> u32 {
    let text = |it: &ChatMessage| match it {
        ChatMessage::System { text } | ChatMessage::Tool { text, .. } => count_tokens(text),
        ChatMessage::User { text, pictures } => {
            count_tokens(text) + PER_PICTURE * u32::try_from(pictures.len()).unwrap_or(u32::MAX / PER_PICTURE)
        }
        ChatMessage::Assistant { text, calls } => {
            let calls = calls
                .iter()
                .map(|it| count_tokens(&it.name) + count_tokens(&it.arguments.to_string()));
            count_tokens(text) + calls.sum::<u32>()
        }
    };
    let messages: u32 = chat.messages.iter().map(|it| text(it) + PER_MESSAGE).sum();
    let tools = chat.tools.iter().map(|it| {
        let parts = [&it.name, &it.description, &it.parameters.to_string()];
        parts.map(|part| count_tokens(part)).iter().sum::<u32>()
    });
    let total = messages + tools.sum::<u32>();
    total.saturating_add(total / 5)
}

fn count_tokens(text: &str) -> u32 {
    u32::try_from(text::count_tokens(text)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_beyond_the_tokens_left_is_refused() {
        let chat = Chat::new(ModelRole::Answer, "Answer.", "Which fern?".to_owned());
        let prompt = estimate_prompt_tokens(&chat);
        assert!((12..30).contains(&prompt), "{prompt}");
        let left = |tokens: u32| ModelAllowance {
            calls: 1,
            tokens: Some(tokens),
        };
        assert_eq!(completion_limit(left(prompt + 500), prompt), Ok(Some(500)));
        assert_eq!(
            completion_limit(ModelAllowance { calls: 1, tokens: None }, prompt),
            Ok(None)
        );
        let refusal = completion_limit(left(prompt + REPLY_MIN - 1), prompt).unwrap_err();
        assert!(refusal.contains("model tokens left"), "{refusal}");
    }
}
