use std::fmt;

use domain::{Classify, ErrorKind, PortError};
use neo4rs::{Error, Neo4jClientErrorKind, Neo4jError, Neo4jErrorKind};

/// Error codes of the server if another statement created or deleted the same node, constraint or index first. A retry
/// sees the result of that statement.
const OVERTAKEN: [&str; 7] = [
    "Neo.ClientError.Statement.EntityNotFound",
    "Neo.ClientError.Schema.ConstraintValidationFailed",
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
    "Neo.ClientError.Schema.IndexAlreadyExists",
    "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
];
/// Maximum number of retries for these errors; more would mean a defect.
const OVERTAKEN_MAX: u32 = 3;

/// Why Neo4j cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An option cannot be used.
    #[error("options of neo4j: {detail}")]
    Options {
        /// The option and the reason.
        detail: String,
        /// The error of the system or the driver.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The server cannot be reached or does not answer.
    #[error("neo4j at {url} is not available")]
    Unavailable {
        /// Address of the server.
        url: String,
        /// The reason; absent after a timeout.
        source: Option<Error>,
    },
    /// The server refuses the user or the password.
    #[error("neo4j at {url} refuses user {user}")]
    Credentials {
        /// Address of the server.
        url: String,
        /// The user.
        user: String,
        /// The error of the server.
        source: Error,
    },
    /// The server refuses a statement of the schema.
    #[error("neo4j at {url} refuses `{statement}`")]
    Refused {
        /// Address of the server.
        url: String,
        /// The statement.
        statement: String,
        /// The reason.
        source: Error,
    },
    /// The schema is missing or has drifted.
    #[error(
        "neo4j at {url} has no schema of mnemic (run `mnemic provision`): {}",
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
            SetupError::Credentials { .. } | SetupError::Refused { .. } | SetupError::NotProvisioned { .. } => {
                ErrorKind::Conflict
            }
        }
    }
}

/// Returns true if a failed statement may succeed when it is sent again at once; `attempts` is the number of retries so
/// far.
pub(super) fn is_retryable(error: &Error, attempts: u32) -> bool {
    let Error::Neo4j(error) = error else {
        return false;
    };
    error.kind() == Neo4jErrorKind::Transient || (attempts < OVERTAKEN_MAX && OVERTAKEN.contains(&error.code()))
}

/// Returns the error of a port, with its operation and a kind that tells what to do.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the driver has some thirty kinds of errors and may add more"
)]
pub(super) fn of_port(operation: &'static str, error: Error) -> PortError {
    let (kind, detail) = match &error {
        Error::Neo4j(refusal) => of_server(refusal),
        Error::AuthenticationError(_) => (ErrorKind::Unavailable, "neo4j refuses the credentials".to_owned()),
        Error::DeserializationError(_) | Error::ConversionError => {
            (ErrorKind::Damaged, "neo4j holds a value of another type".to_owned())
        }
        Error::IOError { .. }
        | Error::ConnectionError
        | Error::ConnectionTimedOut
        | Error::IncompleteBoltExchange
        | Error::RequestIgnoredError
        | Error::Ignored(_)
        | Error::ServerUnavailableError(_) => (ErrorKind::Unavailable, "neo4j cannot be reached".to_owned()),
        _ => (ErrorKind::Internal, "the communication with neo4j failed".to_owned()),
    };
    PortError::new(operation, kind, detail).caused_by(error)
}

/// Returns the error for an answer that did not come in time. It is unknown whether a write was done.
pub(super) fn timeout_error(operation: &'static str, time: std::time::Duration) -> PortError {
    let detail = format!("neo4j did not answer within {} ms", time.as_millis());
    PortError::new(operation, ErrorKind::Unavailable, detail)
}

/// Returns the error for stored data that cannot be read.
pub(super) fn damaged_error(
    operation: &'static str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> PortError {
    PortError::new(
        operation,
        ErrorKind::Damaged,
        "neo4j holds a value that mnemic cannot read",
    )
    .caused_by(error)
}

/// Returns kind and detail of a server error. The detail contains the code and not the message, which may contain
/// values.
fn of_server(error: &Neo4jError) -> (ErrorKind, String) {
    let code = error.code();
    match error.kind() {
        Neo4jErrorKind::Client(Neo4jClientErrorKind::TransactionTerminated) => {
            (ErrorKind::Timeout, format!("neo4j ended the statement: {code}"))
        }
        _ if code.contains("TransactionTimedOut") => (ErrorKind::Timeout, format!("neo4j ended the statement: {code}")),
        Neo4jErrorKind::Transient | Neo4jErrorKind::Database => (
            ErrorKind::Unavailable,
            format!("neo4j cannot execute the statement at the moment: {code}"),
        ),
        Neo4jErrorKind::Client(Neo4jClientErrorKind::Security(_) | Neo4jClientErrorKind::SessionExpired) => {
            (ErrorKind::Unavailable, format!("neo4j refuses the caller: {code}"))
        }
        Neo4jErrorKind::Client(_) | Neo4jErrorKind::Unknown => {
            (ErrorKind::Internal, format!("neo4j refuses the statement: {code}"))
        }
    }
}

fn join_drifts(drifts: &[Drift]) -> String {
    let all: Vec<String> = drifts.iter().map(Drift::to_string).collect();
    all.join(", ")
}

/// A difference between the schema of the server and that of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// It does not exist.
    Missing {
        /// Its name.
        name: String,
    },
    /// Another object has its name.
    Different {
        /// The name.
        name: String,
        /// The object that this program needs.
        expected: String,
        /// The object on the server.
        found: String,
    },
    /// It cannot be used (yet).
    NotOnline {
        /// Its name.
        name: String,
        /// Its state on the server.
        state: String,
    },
    /// Its name has our prefix, but this program does not know it: an older or newer version created it.
    Unknown {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::Missing { name } => write!(f, "{name} is missing"),
            Drift::Different { name, expected, found } => write!(f, "{name} is {found} instead of {expected}"),
            Drift::NotOnline { name, state } => write!(f, "{name} is {state}"),
            Drift::Unknown { name } => write!(f, "{name} is not known"),
        }
    }
}
