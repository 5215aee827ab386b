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
    /// The precision is no share.
    #[error("[reader] precision is {found}; it is a probability above 0 and at most 1, such as 0.85")]
    Precision {
        /// What is set.
        found: f32,
    },
    /// The reading itself broke.
    #[error("reading did not finish")]
    Unfinished(#[from] tokio::task::JoinError),
}

impl Classify for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Error::QuestionTooLong { .. } => ErrorKind::Invalid,
            Error::Weights { .. } | Error::Precision { .. } | Error::Unfinished(_) => ErrorKind::Internal,
        }
    }
}
