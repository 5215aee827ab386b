use domain::{Classify, ErrorKind, PortError};

/// Why a message could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A store, the bus or the embedder failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The rules did not come to an end; a defect.
    #[error("writing by rule was broken off")]
    Rules(#[from] tokio::task::JoinError),
    /// The embedder answered with another number of vectors than texts.
    #[error("{vectors} vectors came back for {texts} texts")]
    Vectors {
        /// How many texts were sent.
        texts: usize,
        /// How many vectors came back.
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
