//! The built-in embedder, which uses the static word-piece table of `text`; and code that all embedders share.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use domain::port::{self, Embedder, Embedding};
use domain::{ErrorKind, PortError};
use text::EmbeddingTable;
use tokio::task::spawn_blocking;

use crate::EncoderError;

/// Name of the table and of the algorithm that reads texts with it. A change of either makes a different model.
pub(crate) const MODEL: &str = "static-en-128/1";
/// Texts of up to this many bytes are embedded on the caller's thread, in well under a millisecond.
const SHORT: usize = 32 * 1_024;

/// Returns the sentence encoder in the folder `encoder`, or the built-in table if `encoder` is empty. Blocks while a
/// model is read.
///
/// # Errors
///
/// An unusable encoder, or a build that cannot run encoders.
pub fn open_embedder(encoder: &Path) -> Result<Arc<dyn Embedder>, EncoderError> {
    if encoder.as_os_str().is_empty() {
        return Ok(Arc::new(TableEmbedder::new()));
    }
    #[cfg(feature = "encoder")]
    return Ok(Arc::new(crate::models::encoder::Encoder::open(encoder)?));
    #[cfg(not(feature = "encoder"))]
    Err(EncoderError::NotBuilt)
}

/// Embeds with the built-in table.
pub(crate) struct TableEmbedder {
    table: &'static EmbeddingTable,
}

impl TableEmbedder {
    /// Reads the table on first use, which blocks for about a millisecond.
    pub(crate) fn new() -> TableEmbedder {
        TableEmbedder {
            table: EmbeddingTable::builtin(),
        }
    }
}

#[async_trait]
impl Embedder for TableEmbedder {
    fn model(&self) -> &str {
        MODEL
    }

    fn dimension(&self) -> usize {
        self.table.dimension()
    }

    fn reads_sentences(&self) -> bool {
        false
    }

    async fn embed(&self, texts: &[String]) -> port::Result<Vec<Embedding>> {
        let table = self.table;
        if texts.iter().map(String::len).sum::<usize>() <= SHORT {
            return Ok(texts.iter().map(|it| table.embed_text(it)).collect());
        }
        let texts = texts.to_vec();
        let work = spawn_blocking(move || texts.iter().map(|it| table.embed_text(it)).collect());
        work.await.map_err(|error| {
            PortError::new("embedder.embed", ErrorKind::Internal, "embedding panicked").caused_by(error)
        })
    }

    async fn embed_question(&self, question: &str) -> port::Result<Embedding> {
        Ok(self.table.embed_text(question))
    }
}
