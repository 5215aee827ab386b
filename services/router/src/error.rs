use domain::{Classify, ErrorKind, PortError};
use tokio::task::JoinError;

use crate::route::scoring::heads::WeightsError;

/// Reasons why a question could not be routed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The space does not exist.
    #[error("there is no space {0}")]
    NoSpace(String),
    /// A store failed.
    #[error("a store failed")]
    Port(#[from] PortError),
    /// The weights cannot be used.
    #[error("the weights cannot be used")]
    Weights(#[from] WeightsError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::NoSpace(_) => ErrorKind::NotFound,
            Error::Port(error) => error.kind(),
            Error::Weights(_) => ErrorKind::Internal,
        }
    }
}

/// Returns true if a store does not answer. Data that cannot be read is another kind of error.
pub(crate) fn is_unavailable(error: &impl Classify) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout)
}

/// Returns the error for a computation that was cancelled or panicked.
pub(crate) fn to_port_error(error: JoinError) -> PortError {
    PortError::new("router.compute", ErrorKind::Internal, "a computation was interrupted").caused_by(error)
}
