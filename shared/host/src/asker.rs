//! Asks a language model for a service: counts and measures calls, asks once more where a reply cannot be read, and gives up
//! soon after the sign to stop.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use domain::port::{self, Chat, Completion, LanguageModel, Usage};
use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::metrics::ModelOutcome;
use crate::{Context, Metrics};

/// Calls for one reply: one that cannot be read is asked for once more.
const CALLS_MAX: u32 = 2;
/// How long a service that is to stop still waits for a reply: less than a process may take to end.
const STOPPING: Duration = Duration::from_secs(10);
/// Said to the model with the second call.
const UNREADABLE: &str = "The reply before this one could not be read: it has to be the JSON object alone.";

/// Asks the language models of this process.
#[derive(Clone)]
pub struct Asker {
    model: Arc<dyn LanguageModel>,
    metrics: Metrics,
    shutdown: CancellationToken,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<T> {
    /// What was read from the reply, or why there is nothing, in words for whoever asked the question.
    pub outcome: Result<T, String>,
    /// Calls made.
    pub calls: u32,
    /// Tokens read and written, as the model counts them.
    pub usage: Usage,
}

impl Asker {
    /// Returns what asks, if a language model is set up.
    pub fn new(ctx: &Context) -> Option<Asker> {
        Some(Asker {
            model: ctx.backends.language_model.clone()?,
            metrics: ctx.metrics.clone(),
            shutdown: ctx.shutdown.clone(),
        })
    }

    /// Asks with at most so many calls, two at the most. `read` takes from a reply what is wanted, and nothing from one that it
    /// cannot read.
    pub async fn ask<T>(&self, chat: &Chat, calls_max: u32, read: impl Fn(&Completion) -> Option<T>) -> Asked<T> {
        let (mut calls, mut usage) = (0, Usage::default());
        let mut why = "the question allows no call".to_owned();
        while calls < calls_max.min(CALLS_MAX) {
            let begun = Instant::now();
            let replied = match calls {
                0 => self.complete(chat).await,
                _ => self.complete(&chat.clone().with_remark(UNREADABLE)).await,
            };
            let completion = match replied {
                Ok(completion) => completion,
                Err(error) => {
                    why = error.detail().to_owned();
                    // Without a source nothing was asked: the model is known to be away, or there is no time for it.
                    if error.kind() != ErrorKind::Unavailable || error.source().is_some() {
                        calls += 1;
                        self.metrics
                            .model(chat.role, ModelOutcome::Failed, Usage::default(), begun.elapsed());
                        warn!(error = &error as &dyn Error, role = %chat.role, "no reply of the language model");
                    }
                    break;
                }
            };
            calls += 1;
            usage.add(completion.usage);
            let found = read(&completion);
            let outcome = match &found {
                Some(_) => ModelOutcome::Done,
                None => ModelOutcome::Unreadable,
            };
            self.metrics
                .model(chat.role, outcome, completion.usage, begun.elapsed());
            if let Some(found) = found {
                return Asked {
                    outcome: Ok(found),
                    calls,
                    usage,
                };
            }
            why = match completion.cut {
                true => "its reply was cut off (`max_tokens` in its `parameters` bounds it)".to_owned(),
                false => "its reply cannot be read".to_owned(),
            };
        }
        Asked {
            outcome: Err(why),
            calls,
            usage,
        }
    }

    /// Asks, and waits no longer than a service that is to stop may.
    async fn complete(&self, chat: &Chat) -> port::Result<Completion> {
        let stopping = async {
            self.shutdown.cancelled().await;
            sleep(STOPPING).await;
        };
        tokio::select! {
            outcome = self.model.complete(chat) => outcome,
            () = stopping => Err(PortError::new("model.complete", ErrorKind::Timeout, "the service stops")),
        }
    }
}
