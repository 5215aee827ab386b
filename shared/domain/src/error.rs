//! Error kinds shared by every crate. One kind decides both the HTTP status and whether a message is redelivered.

use std::error::Error as StdError;
use std::fmt;

/// The kind of a failure, in terms that a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input is wrong; the same input fails again.
    Invalid,
    /// The requested object does not exist, or the caller may not see it.
    NotFound,
    /// The input contradicts the stored data.
    Conflict,
    /// A limit was reached; a later attempt may succeed.
    Exhausted,
    /// The deadline passed.
    Timeout,
    /// A store, the bus or a model is unreachable or full; a retry may succeed.
    Unavailable,
    /// Stored data cannot be read; a retry does not help.
    Damaged,
    /// A defect of Mnemic.
    Internal,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [ErrorKind; 8] = [
        ErrorKind::Invalid,
        ErrorKind::NotFound,
        ErrorKind::Conflict,
        ErrorKind::Exhausted,
        ErrorKind::Timeout,
        ErrorKind::Unavailable,
        ErrorKind::Damaged,
        ErrorKind::Internal,
    ];

    /// Returns true if a retry may succeed. A message whose handling failed with such an error is redelivered.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            ErrorKind::Exhausted | ErrorKind::Timeout | ErrorKind::Unavailable => true,
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Damaged
            | ErrorKind::Internal => false,
        }
    }

    /// Returns the name in headers and labels, for example `not_found`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "invalid",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Exhausted => "exhausted",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Damaged => "damaged",
            ErrorKind::Internal => "internal",
        }
    }
}

/// An error that has a kind.
pub trait Classify: StdError {
    /// Returns the kind of this error, which tells the caller how to react.
    fn kind(&self) -> ErrorKind;
}

/// A failure of a port, with the operation that failed. `Display` does not print the source.
#[derive(Debug)]
pub struct PortError {
    operation: &'static str,
    kind: ErrorKind,
    detail: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl PortError {
    /// Makes an error without a cause. Operators see `detail`; callers see it too for `Invalid`, `NotFound` and
    /// `Conflict`.
    pub fn new(operation: &'static str, kind: ErrorKind, detail: impl Into<String>) -> PortError {
        PortError {
            operation,
            kind,
            detail: detail.into(),
            source: None,
        }
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> PortError {
        self.source = Some(source.into());
        self
    }

    /// Returns the operation that failed, as `port.method`.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Returns the description of the failure, without the operation.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.detail)
    }
}

impl StdError for PortError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|it| &**it as &(dyn StdError + 'static))
    }
}

impl Classify for PortError {
    fn kind(&self) -> ErrorKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ErrorKind;

    #[test]
    fn every_kind_has_a_unique_name_and_temporary_kinds_may_pass() {
        let names: BTreeSet<&str> = ErrorKind::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
        let passing = ErrorKind::ALL.iter().filter(|it| it.is_retryable()).map(|it| it.name());
        let passing: Vec<&str> = passing.collect();
        assert_eq!(passing, ["exhausted", "timeout", "unavailable"]);
    }
}
