use async_trait::async_trait;

use super::Result;

/// A vector of length 1, or all zeros.
pub type Embedding = Vec<f32>;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Returns name and version of the model. Vectors of different models never share an index.
    fn model(&self) -> &str;

    /// Returns the number of dimensions.
    fn dimension(&self) -> usize;

    /// Returns true if the model reads whole texts instead of single words. Questions are then embedded exactly as
    /// asked, and the router trusts the similarity of a turn more than the similarity of words.
    fn reads_sentences(&self) -> bool;

    /// Returns one vector per text, in order: of length 1, or all zeros for a text without a word.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the model cannot be reached; `Invalid` if it refuses these texts.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>>;

    /// Returns the vector of a question. Some models use another prefix for questions than for texts.
    ///
    /// # Errors
    ///
    /// Like [`Embedder::embed`].
    async fn embed_question(&self, question: &str) -> Result<Embedding>;
}
