//! An embedder over the network, each call watched.

use std::sync::Arc;

use async_trait::async_trait;
use domain::port::{Embedder, Embedding, Result};

use super::Guard;

/// What the guard calls it.
const SERVER: &str = "embeddings";

/// An embedder whose server is now and then away.
pub(crate) struct Watched {
    guard: Arc<Guard>,
    embedder: Arc<dyn Embedder>,
}

impl Watched {
    /// Watches an embedder that was just reached.
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Watched {
        let guard = Guard::new(SERVER);
        guard.reached();
        Watched { guard, embedder }
    }

    /// Returns what says whether the server is away.
    pub(crate) fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.guard)
    }
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
        const OPERATION: &str = "embedder.embed";
        self.guard.admit(OPERATION)?;
        self.guard.watch(OPERATION, self.embedder.embed(texts)).await
    }

    async fn embed_question(&self, question: &str) -> Result<Embedding> {
        const OPERATION: &str = "embedder.embed_question";
        self.guard.admit(OPERATION)?;
        self.guard
            .watch(OPERATION, self.embedder.embed_question(question))
            .await
    }
}
