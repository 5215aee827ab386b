//! The embedder that is always there: the static word-piece table of `text`.

use async_trait::async_trait;
use domain::port::{Embedder, Embedding, Result};
use domain::{ErrorKind, PortError};
use text::Table;
use tokio::task::spawn_blocking;

/// Name of the table and of the way texts are read with it; another table or reading is another model.
pub(crate) const MODEL: &str = "static-en-128/1";
/// Bytes of text that are embedded in well under a millisecond, on the caller's thread.
const SHORT: usize = 32 * 1_024;

/// Embeds with the built-in table.
pub(crate) struct TableEmbedder {
    table: &'static Table,
}

impl TableEmbedder {
    /// Reads the table on first use; blocks for about a millisecond then.
    pub(crate) fn new() -> TableEmbedder {
        TableEmbedder {
            table: Table::builtin(),
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

    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>> {
        let table = self.table;
        if texts.iter().map(String::len).sum::<usize>() <= SHORT {
            return Ok(texts.iter().map(|it| table.embed(it)).collect());
        }
        let texts = texts.to_vec();
        let work = spawn_blocking(move || texts.iter().map(|it| table.embed(it)).collect());
        work.await.map_err(|error| {
            PortError::new("embedder.embed", ErrorKind::Internal, "embedding panicked").caused_by(error)
        })
    }
}
