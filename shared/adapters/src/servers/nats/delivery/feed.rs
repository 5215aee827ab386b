//! Pulls messages for one lane: one inbox, at most one open pull per partition, and only while a member waits.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::message::Message as Delivered;
use async_nats::{Message, StatusCode, Subscriber};
use domain::{ErrorKind, PortError};
use futures::StreamExt;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tracing::{debug, warn};

use crate::servers::nats::Core;
use crate::servers::nats::delivery::delivery_settler::AGAIN;
use crate::servers::nats::delivery::lane::{Lane, Pulled};
use crate::servers::nats::wire::{self, names};

/// Subject of a pull request.
const NEXT: &str = "$JS.API.CONSUMER.MSG.NEXT";
/// How long the server keeps a pull open. Short, because a pull that the server forgot is noticed only when it should
/// have ended.
const OPEN: Duration = Duration::from_secs(10);
/// A pull without an answer for this long counts as lost.
const LOST: Duration = Duration::from_secs(12);
/// Pause after the server refused a pull.
const REST: Duration = Duration::from_millis(250);
/// Number of refusals in a row, over all partitions, after which members have to subscribe again.
const REFUSALS_MAX: u32 = 200;

/// The feed of a lane; it ends with the lane.
pub(crate) struct Feed {
    core: Arc<Core>,
    lane: Arc<Lane>,
    stream: String,
    address: String,
    inbox: Subscriber,
    /// For each partition, when a pull may be opened again; `None`: at any time.
    closed_until: Vec<Option<Instant>>,
    refusals: u32,
}

impl Feed {
    pub(crate) async fn open_inbox(core: &Arc<Core>, lane: &Arc<Lane>, partitions: u16) -> Result<Feed, PortError> {
        let address = core.link.client.new_inbox();
        let inbox = core
            .link
            .client
            .subscribe(format!("{address}.*"))
            .await
            .map_err(|source| {
                PortError::new("bus.subscribe", ErrorKind::Unavailable, "the connection to NATS failed")
                    .caused_by(source)
            })?;
        Ok(Feed {
            core: Arc::clone(core),
            lane: Arc::clone(lane),
            stream: core.names.stream_name(&lane.subject),
            address,
            inbox,
            closed_until: vec![None; usize::from(partitions)],
            refusals: 0,
        })
    }

    pub(crate) async fn run_until_closed(mut self) {
        let mut connects = self.core.link.watch_connects();
        let mut refusals = self.core.link.watch_refusals();
        let mut alive = interval((self.core.options.ack_wait() / 3).max(Duration::from_millis(1)));
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let closed = self.lane.closed.clone();
        while !closed.is_cancelled() {
            let wake = self.open_pulls().await;
            tokio::select! {
                biased;
                () = closed.cancelled() => break,
                message = self.inbox.next() => match message {
                    Some(message) => self.take_in(message),
                    None => {
                        let detail = "the connection to NATS is closed";
                        self.lane.close_with_error(&PortError::new("bus.deliver", ErrorKind::Unavailable, detail));
                    }
                },
                () = self.lane.wanted.notified() => (),
                changed = connects.changed() => {
                    // The open pulls ended with the connection.
                    self.closed_until.fill(None);
                    if changed.is_err() { break }
                }
                changed = refusals.changed() => {
                    self.close_if_forbidden(&refusals.borrow_and_update().last);
                    if changed.is_err() { break }
                }
                _ = alive.tick() => self.keep_alive(),
                () = sleep_until(wake) => (),
            }
        }
        self.return_undelivered_messages().await;
    }

    /// Opens the necessary pulls, and returns when to check again.
    async fn open_pulls(&mut self) -> Instant {
        let now = Instant::now();
        let later = now + LOST;
        if !self.lane.is_wanted() {
            return later;
        }
        let filled = self.lane.filled_partitions();
        let mut next = later;
        for (partition, until) in (0_u16..).zip(self.closed_until.iter_mut()) {
            match *until {
                Some(at) if at > now => next = next.min(at),
                _ if filled.contains(&partition) => (),
                _ => {
                    let consumer = names::consumer_name(&self.lane.group, partition);
                    let pull = format!("{NEXT}.{}.{consumer}", self.stream);
                    let body = json!({ "batch": 1, "expires": OPEN.as_nanos() as u64 }).to_string();
                    let reply = format!("{}.{partition}", self.address);
                    let sent = self.core.link.client.publish_with_reply(pull, reply, body.into()).await;
                    let pause = if sent.is_ok() { LOST } else { REST };
                    *until = Some(now + pause);
                    next = next.min(now + pause);
                }
            }
        }
        next
    }

    fn take_in(&mut self, message: Message) {
        if let Some(status) = message.status {
            let partition = message
                .subject
                .rsplit('.')
                .next()
                .and_then(|it| it.parse::<usize>().ok());
            self.record_refused_pull(partition, status, message.description.as_deref().unwrap_or_default());
            return;
        }
        let delivered = Delivered {
            message,
            context: self.core.context.clone(),
        };
        let Some((pulled, partition)) = parse_delivered_message(delivered) else {
            debug!("a message in the inbox is not a delivery");
            return;
        };
        self.refusals = 0;
        if let Some(until) = self.closed_until.get_mut(usize::from(partition)) {
            *until = None;
        }
        self.lane.add_ready_message(pulled);
    }

    /// Records that the server closed a pull without a message.
    fn record_refused_pull(&mut self, partition: Option<usize>, status: StatusCode, description: &str) {
        let Some(until) = partition.and_then(|it| self.closed_until.get_mut(it)) else {
            return;
        };
        if matches!(status, StatusCode::TIMEOUT | StatusCode::NOT_FOUND) {
            *until = None;
            self.refusals = 0;
            return;
        }
        *until = Some(Instant::now() + REST);
        self.refusals += 1;
        debug!(%status, description, "pull refused");
        if self.refusals >= REFUSALS_MAX {
            warn!(group = self.lane.group, %status, "the consumers of the group cannot be read");
            let detail = format!("NATS refuses to deliver: {status} {description}");
            self.lane
                .close_with_error(&PortError::new("bus.deliver", ErrorKind::Unavailable, detail));
        }
    }

    /// Closes the lane if the server refused one of its pulls because of missing permissions: no answer will come.
    fn close_if_forbidden(&self, refused: &str) {
        if refused.contains(&format!(
            "{NEXT}.{}.{}-",
            self.stream,
            names::group_token(&self.lane.group)
        )) {
            let detail = format!("NATS refuses: {refused}");
            self.lane
                .close_with_error(&PortError::new("bus.deliver", ErrorKind::Unavailable, detail));
        }
    }

    /// Extends the ack wait of ready messages, so that they are not delivered again, however long they wait.
    fn keep_alive(&self) {
        let replies = self.lane.kept_alive(Instant::now());
        replies.iter().for_each(|it| {
            self.core
                .link
                .send_without_reply(it, crate::servers::nats::delivery::delivery_settler::PROGRESS)
        });
    }

    /// Returns messages that were not handed out to the server.
    async fn return_undelivered_messages(mut self) {
        if let Err(error) = self.inbox.drain().await {
            debug!(%error, "cannot unsubscribe");
        }
        for pulled in self.lane.take_all_ready() {
            self.core.link.send_without_reply(&pulled.reply, AGAIN);
        }
        while let Ok(Some(message)) = timeout(REST, self.inbox.next()).await {
            if let (None, Some(reply)) = (message.status, message.reply) {
                self.core.link.send_without_reply(&reply, AGAIN);
            }
        }
    }
}

fn parse_delivered_message(delivered: Delivered) -> Option<(Pulled, u16)> {
    let info = delivered.info().ok()?;
    let (sequence, attempt) = (info.stream_sequence, u32::try_from(info.delivered).unwrap_or(u32::MAX));
    let message = delivered.message;
    let partition = names::partition_of(&message.subject)?;
    let pulled = Pulled {
        partition,
        space: wire::space_of(&message),
        sequence,
        attempt,
        reply: message.reply.as_ref()?.to_string(),
        message,
        since: Instant::now(),
    };
    Some((pulled, partition))
}
