//! Settings of records and graph on Neo4j.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Secret;

/// Address, credentials and limits of the Neo4j server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `bolt://host:port`, or `bolt+s://host:port` for TLS.
    pub url: String,
    /// User of the server.
    pub user: String,
    /// Password of the user.
    pub password: Secret,
    /// Database of the server; empty for the server's default.
    pub database: String,
    /// First part of every key, 1 to 32 of `a-z`, `0-9`, `_` and `-`. Deployments with different namespaces can share a
    /// server.
    pub namespace: String,
    /// Certificate authorities (PEM) for the server's certificate; if absent, those of the system. Needs `bolt+s`.
    pub ca_file: Option<PathBuf>,
    /// Client certificate (PEM). Needs `bolt+s` and `client_key_file`.
    pub client_certificate_file: Option<PathBuf>,
    /// Private key (PEM) of the client certificate.
    pub client_key_file: Option<PathBuf>,
    /// Maximum number of connections to the server.
    pub connections_max: usize,
    /// Timeout of connecting, in milliseconds.
    pub connect_ms: u64,
    /// Timeout of one call with all its tries and pauses, in milliseconds.
    pub call_ms: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: "bolt://127.0.0.1:7687".to_owned(),
            user: "neo4j".to_owned(),
            password: Secret::default(),
            database: String::new(),
            namespace: "mnemic".to_owned(),
            ca_file: None,
            client_certificate_file: None,
            client_key_file: None,
            connections_max: 16,
            connect_ms: 15_000,
            call_ms: 10_000,
        }
    }
}
