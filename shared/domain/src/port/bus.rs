use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use super::Result;

/// A place in a durable stream; later messages of the same subject have greater positions. Never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = u64))]
#[serde(transparent)]
pub struct Position(pub u64);

/// Header of a request: when its asker stops waiting, in milliseconds since 1970 by the clock of whoever serves it. An
/// adapter that goes from one host to another sets it by what was left when the request was sent.
pub const DEADLINE: &str = "mnemic-deadline";

/// What travels: a subject, a payload, headers (trace context, deadline) and a key for deduplication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// `SUBJECT` of the message.
    pub subject: String,
    /// The space it belongs to; empty for requests.
    pub space: String,
    /// Publishing two frames of one subject with one key stores the first only; empty switches this off.
    pub dedup_key: String,
    /// Trace context and deadline.
    pub headers: BTreeMap<String, String>,
    /// JSON.
    pub payload: Vec<u8>,
}

/// A durable message handed to one consumer of a group. Dropping it unsettled gives it back after the ack wait.
pub struct Delivery {
    /// The message.
    pub frame: Frame,
    /// Its place in the stream.
    pub position: Position,
    /// Number of this delivery, from 1.
    pub attempt: u32,
    /// How to settle it.
    pub settler: Box<dyn Settler>,
}

/// Settles one delivery.
#[async_trait]
pub trait Settler: Send + Sync {
    /// The work is done; it is not delivered to this group again.
    async fn done(self: Box<Self>) -> Result<()>;
    /// It is delivered again, not before `delay` has passed.
    async fn retry_after(self: Box<Self>, delay: Duration) -> Result<()>;
    /// It is put among the dead letters with the reason, and not delivered again unless replayed. None if it was not put
    /// there, since it is somebody else's by now or its space is gone.
    async fn dead_letter(self: Box<Self>, reason: &str) -> Result<Option<DeadLetterId>>;
    /// The work goes on: the ack wait starts anew.
    async fn extend(&self) -> Result<()>;
}

/// A request that waits for its reply.
pub struct Inquiry {
    /// The request.
    pub frame: Frame,
    /// Takes the reply or an error; a dropped sender is `Unavailable` to the asker.
    pub reply: Box<dyn FnOnce(Result<Vec<u8>>) + Send>,
    /// Resolves once the asker is known to wait no longer. Not every bus can know; then the deadline alone bounds the work.
    pub abandoned: BoxFuture<'static, ()>,
}

/// Durable streams and request/reply.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Returns once the frame is on disk, with its position; for a repeated `dedup_key` that of the first one.
    ///
    /// # Errors
    /// `Unavailable` if it cannot be stored (full disk, no server); `Exhausted` if the queue is at its bound.
    async fn publish(&self, frame: Frame) -> Result<Position>;

    /// Returns the deliveries of a subject to a group, fairly between spaces. From its first subscription on the bus
    /// knows the group, also when nobody listens; every message of the subject that was not settled by all groups known
    /// before, and every later one, reaches it at least once. Members of one group share them.
    async fn subscribe(&self, subject: &str, group: &str) -> Result<BoxStream<'static, Result<Delivery>>>;

    /// Asks and waits for the reply.
    ///
    /// # Errors
    /// `Timeout` after `patience`; `Unavailable` if nobody serves the subject; otherwise the error of the server.
    async fn request(&self, frame: Frame, patience: Duration) -> Result<Vec<u8>>;

    /// Returns the requests of a subject; several servers share them.
    async fn serve(&self, subject: &str) -> Result<BoxStream<'static, Inquiry>>;

    /// Returns the number of messages of `subject` that `group` has not settled, over all spaces.
    async fn backlog(&self, subject: &str, group: &str) -> Result<u64>;

    /// Returns the number of messages of `subject` in one space that some group has not settled.
    async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64>;

    /// Returns the positions of the first `limit` messages of a subject and space that are not settled by every known group,
    /// ascending. Dead letters are settled.
    async fn unsettled(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>>;

    /// Drops every durable message of a space, unsettled and dead ones too.
    async fn erase(&self, space: &str) -> Result<()>;

    /// Returns once every reply and settlement said so far has left this process; call it before the process ends.
    ///
    /// # Errors
    /// `Unavailable` if that takes longer than a call.
    async fn flush(&self) -> Result<()> {
        Ok(())
    }
}

/// Names one dead letter.
pub type DeadLetterId = u64;

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeadLetter {
    /// Names it.
    pub id: DeadLetterId,
    /// Subject of the message.
    pub subject: String,
    /// Group that gave it up.
    pub group: String,
    /// Space of the message.
    pub space: String,
    /// Place in its stream.
    pub position: Position,
    /// Why it was given up.
    pub reason: String,
    /// Number of deliveries.
    pub attempts: u32,
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The payload.
    pub payload: String,
}

/// What operators do with dead letters.
#[async_trait]
pub trait DeadLetters: Send + Sync + 'static {
    /// Returns up to `limit` dead letters with ids greater than `after`, by id.
    async fn list(&self, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>>;
    /// As [`list`](DeadLetters::list), those of one space alone.
    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>>;
    /// Returns how many there are, over all spaces.
    async fn count(&self) -> Result<u64>;
    /// Puts another payload in the place of the one it has, of which nothing is left; all else stays, but it may get a
    /// greater id and the present time. `NotFound` if there is none.
    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()>;
    /// Delivers it to its group again, attempts counted from 1. `NotFound` if there is none.
    async fn replay(&self, id: DeadLetterId) -> Result<()>;
    /// Forgets it and its key, so that the same may be published again; nothing is left of it. `NotFound` if there is none.
    async fn discard(&self, id: DeadLetterId) -> Result<()>;
}
