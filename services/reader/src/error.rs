use domain::{Classify, ErrorKind};

use crate::weights::WeightsError;

/// What can go wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The question is longer than the settings allow.
    #[error("question of {bytes} bytes is too long")]
    QuestionTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The weights that a setting names cannot be used.
    #[error(
        "[reader] {setting}: name a file that `mnemic-train {setting}` of this version wrote, or leave it out for what is built in"
    )]
    Weights {
        /// The setting.
        setting: &'static str,
        /// What is wrong with them.
        source: WeightsError,
    },
    /// The reading itself broke.
    #[error("reading did not finish")]
    Unfinished(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::QuestionTooLong { .. } => ErrorKind::Invalid,
            Error::Weights { .. } | Error::Unfinished(_) => ErrorKind::Internal,
        }
    }
}
