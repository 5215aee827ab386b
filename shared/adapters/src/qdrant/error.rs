use std::time::Duration;

use domain::{Classify, ErrorKind, PortError};
use qdrant_client::QdrantError;

use super::Drift;

/// What the driver and its libraries say when the other side answers in another protocol: the REST port, TLS on a plain port, plain
/// text on a TLS port. Refused connections and timeouts have none of these words.
const OTHER_PROTOCOL: [&str; 4] = [
    "h2 protocol error",
    "http2 error",
    "InvalidContentType",
    "corrupt message",
];

/// What the driver says of a connection that the other side closed before it answered.
const BROKEN_OFF: [&str; 3] = ["connection closed", "broken pipe", "connection reset"];

/// Why Qdrant cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An option cannot be used.
    #[error("options of qdrant: {detail}")]
    Options {
        /// Which one and why.
        detail: String,
        /// What the driver says.
        source: Option<Box<QdrantError>>,
    },
    /// Whatever listens there does not speak gRPC over this scheme.
    #[error("qdrant at {url} does not speak gRPC there: {}", hint(url))]
    Protocol {
        /// Where it was looked for.
        url: String,
        /// What the driver says.
        source: Box<QdrantError>,
    },
    /// The server cannot be reached or does not answer.
    #[error("qdrant at {url} is not available{}", broken_off(url, source.as_deref()))]
    Unavailable {
        /// Where it was looked for.
        url: String,
        /// Why; none if no answer came in time.
        source: Option<Box<QdrantError>>,
    },
    /// The server is too old to weigh terms a space.
    #[error("qdrant at {url} is version {found}, mnemic needs {needed} or newer")]
    Version {
        /// Where it is.
        url: String,
        /// What it says of itself.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// The server refuses the API key.
    #[error("qdrant at {url} refuses the API key")]
    Credentials {
        /// Where it is.
        url: String,
        /// What the server says.
        source: Box<QdrantError>,
    },
    /// The server refuses a step of the setup.
    #[error("qdrant at {url} refuses to {step}")]
    Refused {
        /// Where it is.
        url: String,
        /// What it refuses.
        step: String,
        /// Why; none if its answer lacks what was asked for.
        source: Option<Box<QdrantError>>,
    },
    /// The collection is missing or has drifted.
    #[error(
        "qdrant at {url} has not the collection of mnemic (run `mnemic provision`): {}",
        list(drifts)
    )]
    NotProvisioned {
        /// Where it is.
        url: String,
        /// What is missing or differs.
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

/// Says which of the two usual mistakes it may be.
fn hint(url: &str) -> String {
    let scheme = match url.starts_with("https:") {
        true => "`http://` if the server has no TLS",
        false => "`https://` if the server has TLS",
    };
    format!("use the gRPC port (6334 by default; 6333 is the one for REST), and {scheme}")
}

/// Returns true if the other side answered, but in another protocol: the REST port, or TLS on one side only.
pub(super) fn is_other_protocol(error: &QdrantError) -> bool {
    says(error, &OTHER_PROTOCOL)
}

/// Returns the hint for a connection that was accepted and closed before an answer: a server that stops does that, and so does
/// one of another protocol whose answer came after the driver had given up.
fn broken_off(url: &str, source: Option<&QdrantError>) -> String {
    match source.is_some_and(|error| says(error, &BROKEN_OFF)) {
        true => format!(": it closed the connection; unless it is about to stop, {}", hint(url)),
        false => String::new(),
    }
}

/// Returns true if the error or one of its causes contains one of the phrases. The driver's error does not name the status of
/// a response as its source.
fn says(error: &QdrantError, phrases: &[&str]) -> bool {
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

fn list(drifts: &[Drift]) -> String {
    let all: Vec<String> = drifts.iter().map(Drift::to_string).collect();
    all.join(", ")
}

/// What a failure means, by the code of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// No answer, or the server says that it is unwell: it may pass.
    Away,
    /// The server is busy and asks for a pause of so many seconds.
    Busy(u64),
    /// A bound of the server.
    Full,
    /// There is no such collection or alias.
    Missing,
    /// It is there already.
    Exists,
    /// The key is missing, wrong, or may not do this.
    Refused,
    /// Stored data cannot be read.
    Damaged,
    /// The request is wrong, so this program is.
    Defect,
}

/// Tells what a failure means.
pub(super) fn meaning(error: &QdrantError) -> Meaning {
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

/// The numbers are those of gRPC. A server that cannot be connected to is "internal" (13) to the driver, and one that
/// does not answer in time "cancelled" (1).
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

/// How long to wait before a failed call is sent again; none if that does not help.
pub(super) fn pause(error: &QdrantError, own: Duration) -> Option<Duration> {
    match meaning(error) {
        Meaning::Away => Some(own),
        Meaning::Busy(seconds) => Some(Duration::from_secs(seconds)),
        Meaning::Full | Meaning::Missing | Meaning::Exists | Meaning::Refused | Meaning::Damaged | Meaning::Defect => {
            None
        }
    }
}

/// Names the operation and what can be done about the failure.
pub(super) fn of_port(operation: &'static str, error: QdrantError) -> PortError {
    let (kind, detail) = match meaning(&error) {
        Meaning::Away => (ErrorKind::Unavailable, "qdrant cannot be reached or is unwell"),
        Meaning::Busy(_) => (ErrorKind::Unavailable, "qdrant is too busy"),
        Meaning::Full => (ErrorKind::Exhausted, "a bound of qdrant is reached"),
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

/// An answer did not come in time; whether a write was done is not known.
pub(super) fn late(operation: &'static str, time: Duration) -> PortError {
    let detail = format!("qdrant did not answer within {} ms", time.as_millis());
    PortError::new(operation, ErrorKind::Unavailable, detail)
}

/// What is stored does not read as what was written.
pub(super) fn damaged(operation: &'static str, what: &str) -> PortError {
    PortError::new(
        operation,
        ErrorKind::Damaged,
        format!("a point of qdrant has no readable `{what}`"),
    )
}
