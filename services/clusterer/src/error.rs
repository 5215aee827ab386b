use domain::{Classify, ErrorKind, PortError};

/// Why a space could not be organised.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A store failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// Others organise it at the same time, and were faster again and again.
    #[error("others organise the same space")]
    Contended,
    /// The count did not come to an end; a defect.
    #[error("counting was broken off")]
    Count(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::Port(error) => error.kind(),
            Error::Contended => ErrorKind::Unavailable,
            Error::Count(_) => ErrorKind::Internal,
        }
    }
}
