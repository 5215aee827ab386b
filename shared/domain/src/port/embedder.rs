use async_trait::async_trait;

use super::Result;

/// A vector; normalised to length 1 or all zeros.
pub type Embedding = Vec<f32>;

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Name and version of the model; vectors of different models never share an index.
    fn model(&self) -> &str;

    /// Length of the vectors.
    fn dimension(&self) -> usize;

    /// Whether a text is read as a whole: then a question is embedded as it is asked, and how near a turn is to it tells the
    /// router more than their words do.
    fn reads_sentences(&self) -> bool;

    /// Returns a vector a text, in order: of length 1, or all zeros for a text without a word.
    ///
    /// # Errors
    /// `Unavailable` if the model is away; `Invalid` if it refuses these texts.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>>;

    /// Returns the vector of a question, which some models read with other words before it than a text.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_question(&self, question: &str) -> Result<Embedding>;
}
