use std::time::Duration;

use super::SetupError;
pub use crate::servers::server_options::qdrant::Options;

/// Maximum number of points in one write; larger batches only make a call longer.
pub(super) const BATCH_POINTS_MAX: usize = 256;
/// Maximum length of a prefix, in bytes.
const PREFIX_BYTES_MAX: usize = 32;

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
    pub(super) fn build_driver(&self) -> Result<qdrant_client::Qdrant, SetupError> {
        self.check_values()?;
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

    fn check_values(&self) -> Result<(), SetupError> {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", ""));
        if rest.contains('@') {
            return Err(options_error("`url` must not contain credentials: use `api_key`"));
        }
        if !matches!(scheme, "http" | "https") || rest.is_empty() {
            return Err(options_error("`url` must be http://host:port or https://host:port"));
        }
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        if self.prefix.is_empty() || self.prefix.len() > PREFIX_BYTES_MAX || !self.prefix.bytes().all(plain) {
            return Err(options_error("`prefix` must be 1 to 32 of a-z, 0-9, '_' and '-'"));
        }
        if !self.api_key.reveal().bytes().all(|b| b.is_ascii_graphic()) {
            return Err(options_error("`api_key` has characters that cannot be sent"));
        }
        Ok(())
    }
}

fn options_error(detail: &str) -> SetupError {
    SetupError::Options {
        detail: detail.to_owned(),
        source: None,
    }
}
