//! Settings of the index on Qdrant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Secret;

/// Where the server is, who calls it, and the bounds of the calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `http://host:port` of the gRPC port, or `https://host:port` for TLS. The server's certificate is checked against
    /// those of the system; a private authority is added to them with the environment variable `SSL_CERT_FILE`.
    pub url: String,
    /// Key of the server, empty for none. Sent in clear over `http`.
    pub api_key: Secret,
    /// First part of the collections' names, 1 to 32 of `a-z`, `0-9`, `_` and `-`: deployments with different ones share
    /// a server.
    pub prefix: String,
    /// Searches all vectors of a space instead of its graph. Slower for spaces of more than some ten thousand points.
    pub exact: bool,
    /// Connections to the server, used in turn.
    pub connections: usize,
    /// Points a write, 1 to 256.
    pub batch_points: usize,
    /// Time to connect, milliseconds.
    pub connect_ms: u64,
    /// Time for one try of a call, milliseconds. A connection that gave no answer in this time is made anew.
    pub try_ms: u64,
    /// Time for one call with all its tries and pauses, milliseconds.
    pub call_ms: u64,
    /// Tries of a call. Every call may be repeated, also one that was done without the answer arriving.
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
