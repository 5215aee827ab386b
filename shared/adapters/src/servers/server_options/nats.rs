//! Settings of the bus on NATS.

use std::path::PathBuf;

use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Secret;

/// Addresses, credentials and storage limits of the NATS servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `nats://host:port`, or `tls://host:port` for TLS; several servers are separated by commas.
    pub url: String,
    /// First part of the names of streams and subjects, 1 to 64 letters, digits, `-` and `_`. Deployments with
    /// different prefixes can share a server.
    pub prefix: String,
    /// Name of this service. The server shows it, and it is part of the prefix of the service's inboxes,
    /// `_INBOX_<service>`. With the default, it is the name of the service, such as `gateway`, and `operator` for
    /// `mnemic provision`.
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
    /// Number of partitions for the spaces of a subject. Fixed when the stream is created.
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

/// A durable subject and the groups that receive its messages from the start. These groups miss no message that is
/// published before they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Subject of the frames.
    pub subject: String,
    /// Groups that consume the subject.
    pub groups: Vec<String>,
    /// Whether the limits on the number of messages apply. They apply to messages from outside, which are refused
    /// beyond them. Messages that follow from others must always find room, otherwise they would be given up.
    pub bounded: bool,
}

/// Credentials for the servers. Empty fields are not used; the first field that is not empty counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Credentials {
    /// File with a JWT and its seed, as `nsc` writes it.
    pub creds_file: PathBuf,
    /// File with the seed of an nkey.
    pub nkey_file: PathBuf,
    /// User of the server.
    pub user: String,
    /// Password of the user.
    pub password: Secret,
    /// An authentication token.
    pub token: Secret,
}

/// Certificates, as PEM files; empty fields are not used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Certificate authorities to trust instead of those of the system. If set, TLS is required.
    pub ca_file: PathBuf,
    /// Certificate of this client.
    pub cert_file: PathBuf,
    /// Private key of `cert_file`. A path, not a secret.
    pub cert_key_file: PathBuf,
}

impl Topic {
    /// Returns the durable subjects of Mnemic.
    #[must_use]
    pub fn of_mnemic() -> Vec<Topic> {
        [
            (RecordsAcceptedV1::SUBJECT, [RecordsAcceptedV1::GROUP].as_slice()),
            (UnitsWrittenV1::SUBJECT, ["segmenter"].as_slice()),
            (UnitsOrganisedV1::SUBJECT, ["clusterer"].as_slice()),
        ]
        .into_iter()
        .map(|(subject, groups)| Topic {
            subject: subject.to_owned(),
            groups: groups.iter().map(|it| (*it).to_owned()).collect(),
            bounded: subject == RecordsAcceptedV1::SUBJECT,
        })
        .collect()
    }
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
