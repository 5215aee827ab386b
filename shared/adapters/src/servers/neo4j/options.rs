use std::path::Path;
use std::time::Duration;

use super::SetupError;
pub use crate::servers::server_options::neo4j::Options;

/// Maximum length of a namespace, in bytes.
const NAMESPACE_BYTES_MAX: usize = 32;

/// Timeout for checking a pooled connection before it is reused; a connection that fails is replaced.
const CHECK_TIME: Duration = Duration::from_secs(2);

impl Options {
    /// Returns the timeout of connecting.
    pub(super) fn connect_time(&self) -> Duration {
        Duration::from_millis(self.connect_ms.max(1))
    }

    /// Returns the timeout of one call.
    pub(super) fn call_time(&self) -> Duration {
        Duration::from_millis(self.call_ms.max(1))
    }

    /// Returns the options of the driver.
    ///
    /// # Errors
    ///
    /// `Options` if one of them cannot be used.
    pub(super) fn driver_config(&self) -> Result<neo4rs::Config, SetupError> {
        let encrypted = self.check_url()?;
        self.check_namespace()?;
        let mut builder = neo4rs::ConfigBuilder::default()
            .uri(&self.url)
            .user(&self.user)
            .password(self.password.reveal())
            .max_connections(self.connections_max.max(1))
            .fetch_size(4_096)
            // The driver applies this timeout to every read, including the wait for the first row. The calls themselves
            // end earlier.
            .connection_timeout(self.call_time().max(self.connect_time()) + Duration::from_secs(1))
            // In this driver, `max_lifetime` is the timeout for getting a connection and `idle_timeout` is that for
            // checking a pooled one.
            .max_lifetime(self.call_time())
            .idle_timeout(CHECK_TIME.min(self.connect_time()));
        if !self.database.is_empty() {
            builder = builder.db(self.database.as_str());
        }
        let files = (&self.ca_file, &self.client_certificate_file, &self.client_key_file);
        builder = match files {
            (None, None, None) => builder,
            _ if !encrypted => {
                return Err(options_error(
                    "TLS files are given, but `url` does not start with bolt+s://",
                ));
            }
            (Some(ca), None, None) => {
                check_pem(ca, "CERTIFICATE")?;
                builder.with_client_certificate(ca)
            }
            (ca, Some(certificate), Some(key)) => {
                ca.iter().try_for_each(|ca| check_pem(ca, "CERTIFICATE"))?;
                check_pem(certificate, "CERTIFICATE")?;
                check_pem(key, "PRIVATE KEY")?;
                builder.with_mutual_tls_validation(ca.as_ref(), certificate, key)
            }
            _ => {
                return Err(options_error(
                    "give both `client_certificate_file` and `client_key_file`, or neither",
                ));
            }
        };
        builder
            .build()
            .map_err(|error| options_error_from("the driver refuses the options", error))
    }

    /// Checks the URL. Returns true if the connection is encrypted.
    fn check_url(&self) -> Result<bool, SetupError> {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", ""));
        if rest.contains('@') {
            return Err(options_error(
                "`url` must not contain credentials: use `user` and `password`",
            ));
        }
        match scheme {
            "bolt" if !rest.is_empty() => Ok(false),
            "bolt+s" if !rest.is_empty() => Ok(true),
            _ => Err(options_error("`url` must be bolt://host:port or bolt+s://host:port")),
        }
    }

    fn check_namespace(&self) -> Result<(), SetupError> {
        let allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'_' | b'-');
        let name = self.namespace.as_bytes();
        if name.is_empty() || name.len() > NAMESPACE_BYTES_MAX || !name.iter().all(|it| allowed(*it)) {
            return Err(options_error("`namespace` must be 1 to 32 of a-z, 0-9, '_' and '-'"));
        }
        Ok(())
    }
}

fn options_error(detail: impl Into<String>) -> SetupError {
    SetupError::Options {
        detail: detail.into(),
        source: None,
    }
}

fn options_error_from(
    detail: impl Into<String>,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> SetupError {
    SetupError::Options {
        detail: detail.into(),
        source: Some(error.into()),
    }
}

/// Returns an error if a file does not contain the expected PEM section. The driver itself would ignore such a file, or
/// panic.
fn check_pem(path: &Path, what: &str) -> Result<(), SetupError> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| options_error_from(format!("{shown} cannot be read"), error))?;
    if text
        .lines()
        .any(|line| line.starts_with("-----BEGIN ") && line.ends_with(&format!("{what}-----")))
    {
        return Ok(());
    }
    Err(options_error(format!("{shown} holds no {what} in PEM")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver_error_after(change: impl FnOnce(&mut Options)) -> String {
        let mut options = Options::default();
        change(&mut options);
        options.driver_config().unwrap_err().to_string()
    }

    #[test]
    fn unusable_options_are_rejected() {
        assert!(Options::default().driver_config().is_ok());
        for url in [
            "",
            "127.0.0.1:7687",
            "bolt://",
            "neo4j://a:7687",
            "bolt+ssc://a:7687",
            "http://a",
        ] {
            assert!(
                driver_error_after(|it| it.url = url.to_owned()).contains("bolt://host:port"),
                "{url}"
            );
        }
        assert!(driver_error_after(|it| it.url = "bolt://me:secret@a:7687".to_owned()).contains("credentials"));
        for namespace in ["", "A", "a/b", "ä", &"x".repeat(33)] {
            assert!(
                driver_error_after(|it| it.namespace = namespace.to_owned()).contains("namespace"),
                "{namespace}"
            );
        }
        assert!(driver_error_after(|it| it.ca_file = Some("/none".into())).contains("bolt+s"));
        let missing = |it: &mut Options| {
            it.url = "bolt+s://a:7687".to_owned();
            it.ca_file = Some("/none".into());
        };
        assert!(driver_error_after(missing).contains("/none cannot be read"));
    }

    #[test]
    fn a_key_file_without_a_key_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("client.pem");
        std::fs::write(&path, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").unwrap();
        let both = |it: &mut Options| {
            it.url = "bolt+s://a:7687".to_owned();
            it.client_certificate_file = Some(path.clone());
            it.client_key_file = Some(path.clone());
        };
        assert!(driver_error_after(both).contains("no PRIVATE KEY"));
    }
}
