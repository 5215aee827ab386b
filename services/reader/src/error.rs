use domain::{Classify, ErrorKind};

use crate::weights::WeightsError;

/// Errors of a request and of the settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The question is longer than the settings allow.
    #[error("question of {bytes} bytes is too long")]
    QuestionTooLong {
        /// Length of the question.
        bytes: usize,
    },
    /// The weights of a setting cannot be used.
    #[error(
        "[reader] {setting}: name a file that `mnemic-train {setting}` of this version wrote, or leave it out to use the built-in weights"
    )]
    Weights {
        /// The setting.
        setting: &'static str,
        /// The error in the weights.
        source: WeightsError,
    },
    /// The setting `precision` is not above 0 and at most 1.
    #[error("[reader] precision is {found}; it is a probability above 0 and at most 1, such as 0.85")]
    Precision {
        /// Value of the setting.
        found: f32,
    },
    /// The task that reads the evidence panicked or was cancelled.
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
