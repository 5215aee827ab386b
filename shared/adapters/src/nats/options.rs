use std::path::PathBuf;
use std::time::Duration;

use async_nats::ConnectOptions;
use domain::port::Result;
use domain::{ErrorKind, PortError};
use serde::{Deserialize, Serialize};

use super::name;
use super::schema::Topic;
use crate::Secret;

/// Longest pause between two attempts to reach the server again.
const RECONNECT_MAX: Duration = Duration::from_millis(500);

/// How to reach the servers, who one is, and how much may be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Addresses, several separated by commas; `tls://` asks for TLS.
    pub url: String,
    /// First part of every subject and stream, so that installations can share servers: letters, digits, `-`, `_`.
    pub prefix: String,
    /// Name of this service: shown by the server, and in the prefix of its inboxes, `_INBOX_<service>`.
    pub service: String,
    /// Who one is.
    pub credentials: Credentials,
    /// Certificates.
    pub tls: Tls,
    /// Longest wait for one answer of the server, milliseconds.
    pub call_timeout_ms: u64,
    /// Longest time a publish is tried, milliseconds; repeated with the same id, so that it is stored once.
    pub publish_timeout_ms: u64,
    /// Milliseconds a delivery may stay unsettled before it is delivered again. Fixed when a group becomes known;
    /// `provision` changes it later.
    pub ack_wait_ms: u64,
    /// Parts into which the spaces of a subject are divided; see the module. Fixed when the stream is made.
    pub partitions: u16,
    /// Deliveries of one group and partition that may be unsettled at once, those that wait for a retry included.
    pub unsettled_max: u16,
    /// Copies of each stream over the servers of a cluster: 1, 3 or 5.
    pub replicas: u8,
    /// Seconds in which a repeated key is recognised.
    pub dedup_secs: u64,
    /// Most accepted batches that are kept; more are refused. What follows from them is bounded by bytes alone.
    pub messages_max: u32,
    /// Most accepted batches of one space, so that one space alone cannot fill the stream.
    pub messages_of_space_max: u32,
    /// Most bytes of one durable subject. The server reserves them.
    pub bytes_max: u64,
    /// Most dead letters.
    pub dead_letters_max: u32,
    /// Most bytes of dead letters. The server reserves them.
    pub dead_letters_bytes_max: u64,
    /// The durable subjects, and the groups known from the start. Not a setting.
    #[serde(skip, default = "Topic::of_mnemic")]
    pub topics: Vec<Topic>,
}

/// Who one is to the servers; what is empty is not used, and the first of them that is not empty counts.
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
    /// A token.
    pub token: Secret,
}

/// Certificates, PEM files; what is empty is not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Authorities to trust instead of those of the system; also demands TLS.
    pub ca_file: PathBuf,
    /// Certificate of this client.
    pub cert_file: PathBuf,
    /// Key of `cert_file`. A path, not a secret.
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
    /// Longest wait for one answer.
    pub(super) fn call_timeout(&self) -> Duration {
        Duration::from_millis(self.call_timeout_ms.max(1))
    }

    /// Longest time a publish is tried.
    pub(super) fn publish_timeout(&self) -> Duration {
        Duration::from_millis(self.publish_timeout_ms.max(1))
    }

    /// How long a delivery may stay unsettled.
    pub(super) fn ack_wait(&self) -> Duration {
        Duration::from_millis(self.ack_wait_ms.max(1))
    }

    /// Prefix of the inboxes of a service, so that one service can be kept from reading the replies to another.
    pub(super) fn inbox_prefix(&self) -> String {
        format!("_INBOX_{}", self.service)
    }

    /// Checks what would make wrong names, and reads the files of credentials.
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
