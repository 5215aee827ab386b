//! Settings of the index on Qdrant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Secret;

/// Address, key and limits of the Qdrant server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `http://host:port` of the gRPC port, or `https://host:port` for TLS. The server's certificate is checked against
    /// the authorities of the system, or against those in the file that the environment variable `SSL_CERT_FILE` names.
    /// All `https` addresses use the same authorities, so put the public ones into that file too if others need them.
    pub url: String,
    /// API key of the server; if empty, none is sent. Sent in clear text over `http`.
    pub api_key: Secret,
    /// First part of the collections' names, 1 to 32 of `a-z`, `0-9`, `_` and `-`. Deployments with different prefixes
    /// can share a server.
    pub prefix: String,
    /// Whether to search all vectors of a space instead of its graph. Slower for spaces of more than some ten thousand
    /// points.
    pub exact: bool,
    /// Number of connections to the server, used in turn.
    pub connections: usize,
    /// Number of points in one write, 1 to 256.
    pub batch_points: usize,
    /// Timeout of connecting, in milliseconds.
    pub connect_ms: u64,
    /// Timeout of one try of a call, in milliseconds. A connection without an answer in this time is replaced.
    pub try_ms: u64,
    /// Timeout of one call with all its tries and pauses, in milliseconds.
    pub call_ms: u64,
    /// Maximum number of tries of a call. Every call may be repeated, even one that was executed but whose answer was
    /// lost.
    pub tries: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: "http://127.0.0.1:6334".to_owned(),
            api_key: Secret::default(),
            prefix: "mnemic".to_owned(),
            exact: false,
            connections: 3,
            batch_points: 128,
            connect_ms: 3_000,
            try_ms: 4_000,
            call_ms: 10_000,
            tries: 3,
        }
    }
}
