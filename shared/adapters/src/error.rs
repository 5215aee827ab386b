use std::path::PathBuf;

use domain::{Classify, ErrorKind};

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be made, read or written.
    #[error("cannot use {path}")]
    Directory {
        /// What was tried.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Another process holds the directory.
    #[error("{dir} is in use by another mnemic process")]
    Locked {
        /// The data directory.
        dir: PathBuf,
    },
    /// The database has no bytes: it was cut off, or put there by something else.
    #[error(
        "{path} is empty, which no memory is: restore a copy with `mnemic restore`, or remove the file to begin a new memory"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The database is gone and its write-ahead log is not.
    #[error(
        "{path} is gone and {log} is not: put the file back, restore a copy with `mnemic restore`, or move the log away to begin a \
         new memory"
    )]
    LogAlone {
        /// The file that is missing.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// A newer Mnemic wrote the file.
    #[error("{path} has schema {found}, this program knows schemas up to {known}: use a newer mnemic")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        found: u32,
        /// Newest schema this program knows.
        known: u32,
    },
    /// The file is a database, but not one of Mnemic.
    #[error("{path} is a database of another program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The vectors in the file come from another model.
    #[error(
        "{path} holds vectors of the model {found}, the settings embed with {wanted}: set them as they were (`encoder` in \
         [backends], or [embeddings]), or run `mnemic doctor --repair`, which embeds everything anew"
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// Model of the stored vectors.
        found: String,
        /// Model of this program.
        wanted: String,
    },
    /// A bound that no file fits in.
    #[error("`file_bytes_max` is {bytes}: a file has at least {least} bytes; 0 in [backends] leaves it to the disk")]
    Bound {
        /// The bound.
        bytes: u64,
        /// The least it may be.
        least: u64,
    },
    /// The file cannot be read.
    #[error(
        "{path} is damaged: run `mnemic doctor`, or bring back the last copy made with `mnemic backup`: `mnemic restore FILE`"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file cannot be opened for now: full disk, rights, other users of it.
    #[error("cannot open {path}")]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Classify for OpenError {
    fn kind(&self) -> ErrorKind {
        match self {
            OpenError::Directory { .. } | OpenError::Locked { .. } | OpenError::Unavailable { .. } => {
                ErrorKind::Unavailable
            }
            OpenError::Newer { .. } | OpenError::Foreign { .. } | OpenError::OtherModel { .. } => ErrorKind::Conflict,
            OpenError::Bound { .. } => ErrorKind::Invalid,
            OpenError::Damaged { .. } | OpenError::Empty { .. } | OpenError::LogAlone { .. } => ErrorKind::Damaged,
        }
    }
}

/// Why a sentence encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// This build cannot run one.
    #[error("this build runs no encoder: build it with `--features encoder`, or leave `encoder` in [backends] out")]
    NotBuilt,
    /// A file is missing or cannot be read.
    #[error("the encoder needs {}, which cannot be read: {reason}", path.display())]
    File {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file is read, but is not what it should be.
    #[error("{} is of no use to embed texts: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A text could not be encoded.
    #[error("the encoder failed: {0}")]
    Failed(String),
}

#[cfg(feature = "encoder")]
impl EncoderError {
    pub(crate) fn file(path: &std::path::Path, error: &dyn std::error::Error) -> EncoderError {
        EncoderError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn form(path: &std::path::Path, reason: String) -> EncoderError {
        EncoderError::Form {
            path: path.to_owned(),
            reason,
        }
    }
}
