//! Operations on streams: storing frames, reading single messages, counting, erasing.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::jetstream::consumer::Info as ConsumerInfo;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{Info, RawMessageErrorKind};
use domain::port::{Frame, Position, Result};
use domain::{Classify, ErrorKind, PortError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::servers::nats::connection::refusal_error;
use crate::servers::nats::wire::{self, names};
use crate::servers::nats::{Core, schema};

/// Maximum number of erasures of one space, or of one message, that a publish looks past.
const ERASURES_MAX: usize = 8;

/// Selects a single message of a stream.
pub(crate) enum RawMessage {
    At(u64),
    Next { subject: String, from: u64 },
    Last { subject: String },
}

/// The last erasure of a space from a durable subject; all 0 if there was none recently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Erased {
    /// All messages up to this sequence are erased.
    pub(crate) sequence: u64,
    /// Number of the erasure.
    number: u64,
}

impl RawMessage {
    pub(crate) fn at_sequence(sequence: u64) -> RawMessage {
        RawMessage::At(sequence)
    }

    pub(crate) fn next_of_subject(subject: &str, from: u64) -> RawMessage {
        RawMessage::Next {
            subject: subject.to_owned(),
            from,
        }
    }
}

impl Core {
    /// Stores a frame. A key that was used before an erasure of its space counts as new, and so does the key of a
    /// discarded message.
    pub(crate) async fn publish_frame(&self, frame: &Frame) -> Result<Position> {
        const OPERATION: &str = "bus.publish";
        let partitions = self.partitions_of_subject(OPERATION, &frame.subject)?;
        let subject = self
            .names
            .message_subject(&frame.subject, partitions, names::ALL, &frame.space);
        let mut headers = wire::headers_of_frame(OPERATION, frame)?;
        let mut erasure = String::new();
        for _ in 0..ERASURES_MAX {
            let id = if frame.dedup_key.is_empty() {
                self.link.fresh_id()
            } else {
                names::message_id(&["key", &frame.subject, &frame.space, &frame.dedup_key, &erasure])
            };
            headers.insert(wire::ID, id.as_str());
            let stored = self
                .link
                .store_message(OPERATION, &subject, headers.clone(), &frame.payload)
                .await?;
            if !stored.duplicate || frame.dedup_key.is_empty() {
                return Ok(Position(stored.sequence));
            }
            let erased = self.last_erasure(OPERATION, &frame.subject, &frame.space).await?;
            if erased.sequence >= stored.sequence {
                erasure = erased.number.to_string();
                continue;
            }
            let Some(discarded) = self.discard_note_number(OPERATION, frame, stored.sequence).await? else {
                return Ok(Position(stored.sequence));
            };
            erasure = discarded.to_string();
        }
        Err(PortError::new(
            OPERATION,
            ErrorKind::Unavailable,
            "the space is being erased, or the message discarded, again and again",
        ))
    }

    /// Fails with `Exhausted` if the stream of a subject holds as many messages as it may.
    pub(crate) async fn check_room(&self, subject: &str) -> Result<()> {
        const OPERATION: &str = "bus.check_room";
        self.partitions_of_subject(OPERATION, subject)?;
        let stream = self.names.stream_name(subject);
        let info: Info = self
            .link
            .call_api(OPERATION, &format!("STREAM.INFO.{stream}"), &json!({}))
            .await?;
        let count = info.state.messages;
        // A stream without a bound has the bound -1.
        match u64::try_from(info.config.max_messages) {
            Ok(most) if most > 0 && count >= most => Err(PortError::new(
                OPERATION,
                ErrorKind::Exhausted,
                format!("the stream {stream} holds {count} messages, its bound"),
            )),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns one message, or `None` if it does not exist.
    pub(crate) async fn read_message(
        &self,
        operation: &'static str,
        stream: &str,
        wanted: RawMessage,
    ) -> Result<Option<StreamMessage>> {
        self.link.wait_until_ready(operation).await?;
        let failed = |detail: &str| PortError::new(operation, ErrorKind::Unavailable, detail);
        let handle = self
            .context
            .get_stream_no_info(stream)
            .await
            .map_err(|source| failed("a stream of NATS cannot be used").caused_by(source))?;
        let ask = handle.raw_message_builder();
        let ask = match wanted {
            RawMessage::At(sequence) => ask.sequence(sequence),
            RawMessage::Next { subject, from } => ask.sequence(from).next_by_subject(subject),
            RawMessage::Last { subject } => ask.last_by_subject(subject),
        };
        match ask.send().await {
            Ok(message) => Ok(Some(message)),
            Err(source) => match source.kind() {
                RawMessageErrorKind::NoMessageFound => Ok(None),
                RawMessageErrorKind::JetStream(error) => {
                    match refusal_error(operation, error.error_code().0, &error.to_string()) {
                        missing if missing.kind() == ErrorKind::NotFound => Ok(None),
                        error => Err(error),
                    }
                }
                RawMessageErrorKind::InvalidSubject | RawMessageErrorKind::Other => {
                    Err(failed("a message cannot be read from NATS").caused_by(source))
                }
            },
        }
    }

    /// Returns the last erasure of a space from a durable subject.
    pub(crate) async fn last_erasure(&self, operation: &'static str, subject: &str, space: &str) -> Result<Erased> {
        let last = RawMessage::Last {
            subject: self.names.erasure_note_subject(subject, space),
        };
        let found = self.read_message(operation, &self.names.erased_stream(), last).await?;
        Ok(found.map_or_else(Erased::default, |it| Erased {
            sequence: String::from_utf8_lossy(&it.payload).parse().unwrap_or(0),
            number: it.sequence,
        }))
    }

    /// Returns the number of the note that a message was discarded, or `None` if it was not discarded recently.
    async fn discard_note_number(&self, operation: &'static str, frame: &Frame, sequence: u64) -> Result<Option<u64>> {
        let last = RawMessage::Last {
            subject: self.names.discard_note_subject(&frame.subject, &frame.space, sequence),
        };
        let found = self.read_message(operation, &self.names.erased_stream(), last).await?;
        Ok(found.map(|it| it.sequence))
    }

    /// Deletes all messages of a space. A note is written first, so that earlier keys and deliveries in progress are
    /// recognised.
    pub(crate) async fn erase_space(&self, space: &str) -> Result<()> {
        const OPERATION: &str = "bus.erase";
        for (subject, partitions) in &self.topics {
            let stream = self.names.stream_name(subject);
            let info: Info = self
                .link
                .call_api(OPERATION, &format!("STREAM.INFO.{stream}"), &json!({}))
                .await?;
            let last = info.state.last_sequence;
            let mut headers = async_nats::HeaderMap::new();
            headers.insert(wire::ID, self.link.fresh_id().as_str());
            let note = self.names.erasure_note_subject(subject, space);
            self.link
                .store_message(OPERATION, &note, headers, last.to_string().as_bytes())
                .await?;
            // A consumer drops purged messages only if the filter of the purge is not wider than its own, so each
            // addressee is purged separately.
            let partition = names::partition_of_space(space, *partitions);
            for to in self.list_addressees(OPERATION, &stream, partition).await? {
                let filter = self.names.message_subject(subject, *partitions, &to, space);
                let purge = json!({ "filter": filter, "seq": last.saturating_add(1) });
                self.purge_stream(OPERATION, &stream, &purge).await?;
            }
        }
        let dead = json!({ "filter": self.names.dead_letter_subject(space) });
        self.purge_stream(OPERATION, &self.names.dead_stream(), &dead).await
    }

    /// Counts the messages that a group has not settled; for an unknown group, all stored messages.
    pub(crate) async fn count_backlog(&self, subject: &str, group: &str) -> Result<u64> {
        #[derive(Deserialize)]
        struct Page {
            total: usize,
            #[serde(default)]
            consumers: Option<Vec<ConsumerInfo>>,
        }
        const OPERATION: &str = "bus.backlog";
        let partitions = self.partitions_of_subject(OPERATION, subject)?;
        let stream = self.names.stream_name(subject);
        let of_group: Vec<String> = (0..partitions).map(|it| names::consumer_name(group, it)).collect();
        let (mut offset, mut known, mut count) = (0, 0, 0);
        loop {
            let list = format!("CONSUMER.LIST.{stream}");
            let page: Page = self
                .link
                .call_api(OPERATION, &list, &json!({ "offset": offset }))
                .await?;
            let consumers = page.consumers.unwrap_or_default();
            offset += consumers.len();
            for consumer in consumers.iter().filter(|it| of_group.contains(&it.name)) {
                known += 1;
                count += consumer.num_pending + consumer.num_ack_pending as u64;
            }
            if consumers.is_empty() || offset >= page.total {
                break;
            }
        }
        if known == of_group.len() {
            return Ok(count);
        }
        let info: Info = self
            .link
            .call_api(OPERATION, &format!("STREAM.INFO.{stream}"), &json!({}))
            .await?;
        Ok(info.state.messages)
    }

    /// Counts the stored messages of one space. A message is deleted when every group has settled it.
    pub(crate) async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64> {
        #[derive(Deserialize)]
        struct Counted {
            state: Subjects,
        }
        #[derive(Deserialize)]
        struct Subjects {
            /// Number of messages by subject; absent if there are none.
            #[serde(default)]
            subjects: BTreeMap<String, u64>,
        }
        const OPERATION: &str = "bus.backlog_of_space";
        let partitions = self.partitions_of_subject(OPERATION, subject)?;
        let filter = self.names.to_anybody(subject, partitions, space);
        let ask = format!("STREAM.INFO.{}", self.names.stream_name(subject));
        let counted: Counted = self
            .link
            .call_api(OPERATION, &ask, &json!({ "subjects_filter": filter }))
            .await?;
        Ok(counted.state.subjects.values().sum())
    }

    /// Returns the positions of the stored messages of a space, ascending. A message that every group has acknowledged is
    /// no longer stored. A replayed message has its original position, which is smaller than its sequence.
    pub(crate) async fn unsettled_positions(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>> {
        const OPERATION: &str = "bus.unsettled";
        let partitions = self.partitions_of_subject(OPERATION, subject)?;
        let (stream, filter) = (
            self.names.stream_name(subject),
            self.names.to_anybody(subject, partitions, space),
        );
        let mut found = BTreeSet::new();
        let mut from = 1;
        while found.len() < limit {
            let next = RawMessage::next_of_subject(&filter, from);
            let Some(message) = self.read_message(OPERATION, &stream, next).await? else {
                break;
            };
            let original = wire::number_header(&message.headers, wire::POSITION);
            found.insert(Position(original.unwrap_or(message.sequence)));
            from = message.sequence + 1;
        }
        Ok(found.into_iter().collect())
    }

    /// Returns the possible addressees of messages of a partition.
    async fn list_addressees(&self, operation: &'static str, stream: &str, partition: u16) -> Result<Vec<String>> {
        let consumers = schema::list_consumers(&self.link, operation, stream).await?;
        let suffix = format!("-{partition}");
        let groups = consumers.iter().filter_map(|it| it.strip_suffix(&suffix));
        Ok(std::iter::once(names::ALL).chain(groups).map(str::to_owned).collect())
    }

    async fn purge_stream(&self, operation: &'static str, stream: &str, what: &Value) -> Result<()> {
        let purge = format!("STREAM.PURGE.{stream}");
        self.link.call_api::<Value>(operation, &purge, what).await.map(drop)
    }
}
