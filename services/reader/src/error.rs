use domain::{Classify, ErrorKind};

/// What can go wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The question is longer than the settings allow.
    #[error("question of {bytes} bytes is too long")]
    QuestionTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The reading itself broke.
    #[error("reading did not finish")]
    Unfinished(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::QuestionTooLong { .. } => ErrorKind::Invalid,
            Error::Unfinished(_) => ErrorKind::Internal,
        }
    }
}
