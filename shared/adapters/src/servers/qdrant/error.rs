use std::fmt;
use std::time::Duration;

use domain::id::SpaceId;
use domain::{Classify, ErrorKind, PortError};
use qdrant_client::QdrantError;

/// Phrases in errors of the driver and its libraries if the server speaks another protocol: the REST port, TLS on a
/// plain port, plain text on a TLS port. Refused connections and timeouts contain none of them.
const OTHER_PROTOCOL: [&str; 4] = [
    "h2 protocol error",
    "http2 error",
    "InvalidContentType",
    "corrupt message",
];

/// Phrases in errors of the driver for a connection that the server closed before it answered.
const BROKEN_OFF: [&str; 3] = ["connection closed", "broken pipe", "connection reset"];

/// Why Qdrant cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An option cannot be used.
    #[error("options of qdrant: {detail}")]
    Options {
        /// The option and the reason.
        detail: String,
        /// The error of the driver.
        source: Option<Box<QdrantError>>,
    },
    /// The server at this address does not speak gRPC over this scheme.
    #[error("the server at {url} does not speak gRPC: {}", protocol_hint(url))]
    Protocol {
        /// Address of the server.
        url: String,
        /// The error of the driver.
        source: Box<QdrantError>,
    },
    /// The server cannot be reached or does not answer.
    #[error("qdrant at {url} is not available{}", broken_off(url, source.as_deref()))]
    Unavailable {
        /// Address of the server.
        url: String,
        /// The reason; absent after a timeout.
        source: Option<Box<QdrantError>>,
    },
    /// The server is too old: it cannot weigh terms per space.
    #[error("qdrant at {url} is version {found}, mnemic needs {needed} or newer")]
    Version {
        /// Address of the server.
        url: String,
        /// Version of the server.
        found: String,
        /// The oldest supported version.
        needed: String,
    },
    /// The server refuses the API key.
    #[error("qdrant at {url} refuses the API key")]
    Credentials {
        /// Address of the server.
        url: String,
        /// The error of the server.
        source: Box<QdrantError>,
    },
    /// The server refuses a step of the setup.
    #[error("qdrant at {url} refuses to {step}")]
    Refused {
        /// Address of the server.
        url: String,
        /// The refused step.
        step: String,
        /// The reason; absent if the answer lacks the requested object.
        source: Option<Box<QdrantError>>,
    },
    /// The collection is missing or has drifted.
    #[error(
        "qdrant at {url} does not have the collection of mnemic (run `mnemic provision`): {}",
        join_drifts(drifts)
    )]
    NotProvisioned {
        /// Address of the server.
        url: String,
        /// The missing or different objects.
        drifts: Vec<Drift>,
    },
}

impl Classify for SetupError {
    fn kind(&self) -> ErrorKind {
        match self {
            SetupError::Options { .. } => ErrorKind::Invalid,
            SetupError::Unavailable { .. } => ErrorKind::Unavailable,
            SetupError::Protocol { .. }
            | SetupError::Version { .. }
            | SetupError::Credentials { .. }
            | SetupError::Refused { .. }
            | SetupError::NotProvisioned { .. } => ErrorKind::Conflict,
        }
    }
}

/// Returns advice about the two usual mistakes.
fn protocol_hint(url: &str) -> String {
    let scheme = match url.starts_with("https:") {
        true => "`http://` if the server has no TLS",
        false => "`https://` if the server has TLS",
    };
    format!("use the gRPC port (6334 by default; 6333 is the one for REST), and {scheme}")
}

/// Returns true if the server answered, but in another protocol: the REST port, or TLS on one side only.
pub(super) fn is_other_protocol(error: &QdrantError) -> bool {
    contains_phrase(error, &OTHER_PROTOCOL)
}

/// Returns advice for a connection that the server accepted and closed before it answered. A server that is shutting
/// down does that. So does a server with another protocol, if its answer came after the driver had given up.
fn broken_off(url: &str, source: Option<&QdrantError>) -> String {
    match source.is_some_and(|error| contains_phrase(error, &BROKEN_OFF)) {
        true => format!(
            ": it closed the connection; unless it is about to stop, {}",
            protocol_hint(url)
        ),
        false => String::new(),
    }
}

/// Returns true if the error or one of its causes contains one of the phrases. The driver does not report the status of
/// a response as the source of its error.
fn contains_phrase(error: &QdrantError, phrases: &[&str]) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = if let QdrantError::ResponseError { status } = error {
        Some(status)
    } else {
        Some(error)
    };
    while let Some(it) = cause {
        let message = it.to_string();
        if phrases.iter().any(|phrase| message.contains(phrase)) {
            return true;
        }
        cause = it.source();
    }
    false
}

fn join_drifts(drifts: &[Drift]) -> String {
    let all: Vec<String> = drifts.iter().map(Drift::to_string).collect();
    all.join(", ")
}

/// The meaning of a failure, by its gRPC code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// No answer, or a temporary server error: a retry may succeed.
    Away,
    /// The server is busy and asks for a pause of this many seconds.
    Busy(u64),
    /// A limit of the server is reached.
    Full,
    /// The collection or alias does not exist.
    Missing,
    /// The object exists already.
    Exists,
    /// The key is missing, wrong, or lacks the permission.
    Refused,
    /// Stored data cannot be read.
    Damaged,
    /// The request is wrong, which is a defect of this program.
    Defect,
}

/// Returns the meaning of a failure.
pub(super) fn meaning_of_error(error: &QdrantError) -> Meaning {
    let status = match error {
        QdrantError::ResourceExhaustedError {
            retry_after_seconds, ..
        } => return Meaning::Busy(*retry_after_seconds),
        QdrantError::ResponseError { status } => status,
        QdrantError::Io(_) => return Meaning::Away,
        QdrantError::ConversionError(_) | QdrantError::InvalidUri(_) | QdrantError::NoSnapshotFound(_) => {
            return Meaning::Defect;
        }
    };
    of_code(i32::from(status.code()))
}

/// Returns the meaning of a gRPC code. The driver reports a server that it cannot connect to as "internal" (13), and a
/// timeout as "cancelled" (1).
fn of_code(code: i32) -> Meaning {
    match code {
        1 | 2 | 4 | 10 | 13 | 14 => Meaning::Away,
        5 => Meaning::Missing,
        6 => Meaning::Exists,
        7 | 16 => Meaning::Refused,
        8 => Meaning::Full,
        15 => Meaning::Damaged,
        _ => Meaning::Defect,
    }
}

/// Returns the pause before a failed call is retried, or `None` if a retry does not help.
pub(super) fn retry_pause(error: &QdrantError, own: Duration) -> Option<Duration> {
    match meaning_of_error(error) {
        Meaning::Away => Some(own),
        Meaning::Busy(seconds) => Some(Duration::from_secs(seconds)),
        Meaning::Full | Meaning::Missing | Meaning::Exists | Meaning::Refused | Meaning::Damaged | Meaning::Defect => {
            None
        }
    }
}

/// Returns the error of a port, with its operation and a kind that tells what to do.
pub(super) fn of_port(operation: &'static str, error: QdrantError) -> PortError {
    let (kind, detail) = match meaning_of_error(&error) {
        Meaning::Away => (ErrorKind::Unavailable, "qdrant cannot be reached or fails"),
        Meaning::Busy(_) => (ErrorKind::Unavailable, "qdrant is too busy"),
        Meaning::Full => (ErrorKind::Exhausted, "a limit of qdrant is reached"),
        // Not `NotFound`, which would say that the space is unknown.
        Meaning::Missing => (
            ErrorKind::Unavailable,
            "the collection is missing: run `mnemic provision`",
        ),
        Meaning::Refused => (ErrorKind::Unavailable, "qdrant refuses the API key"),
        Meaning::Damaged => (ErrorKind::Damaged, "qdrant cannot read what it stored"),
        Meaning::Exists | Meaning::Defect => (ErrorKind::Internal, "qdrant refuses the request"),
    };
    PortError::new(operation, kind, detail).caused_by(error)
}

/// Returns the error for an answer that did not come in time. It is unknown whether a write was done.
pub(super) fn timeout_error(operation: &'static str, time: Duration) -> PortError {
    let detail = format!("qdrant did not answer within {} ms", time.as_millis());
    PortError::new(operation, ErrorKind::Unavailable, detail)
}

/// Returns the error for stored data that cannot be read.
pub(super) fn damaged_error(operation: &'static str, what: &str) -> PortError {
    PortError::new(
        operation,
        ErrorKind::Damaged,
        format!("a point of qdrant has no readable `{what}`"),
    )
}

/// Returns the error for a space that does not exist.
pub(super) fn unknown_space_error(operation: &'static str, space: &SpaceId) -> PortError {
    PortError::new(operation, ErrorKind::NotFound, format!("space {space} is unknown"))
}

/// A difference between the collection on the server and that of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// It does not exist.
    Missing {
        /// The object: an alias, a collection, a vector, an index.
        name: String,
    },
    /// It exists but differs.
    Different {
        /// The object.
        name: String,
        /// Its form in this program.
        expected: String,
        /// Its form on the server.
        found: String,
    },
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::Missing { name } => write!(f, "{name} is missing"),
            Drift::Different { name, expected, found } => write!(f, "{name} is {found} instead of {expected}"),
        }
    }
}
