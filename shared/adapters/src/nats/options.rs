use std::path::PathBuf;
use std::time::Duration;

use async_nats::ConnectOptions;
use domain::port::Result;
use domain::{ErrorKind, PortError};
use serde::{Deserialize, Serialize};

use super::name;
use super::schema::Topic;
use crate::Secret;

/// Longest pause between two attempts to reconnect.
const RECONNECT_MAX: Duration = Duration::from_millis(500);

/// The connection to the servers, the credentials, and the storage limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Addresses of the servers, separated by commas; `tls://` requires TLS.
    pub url: String,
    /// Prefix of every subject and stream, so that installations can share servers: letters, digits, `-`, `_`.
    pub prefix: String,
    /// Name of this service. The server shows it, and it is part of the prefix of the service's inboxes,
    /// `_INBOX_<service>`.
    pub service: String,
    /// The credentials.
    pub credentials: Credentials,
    /// Certificates.
    pub tls: Tls,
    /// Timeout of one answer of the server, in milliseconds.
    pub call_timeout_ms: u64,
    /// Total time for the attempts of one publish, in milliseconds. All attempts have the same id, so the message is
    /// stored once.
    pub publish_timeout_ms: u64,
    /// Milliseconds that a delivery may stay unsettled before the message is redelivered. Fixed when a group becomes
    /// known; later changes need `provision`.
    pub ack_wait_ms: u64,
    /// Number of partitions for the spaces of a subject; see the module. Fixed when the stream is created.
    pub partitions: u16,
    /// Maximum number of unsettled deliveries of one group and partition, including those that wait for a retry.
    pub unsettled_max: u16,
    /// Number of copies of each stream in a cluster: 1, 3 or 5.
    pub replicas: u8,
    /// Seconds during which a repeated key is recognised.
    pub dedup_secs: u64,
    /// Maximum number of accepted batches in the stream; further ones are refused. Messages that follow from them are
    /// limited only by bytes.
    pub messages_max: u32,
    /// Maximum number of accepted batches of one space, so that a single space cannot fill the stream.
    pub messages_of_space_max: u32,
    /// Maximum size of one durable subject, in bytes. The server reserves this space.
    pub bytes_max: u64,
    /// Maximum number of dead letters.
    pub dead_letters_max: u32,
    /// Maximum size of all dead letters, in bytes. The server reserves this space.
    pub dead_letters_bytes_max: u64,
    /// The durable subjects, and the groups known from the start. Not a setting.
    #[serde(skip, default = "Topic::of_mnemic")]
    pub topics: Vec<Topic>,
}

/// Credentials for the servers. Empty fields are not used; the first field that is not empty counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Credentials {
    /// File with a JWT and its seed, as `nsc` writes it.
    pub creds_file: PathBuf,
    /// File with the seed of an nkey.
    pub nkey_file: PathBuf,
    /// Name of a user.
    pub user: String,
    /// Password of `user`.
    pub password: Secret,
    /// An authentication token.
    pub token: Secret,
}

/// Certificates, as PEM files; empty fields are not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Certificate authorities to trust instead of those of the system. If set, TLS is required.
    pub ca_file: PathBuf,
    /// Certificate of this client.
    pub cert_file: PathBuf,
    /// Private key of `cert_file`. A path, not a secret.
    pub cert_key_file: PathBuf,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: "nats://127.0.0.1:4222".to_owned(),
            prefix: "mnemic".to_owned(),
            service: "mnemic".to_owned(),
            credentials: Credentials::default(),
            tls: Tls::default(),
            call_timeout_ms: 2_000,
            publish_timeout_ms: 8_000,
            ack_wait_ms: 30_000,
            partitions: 32,
            unsettled_max: 256,
            replicas: 1,
            dedup_secs: 3_600,
            messages_max: 1_000_000,
            messages_of_space_max: 100_000,
            bytes_max: 4 << 30,
            dead_letters_max: 100_000,
            dead_letters_bytes_max: 1 << 30,
            topics: Topic::of_mnemic(),
        }
    }
}

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

    /// Returns how long a delivery may stay unsettled.
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
            if !name::is_plain(value) {
                return Err(wrong(format!("`{key}` is not 1 to 64 of letters, digits, '-' and '_'")));
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
                .credentials(&read(&self.credentials.creds_file)?)
                .map_err(|source| wrong("the creds file cannot be read").caused_by(source))?,
            "nkey" => options.nkey(read(&self.credentials.nkey_file)?.trim().to_owned()),
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

fn read(path: &PathBuf) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| wrong(format!("cannot read {}", path.display())).caused_by(source))
}

fn wrong(detail: impl Into<String>) -> PortError {
    PortError::new("bus.connect", ErrorKind::Invalid, detail)
}
