//! An embedder over the network; each call is watched by a guard.
//!
//! An endpoint may fail on one text permanently, and a message that waits for an unreachable endpoint uses up no
//! attempts. So the endpoint counts as unreachable only if it does not embed a harmless text either. A fault of the
//! texts is attributed to their message, which becomes a dead letter in time, while other messages go on.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use adapters::models::endpoint::EndpointError;
use async_trait::async_trait;
use domain::port::{Embedder, Embedding, Result};
use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, timeout};

use super::{CircuitBreaker, in_time};

/// Name of the server in the guard.
const SERVER: &str = "embeddings";
/// A text that every model can embed.
const HARMLESS: &str = "a";
/// Timeout for embedding the harmless text.
const PROBE: Duration = Duration::from_secs(5);

/// An embedder whose server may be unreachable at times.
pub(crate) struct Watched {
    guard: Arc<CircuitBreaker>,
    embedder: Arc<dyn Embedder>,
}

impl Watched {
    /// Wraps an embedder that was just connected.
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Watched {
        let guard = CircuitBreaker::new(SERVER);
        guard.mark_reached();
        Watched { guard, embedder }
    }

    /// Returns the guard of the server.
    pub(crate) fn guard(&self) -> Arc<CircuitBreaker> {
        Arc::clone(&self.guard)
    }

    async fn watch_embedding_call<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.guard.admit_call(operation)?;
        if self.guard.is_away() {
            // The one admitted call first probes with a harmless text, because its own texts may be what broke the
            // server.
            self.guard.watch_call(operation, self.probe_endpoint(operation)).await?;
        }
        let begun = Instant::now();
        let outcome = in_time(operation, work).await;
        match &outcome {
            Err(error) if wants_rest(error) => self.guard.pause_calls(error),
            Err(error) if error.kind() == ErrorKind::Unavailable && self.probe_endpoint(operation).await.is_ok() => {
                self.guard.mark_answered();
            }
            _ => self.guard.update_state(begun, &outcome),
        }
        outcome
    }

    async fn probe_endpoint(&self, operation: &'static str) -> Result<()> {
        let text = [HARMLESS.to_owned()];
        let late = |_| Err(PortError::new(operation, ErrorKind::Timeout, "the endpoint is slow"));
        let probe = async { self.embedder.embed(&text).await.map(drop) };
        in_time(operation, async { timeout(PROBE, probe).await.unwrap_or_else(late) }).await
    }
}

/// Returns true if the endpoint is overloaded. That is temporary, and not a fault of the texts.
fn wants_rest(error: &PortError) -> bool {
    let status = error.source().and_then(|it| it.downcast_ref());
    matches!(status, Some(EndpointError::Status { status: 429, .. }))
}

#[async_trait]
impl Embedder for Watched {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    fn reads_sentences(&self) -> bool {
        self.embedder.reads_sentences()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>> {
        self.watch_embedding_call("embedder.embed", self.embedder.embed(texts))
            .await
    }

    async fn embed_question(&self, question: &str) -> Result<Embedding> {
        self.watch_embedding_call("embedder.embed_question", self.embedder.embed_question(question))
            .await
    }
}
