use domain::{Classify, ErrorKind, PortError};

/// Reasons why a space could not be organised.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A store failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// Other processes organise the same space and were faster on each attempt.
    #[error("another clusterer organises the same space")]
    Contended,
    /// A part of the state could not be read back from its temporary file. The space is computed again.
    #[error("a temporary file could not be read")]
    Spilled,
    /// The computation ended early, which is a defect.
    #[error("a computation was interrupted")]
    Count(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::Port(error) => error.kind(),
            Error::Contended | Error::Spilled => ErrorKind::Unavailable,
            Error::Count(_) => ErrorKind::Internal,
        }
    }
}
