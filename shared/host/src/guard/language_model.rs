//! A language model over the network, each call watched.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use adapters::endpoint::EndpointError;
use async_trait::async_trait;
use domain::port::{Completion, LanguageModel, Prompt, Result};
use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, timeout};

use super::{Guard, left};

const OPERATION: &str = "model.complete";
/// Share of the time there is that it gets, and what is spared of it in any case: whoever asks it has all else done, and needs
/// little time to say that it failed.
const SHARE: f64 = 0.9;
const SPARED: Duration = Duration::from_millis(150);
/// With less time than this it is not asked.
const LEAST: Duration = Duration::from_millis(350);
/// A call that was given less time than this says nothing about the model by being late: they take seconds.
const FAIR: Duration = Duration::from_secs(10);

/// A language model whose server is now and then away. Nobody waits for it: whoever would ask goes on without.
pub(crate) struct Watched {
    guard: Arc<Guard>,
    model: Arc<dyn LanguageModel>,
}

impl Watched {
    pub(crate) fn new(model: Arc<dyn LanguageModel>) -> Watched {
        let guard = Guard::new("its endpoint");
        // The first call finds out.
        guard.reached();
        Watched { guard, model }
    }

    /// Learns whether the model is there: whatever it answers but an error of its own, it is.
    fn learn(&self, begun: Instant, outcome: &Result<Completion>) {
        let Err(error) = outcome else {
            return self.guard.answered();
        };
        match error.source().and_then(|it| it.downcast_ref()) {
            Some(EndpointError::Status { status, .. }) if *status < 500 => self.guard.answered(),
            Some(EndpointError::Form { .. }) => self.guard.answered(),
            _ if error.kind() == ErrorKind::Timeout && begun.elapsed() < FAIR => {}
            _ => self.guard.failed(error),
        }
    }
}

#[async_trait]
impl LanguageModel for Watched {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Completion> {
        let time = left().map(|it| it.mul_f64(SHARE).min(it.saturating_sub(SPARED)));
        if time.is_some_and(|it| it < LEAST) {
            let detail = "there is too little time left for it";
            return Err(PortError::new(OPERATION, ErrorKind::Unavailable, detail));
        }
        self.guard.admit(OPERATION)?;
        let begun = Instant::now();
        let work = self.model.complete(prompt);
        let late = |_| Err(PortError::new(OPERATION, ErrorKind::Timeout, "it took too long"));
        let outcome = match time {
            Some(time) => timeout(time, work).await.unwrap_or_else(late),
            None => work.await,
        };
        self.learn(begun, &outcome);
        outcome
    }
}
