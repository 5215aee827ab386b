use std::path::PathBuf;
use std::time::Duration;

use async_nats::ConnectOptions;
use domain::port::Result;
use domain::{ErrorKind, PortError};

use crate::servers::nats::wire::names;
pub use crate::servers::server_options::nats::{Credentials, Options, Tls, Topic};

/// Longest pause between two attempts to reconnect.
const RECONNECT_MAX: Duration = Duration::from_millis(500);

impl Credentials {
    fn kind(&self) -> &'static str {
        if !self.creds_file.as_os_str().is_empty() {
            "creds"
        } else if !self.nkey_file.as_os_str().is_empty() {
            "nkey"
        } else if !self.user.is_empty() {
            "user"
        } else if !self.token.is_empty() {
            "token"
        } else {
            "none"
        }
    }
}

impl Options {
    /// Returns the timeout of one answer.
    pub(super) fn call_timeout(&self) -> Duration {
        Duration::from_millis(self.call_timeout_ms.max(1))
    }

    /// Returns the total time for the attempts of one publish.
    pub(super) fn publish_timeout(&self) -> Duration {
        Duration::from_millis(self.publish_timeout_ms.max(1))
    }

    /// Returns the time for which a delivery may stay unsettled.
    pub(super) fn ack_wait(&self) -> Duration {
        Duration::from_millis(self.ack_wait_ms.max(1))
    }

    /// Returns the prefix of a service's inboxes. It is different for each service, so that permissions can prevent a
    /// service from reading the replies to another.
    pub(super) fn inbox_prefix(&self) -> String {
        format!("_INBOX_{}", self.service)
    }

    /// Returns the options of the client. Checks the parts of names and reads the credential files.
    pub(super) fn connect_options(&self) -> Result<ConnectOptions> {
        for (key, value) in [("prefix", &self.prefix), ("service", &self.service)] {
            if !names::is_plain(value) {
                return Err(options_error(format!(
                    "`{key}` must be 1 to 64 letters, digits, '-' and '_'"
                )));
            }
        }
        let mut options = ConnectOptions::new()
            .name(format!("mnemic {}", self.service))
            .custom_inbox_prefix(self.inbox_prefix())
            .connection_timeout(self.call_timeout())
            .request_timeout(Some(self.call_timeout()))
            .ping_interval(Duration::from_secs(10))
            .reconnect_delay_callback(|attempt| {
                RECONNECT_MAX.min(Duration::from_millis(50).saturating_mul(u32::try_from(attempt).unwrap_or(u32::MAX)))
            });
        let Credentials {
            user, password, token, ..
        } = &self.credentials;
        options = match self.credentials.kind() {
            "creds" => options
                .credentials(&read_file(&self.credentials.creds_file)?)
                .map_err(|source| options_error("the creds file cannot be read").caused_by(source))?,
            "nkey" => options.nkey(read_file(&self.credentials.nkey_file)?.trim().to_owned()),
            "user" => options.user_and_password(user.clone(), password.reveal().to_owned()),
            "token" => options.token(token.reveal().to_owned()),
            _ => options,
        };
        if !self.tls.ca_file.as_os_str().is_empty() {
            options = options
                .add_root_certificates(self.tls.ca_file.clone())
                .require_tls(true);
        }
        if !self.tls.cert_file.as_os_str().is_empty() {
            options = options
                .add_client_certificate(self.tls.cert_file.clone(), self.tls.cert_key_file.clone())
                .require_tls(true);
        }
        Ok(options)
    }
}

fn read_file(path: &PathBuf) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|source| options_error(format!("cannot read {}", path.display())).caused_by(source))
}

fn options_error(detail: impl Into<String>) -> PortError {
    PortError::new("bus.connect", ErrorKind::Invalid, detail)
}
