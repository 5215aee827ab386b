use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::SetupError;
use crate::Secret;

/// Maximum number of points in one write; larger batches only make a call longer.
pub(super) const BATCH_POINTS_MAX: usize = 256;
/// Maximum length of a prefix, in bytes.
const PREFIX_BYTES_MAX: usize = 32;

/// The server, the credentials, and the limits of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `http://host:port` of the gRPC port, or `https://host:port` for TLS. The server's certificate is checked against
    /// the authorities of the system; a private authority is added with the environment variable `SSL_CERT_FILE`.
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

impl Options {
    /// Returns the timeout of one call.
    pub(super) fn call_time(&self) -> Duration {
        Duration::from_millis(self.call_ms.max(1))
    }

    /// Returns a driver with these options.
    ///
    /// # Errors
    ///
    /// `Options` if one of them cannot be used.
    pub(super) fn driver(&self) -> Result<qdrant_client::Qdrant, SetupError> {
        self.check()?;
        let mut config = qdrant_client::Qdrant::from_url(&self.url)
            // The check would block this thread and print to the standard output.
            .skip_compatibility_check()
            .timeout(Duration::from_millis(self.try_ms.max(1)))
            .connect_timeout(Duration::from_millis(self.connect_ms.max(1)));
        config.set_pool_size(self.connections.max(1));
        if !self.api_key.is_empty() {
            config.set_api_key(self.api_key.reveal());
        }
        config.build().map_err(|error| SetupError::Options {
            detail: "the driver refuses the options".to_owned(),
            source: Some(Box::new(error)),
        })
    }

    fn check(&self) -> Result<(), SetupError> {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", ""));
        if rest.contains('@') {
            return Err(wrong("`url` has no place for credentials: use `api_key`"));
        }
        if !matches!(scheme, "http" | "https") || rest.is_empty() {
            return Err(wrong("`url` is not http://host:port or https://host:port"));
        }
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        if self.prefix.is_empty() || self.prefix.len() > PREFIX_BYTES_MAX || !self.prefix.bytes().all(plain) {
            return Err(wrong("`prefix` is not 1 to 32 of a-z, 0-9, '_' and '-'"));
        }
        if !self.api_key.reveal().bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("`api_key` has characters that cannot be sent"));
        }
        Ok(())
    }
}

fn wrong(detail: &str) -> SetupError {
    SetupError::Options {
        detail: detail.to_owned(),
        source: None,
    }
}
