use domain::{Classify, ErrorKind, PortError};

/// Why a space could not be organised.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A store failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The count did not come to an end; a defect.
    #[error("counting was broken off")]
    Count(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::Port(error) => error.kind(),
            Error::Count(_) => ErrorKind::Internal,
        }
    }
}
