//! Settings of the bus on NATS.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Secret;
#[cfg(feature = "distributed")]
use crate::nats::Topic;

/// How to reach the servers, who one is, and how much may be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[cfg(feature = "distributed")]
    #[serde(skip, default = "Topic::of_mnemic")]
    pub topics: Vec<Topic>,
}

/// Who one is to the servers; what is empty is not used, and the first of them that is not empty counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
            #[cfg(feature = "distributed")]
            topics: Topic::of_mnemic(),
        }
    }
}
