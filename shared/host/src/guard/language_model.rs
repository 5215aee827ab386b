//! A language model over the network, each call watched.

use std::sync::Arc;

use async_trait::async_trait;
use domain::port::{Completion, LanguageModel, Prompt, Result};
use tokio::time::Instant;

use super::embedder::wants_rest;
use super::{Guard, in_time};

const OPERATION: &str = "model.complete";
/// Share of the time there is that it gets: whoever asks it has all else done, and needs little time to say that it failed.
const SHARE: f64 = 0.9;

/// A language model whose server is now and then away. Nobody waits for it: whoever would ask goes on without.
pub(crate) struct Watched {
    guard: Arc<Guard>,
    model: Arc<dyn LanguageModel>,
}

impl Watched {
    pub(crate) fn new(model: Arc<dyn LanguageModel>) -> Watched {
        let guard = Guard::new("the language model");
        // The first call finds out.
        guard.reached();
        Watched { guard, model }
    }
}

#[async_trait]
impl LanguageModel for Watched {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Completion> {
        self.guard.admit(OPERATION)?;
        let begun = Instant::now();
        let outcome = in_time(OPERATION, SHARE, self.model.complete(prompt)).await;
        match &outcome {
            Err(error) if wants_rest(error) => self.guard.spare(error),
            _ => self.guard.learn(begun, &outcome),
        }
        outcome
    }
}
