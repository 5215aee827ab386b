use std::path::PathBuf;

use domain::{Classify, ErrorKind};

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be created, read or written.
    #[error("cannot use {path}")]
    Directory {
        /// The path that failed.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Another process holds the directory.
    #[error("{dir} is in use by another mnemic process")]
    Locked {
        /// The data directory.
        dir: PathBuf,
    },
    /// The database file is empty: it was truncated, or another program created it.
    #[error(
        "{path} is empty and therefore not a memory: restore a copy with `mnemic restore`, or remove the file to begin a new memory"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The database file is missing, but its write-ahead log exists.
    #[error(
        "{path} is missing, but its log {log} exists: put the file back, restore a copy with `mnemic restore`, or move the log away to begin a \
         new memory"
    )]
    LogAlone {
        /// The missing file.
        path: PathBuf,
        /// Path of the log.
        log: PathBuf,
    },
    /// The file was written by a newer Mnemic.
    #[error("{path} has schema {found}, this program supports schemas up to {known}: use a newer mnemic")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        found: u32,
        /// Newest schema that this program knows.
        known: u32,
    },
    /// The file is a database of another program.
    #[error("{path} is a database of another program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The vectors in the file are from another model.
    #[error(
        "{path} contains vectors of the model {found}, but the settings embed with {wanted}: restore the settings \
         (`encoder` in [backends], or [embeddings]), or run `mnemic doctor --repair`, which embeds all texts again"
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// Model of the stored vectors.
        found: String,
        /// Model in the settings.
        wanted: String,
    },
    /// The size limit is smaller than any database file.
    #[error("`file_bytes_max` is {bytes}: it must be at least {least}, or 0 in [backends] for no limit but the disk")]
    Bound {
        /// The limit.
        bytes: u64,
        /// The smallest possible limit.
        least: u64,
    },
    /// The file cannot be read.
    #[error(
        "{path} is damaged: run `mnemic doctor`, or restore the last copy made with `mnemic backup`: `mnemic restore FILE`"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file cannot be opened at the moment: full disk, missing permissions, or another user of it.
    #[error("cannot open {path}")]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
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
    /// This build cannot run encoders.
    #[error("this build includes no encoder: build it with `--features encoder`, or leave `encoder` in [backends] out")]
    NotBuilt,
    /// A file is missing or cannot be read.
    #[error("the encoder needs {}, which cannot be read: {reason}", path.display())]
    File {
        /// The expected path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file can be read but is not usable.
    #[error("{} cannot be used to embed texts: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        reason: String,
    },
    /// A text could not be encoded.
    #[error("the encoder failed: {0}")]
    Failed(String),
}

#[cfg(feature = "encoder")]
impl EncoderError {
    pub(crate) fn unreadable_file(path: &std::path::Path, error: &dyn std::error::Error) -> EncoderError {
        EncoderError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn unusable_file(path: &std::path::Path, reason: String) -> EncoderError {
        EncoderError::Form {
            path: path.to_owned(),
            reason,
        }
    }
}
