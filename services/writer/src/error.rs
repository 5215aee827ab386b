use domain::{Classify, ErrorKind, PortError};

/// Reasons why a message could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A store, the bus or the embedder failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The rules ended early, which is a defect.
    #[error("writing by rule was interrupted")]
    Rules(#[from] tokio::task::JoinError),
    /// The embedder returned a number of vectors that differs from the number of texts.
    #[error("the embedder returned {vectors} vectors for {texts} texts")]
    Vectors {
        /// Number of texts sent.
        texts: usize,
        /// Number of vectors returned.
        vectors: usize,
    },
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::Port(error) => error.kind(),
            Error::Rules(_) | Error::Vectors { .. } => ErrorKind::Internal,
        }
    }
}
