//! Calls language models for the services: counts and measures calls, retries once if a complete reply is unreadable,
//! and gives up soon after the shutdown signal.

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

/// Maximum number of calls for one reply: an unreadable reply is requested once more. A reply that was cut off is not,
/// because the next one would end at the same limit.
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
/// Reason for a reply that cannot be read.
const UNREADABLE_REPLY: &str = "its reply cannot be read";
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
    /// How long to wait for a reply after the shutdown signal.
    stopping: Duration,
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
            stopping: STOPPING,
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
                Called::Unreadable => UNREADABLE_REPLY.clone_into(&mut why),
                Called::CutOff => {
                    CUT.clone_into(&mut why);
                    break;
                }
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
                let usage = usage_of_failed_call(error.kind(), prompt_tokens);
                self.metrics
                    .count_model_call(chat.role, ModelOutcome::Failed, usage, time);
                warn!(error = &error as &dyn Error, role = %chat.role, "no reply of the language model");
                return (reason, cost(1, usage));
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
            (None, true) => (ModelOutcome::Unreadable, Called::CutOff),
            (None, false) => (ModelOutcome::Unreadable, Called::Unreadable),
        };
        self.metrics.count_model_call(chat.role, outcome, usage, time);
        (called, cost(1, usage))
    }

    /// Makes a call, but waits only a limited time after the shutdown signal. A call that ends this way is not reported
    /// as a timeout: after a few timeouts, callers give a question up, but the model may only have needed more time.
    async fn complete_or_stop(&self, chat: &Chat) -> port::Result<Completion> {
        let stopping = async {
            self.shutdown.cancelled().await;
            sleep(self.stopping).await;
        };
        // An error with a source means that the call was sent.
        let stopped = || {
            let detail = "the service is shutting down";
            PortError::new("model.complete", ErrorKind::Unavailable, detail).caused_by("no reply before the shutdown")
        };
        tokio::select! {
            outcome = self.model.complete(chat) => outcome,
            () = stopping => Err(stopped()),
        }
    }
}

/// The result of one call.
enum Called<T> {
    Read(T),
    Unreadable,
    /// Unreadable because it ended at the token limit.
    CutOff,
    Failed(String, ErrorKind),
}

/// Returns the tokens of a call without a reply. A model that took too long has read the prompt, and may charge for it;
/// what it wrote is unknown.
fn usage_of_failed_call(failure: ErrorKind, prompt_tokens: u32) -> Usage {
    match failure == ErrorKind::Timeout {
        true => Usage {
            prompt_tokens,
            completion_tokens: 0,
        },
        false => Usage::default(),
    }
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
    use std::collections::VecDeque;
    use std::sync::{Mutex, PoisonError};

    use async_trait::async_trait;

    use super::*;

    /// Replies with the given outcomes, in order. After the last one, it does not reply.
    struct ScriptedModel(Mutex<VecDeque<port::Result<Completion>>>);

    #[async_trait]
    impl LanguageModel for ScriptedModel {
        async fn complete(&self, _: &Chat) -> port::Result<Completion> {
            let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        }
    }

    fn asker_of_replies(replies: impl IntoIterator<Item = port::Result<Completion>>) -> Asker {
        Asker {
            model: Arc::new(ScriptedModel(Mutex::new(replies.into_iter().collect()))),
            metrics: Metrics::default(),
            shutdown: CancellationToken::new(),
            stopping: Duration::ZERO,
        }
    }

    fn reply(text: &str, cut: bool) -> port::Result<Completion> {
        Ok(Completion {
            text: text.to_owned(),
            calls: Vec::new(),
            cut,
            usage: Usage::default(),
        })
    }

    fn sample_chat() -> Chat {
        Chat::new(ModelRole::Answer, "Answer.", "Which fern?".to_owned())
    }

    /// Asks without a limit; only the reply "right" can be read.
    async fn ask(asker: &Asker) -> ModelResult<String> {
        let allow = ModelAllowance { calls: 9, tokens: None };
        let read = |it: &Completion| (it.text == "right").then(|| it.text.clone());
        asker.ask_model(&sample_chat(), allow, read).await
    }

    #[tokio::test]
    async fn an_unreadable_reply_is_requested_again_unless_it_was_cut_off() {
        for (cut, calls, outcome) in [(false, 2, Ok("right".to_owned())), (true, 1, Err(CUT.to_owned()))] {
            let asker = asker_of_replies([reply("wrong", cut), reply("right", false)]);
            let result = ask(&asker).await;
            assert_eq!((result.outcome, result.spent.calls), (outcome, calls));
            assert_eq!(result.failure, None);
        }
    }

    #[tokio::test]
    async fn a_call_that_takes_too_long_costs_its_prompt() {
        let prompt_tokens = estimate_prompt_tokens(&sample_chat());
        for (kind, tokens) in [(ErrorKind::Timeout, prompt_tokens), (ErrorKind::Unavailable, 0)] {
            let error = PortError::new("model.complete", kind, "no reply").caused_by("the endpoint");
            let result = ask(&asker_of_replies([Err(error)])).await;
            assert_eq!((result.failure, result.spent.calls), (Some(kind), 1));
            assert_eq!(result.spent.usage.total_tokens(), tokens, "{kind:?}");
        }
    }

    #[tokio::test]
    async fn a_call_that_a_shutdown_ends_is_no_timeout() {
        let asker = asker_of_replies([]);
        asker.shutdown.cancel();
        let result = ask(&asker).await;
        assert_eq!(result.outcome, Err("the service is shutting down".to_owned()));
        assert_eq!((result.failure, result.spent.calls), (Some(ErrorKind::Unavailable), 1));
    }

    #[test]
    fn a_call_beyond_the_tokens_left_is_refused() {
        let chat = sample_chat();
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
