use std::path::Path;

use domain::id::SpaceId;
use domain::{ErrorKind, PortError};
use rusqlite::ffi::ErrorCode;

/// Why a job on the file failed. The port that ran it adds the name of the operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// SQLite returned an error.
    #[error("sqlite failed")]
    Sql(#[from] rusqlite::Error),
    /// A stored body cannot be parsed.
    #[error("a stored body cannot be read")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored body is not the one that was written.
    #[error("a stored body was changed")]
    Changed,
    /// The job itself returned an error.
    #[error("{1}")]
    Refused(ErrorKind, String),
}

/// Result of a job on the file.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn unknown_space(space: &SpaceId) -> Failure {
        Failure::Refused(ErrorKind::NotFound, format!("there is no space {space}"))
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Failure {
        Failure::Refused(ErrorKind::Invalid, detail.into())
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Failure {
        Failure::Refused(ErrorKind::Conflict, detail.into())
    }

    pub(crate) fn unreadable_body(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
        Failure::Body(source.into())
    }

    /// Returns an equal failure, for the other jobs in a group that could not be committed.
    pub(crate) fn copy_failure(&self) -> Failure {
        match self {
            Failure::Sql(rusqlite::Error::SqliteFailure(code, message)) => {
                Failure::Sql(rusqlite::Error::SqliteFailure(*code, message.clone()))
            }
            Failure::Refused(kind, detail) => Failure::Refused(*kind, detail.clone()),
            Failure::Changed => Failure::Changed,
            Failure::Sql(_) | Failure::Body(_) => Failure::Refused(ErrorKind::Unavailable, self.to_string()),
        }
    }

    /// Returns the error of a port, with the operation and the file.
    pub(crate) fn of_port(self, operation: &'static str, path: &Path) -> PortError {
        let file = path.display();
        match self {
            Failure::Refused(kind, detail) => PortError::new(operation, kind, detail),
            Failure::Changed => PortError::new(operation, ErrorKind::Damaged, changed_file_text(path)),
            Failure::Body(source) => {
                PortError::new(operation, ErrorKind::Damaged, damaged_file_text(path)).caused_by(source)
            }
            Failure::Sql(error) => {
                let kind = kind_of(&error);
                let detail = if kind == ErrorKind::Damaged {
                    damaged_file_text(path)
                } else if is_full(&error) {
                    format!("no room to write {file}")
                } else if kind == ErrorKind::Unavailable {
                    format!("{file} cannot be used for now")
                } else {
                    format!("sqlite refused an operation on {file}")
                };
                PortError::new(operation, kind, detail).caused_by(error)
            }
        }
    }
}

/// Returns the error text for a damaged file, with what an operator can do.
fn damaged_file_text(path: &Path) -> String {
    let file = path.display();
    format!(
        "{file} is damaged: run `mnemic doctor`, or restore the last copy made with `mnemic backup`: `mnemic restore FILE`"
    )
}

/// Returns the error text for a file that SQLite can read but whose content was changed.
fn changed_file_text(path: &Path) -> String {
    let file = path.display();
    format!(
        "{file} has an entry that was changed after it was written and is not read: run `mnemic doctor`, which names it, or \
         restore the last copy made with `mnemic backup`: `mnemic restore FILE`"
    )
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Returns the kind of an SQLite error.
pub(crate) fn kind_of(error: &rusqlite::Error) -> ErrorKind {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    if matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    ) {
        return ErrorKind::Damaged;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Damaged,
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OutOfMemory,
        ) => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
}
