//! The message bus: publish/subscribe over durable streams with consumer groups, request/reply, and dead letters.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use super::Result;
use crate::position::Position;

/// Header of a request: when the caller stops waiting, in milliseconds since 1970 by the server's clock. An adapter
/// between two hosts sets it from the time that was left when the request was sent.
pub const DEADLINE: &str = "mnemic-deadline";

/// The transport form of a message: a subject, a payload, headers (trace context, deadline) and a deduplication key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// `SUBJECT` of the message.
    pub subject: String,
    /// The space it belongs to; empty for requests.
    pub space: String,
    /// Deduplication key: of several published frames with the same subject and key, only the first is stored. An empty
    /// key disables deduplication.
    pub dedup_key: String,
    /// Trace context and deadline.
    pub headers: BTreeMap<String, String>,
    /// JSON.
    pub payload: Vec<u8>,
}

/// A durable message, delivered to one consumer of a group. If it is dropped without being settled, it is redelivered
/// after the ack wait.
pub struct Delivery {
    /// The message.
    pub frame: Frame,
    /// Place of the message in the stream.
    pub position: Position,
    /// Number of this delivery attempt, from 1.
    pub attempt: u32,
    /// Settles this delivery.
    pub settler: Box<dyn Settler>,
}

/// Settles one delivery.
#[async_trait]
pub trait Settler: Send + Sync {
    /// Acknowledges the message: it is not delivered to this group again.
    async fn done(self: Box<Self>) -> Result<()>;
    /// Schedules a redelivery, not before `delay` has passed.
    async fn retry_after(self: Box<Self>, delay: Duration) -> Result<()>;
    /// Moves the message to the dead letters, with the reason. It is not delivered again unless it is replayed. Returns
    /// `None` if it was not moved, because another consumer holds it by now or its space is gone.
    async fn dead_letter(self: Box<Self>, reason: &str) -> Result<Option<DeadLetterId>>;
    /// Restarts the ack wait, because the work is still going on.
    async fn extend(&self) -> Result<()>;
}

/// A request that waits for its reply.
pub struct Inquiry {
    /// The request.
    pub frame: Frame,
    /// Takes the reply or an error. If it is dropped, the caller gets `Unavailable`.
    pub reply: Box<dyn FnOnce(Result<Vec<u8>>) + Send>,
    /// Resolves as soon as the bus knows that the caller no longer waits. Not every bus can know this; without it, only
    /// the deadline limits the work.
    pub abandoned: BoxFuture<'static, ()>,
}

/// Durable streams and request/reply.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Stores a frame durably and returns its position. For a repeated `dedup_key`, returns the position of the first
    /// frame.
    ///
    /// # Errors
    ///
    /// `Unavailable` if it cannot be stored (full disk, no server); `Exhausted` if the queue is full.
    async fn publish(&self, frame: Frame) -> Result<Position>;

    /// Checks that the queue of a subject can store one more message of a new space at this moment, so that a caller can
    /// refuse work early. It reserves nothing: a later [`publish`](Bus::publish) may still find the queue full. A bound
    /// in bytes is not checked.
    ///
    /// # Errors
    ///
    /// `Exhausted` if the queue is full.
    async fn check_room(&self, subject: &str) -> Result<()>;

    /// Returns the deliveries of a subject to a group, fairly distributed over the spaces.
    ///
    /// The bus knows a group from its first subscription, even while no consumer listens. The group receives at least
    /// once every later message of the subject, and every earlier one that some other known group has not settled yet.
    /// The members of a group share the messages.
    async fn subscribe(&self, subject: &str, group: &str) -> Result<BoxStream<'static, Result<Delivery>>>;

    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    ///
    /// `Timeout` after `patience`; `Unavailable` if no server serves the subject; otherwise the error that the server
    /// returned.
    async fn request(&self, frame: Frame, patience: Duration) -> Result<Vec<u8>>;

    /// Returns the requests of a subject. Several servers share them.
    async fn serve(&self, subject: &str) -> Result<BoxStream<'static, Inquiry>>;

    /// Returns the number of messages of `subject` that `group` has not settled, over all spaces.
    async fn backlog(&self, subject: &str, group: &str) -> Result<u64>;

    /// Returns the number of messages of `subject` in one space that at least one group has not settled.
    async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64>;

    /// Returns the positions of the first `limit` messages of a subject and space that some known group has not
    /// settled, ascending. Dead letters count as settled.
    async fn unsettled(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>>;

    /// Deletes every durable message of a space, including unsettled messages and dead letters.
    async fn erase(&self, space: &str) -> Result<()>;

    /// Returns after all earlier replies and settlements have left this process. Call it before the process ends.
    ///
    /// # Errors
    ///
    /// `Unavailable` if this takes longer than the timeout of a call.
    async fn flush(&self) -> Result<()> {
        Ok(())
    }
}

/// Id of a dead letter.
pub type DeadLetterId = u64;

/// A message that a consumer gave up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeadLetter {
    /// Id of the dead letter.
    pub id: DeadLetterId,
    /// Subject of the message.
    pub subject: String,
    /// Consumer group that gave the message up.
    pub group: String,
    /// Space of the message.
    pub space: String,
    /// Position of the message in its stream.
    pub position: Position,
    /// The reason.
    pub reason: String,
    /// Number of deliveries.
    pub attempts: u32,
    /// Time at which the consumer gave the message up.
    pub at: DateTime<Utc>,
    /// The payload.
    pub payload: String,
}

/// Operations on dead letters.
#[async_trait]
pub trait DeadLetters: Send + Sync + 'static {
    /// Returns up to `limit` dead letters with ids greater than `after`, by id.
    async fn list(&self, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>>;
    /// Like [`list`](DeadLetters::list), but for a single space.
    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>>;
    /// Returns the number of dead letters in all spaces.
    async fn count(&self) -> Result<u64>;
    /// Replaces the payload; no copy of the old one is kept. All other fields stay, but the letter may get a greater id
    /// and the present time. `NotFound` if there is no such letter.
    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()>;
    /// Delivers the message to its group again; attempts are counted from 1. `NotFound` if there is no such letter.
    async fn replay(&self, id: DeadLetterId) -> Result<()>;
    /// Deletes the letter and its deduplication key, so that the same message can be published again; no copy is kept.
    /// `NotFound` if there is no such letter.
    async fn discard(&self, id: DeadLetterId) -> Result<()>;
}
