//! The objects that must exist on the servers: streams, and the consumers of the groups known from the start.
//!
//! A durable subject has one stream, which keeps a message until every known group has settled it. While no group is
//! known, the stream keeps everything (retention `limits`); the first group that joins changes that to `interest`. The
//! stream stores the number of its partitions, so that all processes agree.
//!
//! No consumer is deleted from a stream with retention `interest`. After such a deletion nats-server (before 2.14.10
//! and 2.15.3) compares an empty stream with its consumers in the background, and purges the whole stream if a consumer
//! settles a newer message before the comparison ends.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Config as Consumer};
use async_nats::jetstream::stream::{Config as Stream, DiscardPolicy, Info, RetentionPolicy, StorageType};
use domain::port::Result;
use domain::{Classify, ErrorKind, PortError};
use futures::{StreamExt, TryStreamExt};
use serde::Deserialize;
use serde_json::json;

use super::connection::Link;
use super::options::{Options, Topic};
use crate::servers::nats::wire::names::{self, Names};

/// Metadata key for the number of partitions of a stream.
const PARTITIONS: &str = "mnemic-partitions";
/// A consumer that earlier versions created for a subject without a known group, so that its stream kept everything.
const KEEPER: &str = "keeper";
/// Number of consumers created concurrently.
const AT_ONCE: usize = 8;
const PARTITIONS_MAX: u16 = 256;
/// Number of bits for the messages of a durable subject in its lifetime: 10,000 per second for three years.
const POSITION_BITS: u32 = 40;
const OPERATION: &str = "bus.provision";
/// Subjects that would collide with the adapter's own names.
const RESERVED: [&str; 3] = ["dead", "erased", "request"];

/// An object that exists but differs from the settings, and is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The stream or consumer.
    pub name: String,
    /// The setting.
    pub setting: &'static str,
    /// Value of the setting on the server.
    pub found: String,
    /// The value in the settings.
    pub wanted: String,
}

/// Creates missing objects, and updates limits, times and replicas to the settings. Returns the differences that cannot
/// be changed while messages are stored. Idempotent, and safe while services run.
///
/// # Errors
///
/// `Invalid` for wrong settings; `Unavailable` if the server cannot be reached, refuses, or has too little space for
/// the limits.
pub async fn provision_streams(options: &Options) -> Result<Vec<Drift>> {
    check_options(options)?;
    let link = Link::connect(options).await?;
    let names = Names::new(&options.prefix);
    let mut drifts = Vec::new();
    for wanted in wanted_streams(options, &names) {
        drifts.extend(create_or_update_stream(&link, wanted).await?);
    }
    for topic in &options.topics {
        let stream = names.stream_name(&topic.subject);
        let partitions = read_partitions(&link, &stream).await?;
        let place = GroupRegistry {
            link: &link,
            names: &names,
            options,
        };
        if list_consumers(&link, OPERATION, &stream).await?.is_empty() {
            place.set_retention(&stream, RetentionPolicy::Limits).await?;
        }
        for group in &topic.groups {
            place.register_group(&topic.subject, partitions, group, true).await?;
        }
    }
    Ok(drifts)
}

/// The server on which groups are registered.
pub(super) struct GroupRegistry<'a> {
    pub(super) link: &'a Link,
    pub(super) names: &'a Names,
    pub(super) options: &'a Options,
}

impl GroupRegistry<'_> {
    /// Registers a group if it is unknown. With `renew`, its existing consumers are updated to the settings.
    pub(super) async fn register_group(&self, subject: &str, partitions: u16, group: &str, renew: bool) -> Result<()> {
        let stream = self.names.stream_name(subject);
        let there: BTreeSet<String> = list_consumers(self.link, "bus.subscribe", &stream)
            .await?
            .into_iter()
            .collect();
        let missing = (0..partitions).filter(|it| renew || !there.contains(&names::consumer_name(group, *it)));
        let creations = futures::stream::iter(missing).map(|partition| {
            let wanted = Consumer {
                durable_name: Some(names::consumer_name(group, partition)),
                ack_policy: AckPolicy::Explicit,
                ack_wait: self.options.ack_wait(),
                // The host counts deliveries and makes dead letters; the server must never drop a message.
                max_deliver: -1,
                max_ack_pending: i64::from(self.options.unsettled_max.max(1)),
                filter_subjects: self.names.consumer_filters(subject, partition, group),
                ..Consumer::default()
            };
            let stream = &stream;
            async move { create_consumer(self.link, "bus.subscribe", stream, &wanted).await }
        });
        creations.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
        if there.contains(KEEPER) {
            self.set_retention(&stream, RetentionPolicy::Limits).await?;
            let delete = format!("CONSUMER.DELETE.{stream}.{KEEPER}");
            match self
                .link
                .call_api::<serde_json::Value>("bus.subscribe", &delete, &json!({}))
                .await
            {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => (),
            }
        }
        self.set_retention(&stream, RetentionPolicy::Interest).await
    }

    /// Changes the retention of a stream if it differs.
    async fn set_retention(&self, stream: &str, retention: RetentionPolicy) -> Result<()> {
        let info: Info = self
            .link
            .call_api("bus.subscribe", &format!("STREAM.INFO.{stream}"), &json!({}))
            .await?;
        if info.config.retention == retention {
            return Ok(());
        }
        let wanted = Stream {
            retention,
            ..info.config
        };
        let update = format!("STREAM.UPDATE.{stream}");
        self.link
            .create_or_update::<Info>("bus.subscribe", &update, &wanted)
            .await
            .map(drop)
    }
}

/// Returns the number of partitions of a stream. If the stream does not exist, the error names `mnemic provision`.
pub(super) async fn read_partitions(link: &Link, stream: &str) -> Result<u16> {
    let info: Info = link
        .call_api("bus.connect", &format!("STREAM.INFO.{stream}"), &json!({}))
        .await
        .map_err(|error| missing_stream_error(stream, error))?;
    let partitions = info.config.metadata.get(PARTITIONS).and_then(|it| it.parse().ok());
    partitions
        .filter(|it| (1..=PARTITIONS_MAX).contains(it))
        .ok_or_else(|| {
            let detail = format!("the stream {stream} does not state its partitions: it is not a stream of Mnemic");
            PortError::new("bus.connect", ErrorKind::Conflict, detail)
        })
}

/// Returns an error if a stream without partitions does not exist.
pub(super) async fn check_stream_exists(link: &Link, stream: &str) -> Result<()> {
    let info = format!("STREAM.INFO.{stream}");
    let found: Result<Info> = link.call_api("bus.connect", &info, &json!({})).await;
    found.map(drop).map_err(|error| missing_stream_error(stream, error))
}

/// Returns the names of all consumers of a stream.
pub(super) async fn list_consumers(link: &Link, operation: &'static str, stream: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Page {
        total: usize,
        #[serde(default)]
        consumers: Option<Vec<String>>,
    }
    let mut all = Vec::new();
    loop {
        let body = json!({ "offset": all.len() });
        let page: Page = link
            .call_api(operation, &format!("CONSUMER.NAMES.{stream}"), &body)
            .await?;
        let some = page.consumers.unwrap_or_default();
        if some.is_empty() {
            return Ok(all);
        }
        all.extend(some);
        if all.len() >= page.total {
            return Ok(all);
        }
    }
}

fn missing_stream_error(stream: &str, error: PortError) -> PortError {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    let detail = format!("NATS has no stream {stream}: run `mnemic provision`");
    PortError::new("bus.connect", ErrorKind::NotFound, detail).caused_by(error)
}

fn check_options(options: &Options) -> Result<()> {
    let wrong = |detail: String| Err(PortError::new(OPERATION, ErrorKind::Invalid, detail));
    if !(1..=PARTITIONS_MAX).contains(&options.partitions) {
        return wrong(format!("`partitions` must be 1 to {PARTITIONS_MAX}"));
    }
    for topic in &options.topics {
        let subject = topic.subject.as_str();
        if RESERVED.contains(&subject) || !subject.split('.').all(names::is_plain) {
            return wrong(format!("`{subject}` cannot be a durable subject"));
        }
    }
    Ok(())
}

fn wanted_streams(options: &Options, names: &Names) -> Vec<Stream> {
    let common = Stream {
        storage: StorageType::File,
        num_replicas: usize::from(options.replicas.max(1)),
        duplicate_window: Duration::from_secs(options.dedup_secs.max(1)),
        max_messages: -1,
        max_bytes: -1,
        max_messages_per_subject: -1,
        ..Stream::default()
    };
    let topic = |(number, topic): (u64, &Topic)| Stream {
        name: names.stream_name(&topic.subject),
        description: Some(format!("messages of {}", topic.subject)),
        subjects: vec![names.all_of(&topic.subject)],
        // The positions of different subjects never overlap.
        first_sequence: Some((number << POSITION_BITS) + 1),
        retention: RetentionPolicy::Interest,
        discard: DiscardPolicy::New,
        discard_new_per_subject: topic.bounded,
        max_messages: message_limit(topic, options.messages_max),
        max_messages_per_subject: message_limit(topic, options.messages_of_space_max),
        // Also applies to messages that follow from others, because the disk is limited. They only consist of a few
        // identifiers, while a batch consists of texts.
        max_bytes: to_signed_limit(options.bytes_max),
        metadata: HashMap::from([(PARTITIONS.to_owned(), options.partitions.to_string())]),
        ..common.clone()
    };
    let dead = Stream {
        name: names.dead_stream(),
        description: Some("messages that were given up".to_owned()),
        subjects: vec![names.all_dead()],
        discard: DiscardPolicy::New,
        max_messages: i64::from(options.dead_letters_max),
        max_bytes: to_signed_limit(options.dead_letters_bytes_max),
        ..common.clone()
    };
    // An erasure only needs to be remembered as long as deduplication keys.
    let erased = Stream {
        name: names.erased_stream(),
        description: Some("the last erasure of each space".to_owned()),
        subjects: vec![names.all_erased()],
        max_messages_per_subject: 1,
        max_age: common.duplicate_window * 2,
        ..common.clone()
    };
    (0..).zip(&options.topics).map(topic).chain([dead, erased]).collect()
}

async fn create_or_update_stream(link: &Link, wanted: Stream) -> Result<Vec<Drift>> {
    let found: Result<Info> = link
        .call_api(OPERATION, &format!("STREAM.INFO.{}", wanted.name), &json!({}))
        .await;
    let found = match found {
        Ok(info) => info.config,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let create = format!("STREAM.CREATE.{}", wanted.name);
            // The stream keeps everything until the first group joins.
            let wanted = Stream {
                retention: RetentionPolicy::Limits,
                ..wanted
            };
            return link
                .create_or_update::<Info>(OPERATION, &create, &wanted)
                .await
                .map(|_| Vec::new());
        }
        Err(error) => return Err(error),
    };
    let fixed = find_drifts(&found, &wanted);
    let renewed = Stream {
        num_replicas: wanted.num_replicas,
        discard_new_per_subject: wanted.discard_new_per_subject,
        duplicate_window: wanted.duplicate_window,
        max_messages: wanted.max_messages,
        max_messages_per_subject: wanted.max_messages_per_subject,
        max_bytes: wanted.max_bytes,
        max_age: wanted.max_age,
        ..found.clone()
    };
    if renewed != found {
        let update = format!("STREAM.UPDATE.{}", wanted.name);
        link.create_or_update::<Info>(OPERATION, &update, &renewed).await?;
    }
    Ok(fixed)
}

/// Returns the differences that cannot be changed while there are messages.
fn find_drifts(found: &Stream, wanted: &Stream) -> Vec<Drift> {
    let name = &found.name;
    let partitions = |it: &Stream| it.metadata.get(PARTITIONS).cloned().unwrap_or_default();
    // A stream without groups keeps everything, which is not a difference.
    let retention = match (found.retention, wanted.retention) {
        (RetentionPolicy::Limits, RetentionPolicy::Interest) => RetentionPolicy::Interest,
        (retention, _) => retention,
    };
    [
        ("partitions", partitions(found), partitions(wanted)),
        ("subjects", found.subjects.join(","), wanted.subjects.join(",")),
        (
            "storage",
            format!("{:?}", found.storage),
            format!("{:?}", wanted.storage),
        ),
        ("retention", format!("{retention:?}"), format!("{:?}", wanted.retention)),
        (
            "discard",
            format!("{:?}", found.discard),
            format!("{:?}", wanted.discard),
        ),
    ]
    .into_iter()
    .filter(|(_, found, wanted)| found != wanted)
    .map(|(setting, found, wanted)| Drift {
        name: name.clone(),
        setting,
        found,
        wanted,
    })
    .collect()
}

async fn create_consumer(link: &Link, operation: &'static str, stream: &str, wanted: &Consumer) -> Result<()> {
    let name = wanted.durable_name.as_deref().unwrap_or_default();
    let create = format!("CONSUMER.CREATE.{stream}.{name}");
    let body = json!({ "stream_name": stream, "config": wanted });
    link.create_or_update::<serde_json::Value>(operation, &create, &body)
        .await
        .map(drop)
}

fn message_limit(topic: &Topic, messages: u32) -> i64 {
    if topic.bounded { i64::from(messages) } else { -1 }
}

fn to_signed_limit(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
