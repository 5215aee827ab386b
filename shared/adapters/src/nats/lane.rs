//! Messages pulled for the members of one group in this process and not yet handed out: about one per partition.
//! Members wait here, and the feed pulls while a member waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::Message;
use domain::port::{Delivery, Position, Result};
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Core;
use super::settle::{PROGRESS, Settling};
use super::wire;

/// State shared by the members of a group and the feed.
pub(super) struct Lane {
    pub(super) subject: String,
    pub(super) group: String,
    /// Notifies the feed that a member waits.
    pub(super) wanted: Notify,
    /// Ends the feed.
    pub(super) closed: CancellationToken,
    state: Mutex<State>,
    waiting: AtomicUsize,
    /// Notifies members that a message is ready or the lane failed.
    changed: Notify,
}

#[derive(Default)]
struct State {
    members: usize,
    /// In order of arrival. A partition is pulled again only when its last message is handed out, so partitions take
    /// turns.
    ready: VecDeque<Pulled>,
    failed: Option<(ErrorKind, String)>,
}

/// A message that the server delivered to this process.
pub(super) struct Pulled {
    pub(super) partition: u16,
    pub(super) message: Message,
    /// Position in the stream.
    pub(super) sequence: u64,
    pub(super) attempt: u32,
    /// Subject for settling it.
    pub(super) reply: String,
    /// When its ack wait began.
    pub(super) since: Instant,
}

/// One member of a group. When the last one is dropped, the lane closes.
pub(super) struct Member {
    core: Arc<Core>,
    lane: Arc<Lane>,
}

struct Waiting<'a>(&'a Lane);

impl Lane {
    pub(super) fn new(subject: &str, group: &str) -> Lane {
        Lane {
            subject: subject.to_owned(),
            group: group.to_owned(),
            wanted: Notify::new(),
            closed: CancellationToken::new(),
            state: Mutex::default(),
            waiting: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    /// Adds a member. Returns `None` if the lane is closed.
    pub(super) fn join(self: &Arc<Lane>, core: &Arc<Core>) -> Option<Member> {
        let mut state = self.state();
        if self.closed.is_cancelled() {
            return None;
        }
        state.members += 1;
        Some(Member {
            core: Arc::clone(core),
            lane: Arc::clone(self),
        })
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Returns the partitions that have a ready message.
    pub(super) fn filled(&self) -> Vec<u16> {
        self.state().ready.iter().map(|it| it.partition).collect()
    }

    pub(super) fn put(&self, pulled: Pulled) {
        self.state().ready.push_back(pulled);
        self.changed.notify_waiters();
    }

    /// Closes the lane with an error; its members have to subscribe again.
    pub(super) fn fail(&self, error: &PortError) {
        self.state().failed = Some((error.kind(), error.detail().to_owned()));
        self.closed.cancel();
        self.changed.notify_waiters();
    }

    /// Restarts the ack wait of the ready messages. Returns the subjects for reporting this to the server.
    pub(super) fn kept_alive(&self, now: Instant) -> Vec<String> {
        let renew = |it: &mut Pulled| {
            it.since = now;
            it.reply.clone()
        };
        self.state().ready.iter_mut().map(renew).collect()
    }

    /// Removes the messages of an erased space.
    pub(super) fn erase(&self, space: &str) {
        let of_space = |it: &Pulled| wire::space_of(&it.message) == space;
        self.state().ready.retain(|it| !of_space(it));
    }

    /// Takes all messages that were not handed out.
    pub(super) fn rest(&self) -> VecDeque<Pulled> {
        std::mem::take(&mut self.state().ready)
    }

    fn take(&self) -> Option<Result<Pulled>> {
        let mut state = self.state();
        if let Some(pulled) = state.ready.pop_front() {
            return Some(Ok(pulled));
        }
        let (kind, detail) = state.failed.as_ref()?;
        Some(Err(PortError::new("bus.deliver", *kind, detail.clone())))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Waits for the next delivery; an error is the end. Cancel safe: no delivery is lost if the future is dropped.
    pub(super) async fn next(&self) -> Result<Delivery> {
        loop {
            let changed = self.lane.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(pulled) = self.lane.take() {
                return pulled.map(|it| self.delivery(it));
            }
            let waiting = Waiting::new(&self.lane);
            changed.await;
            drop(waiting);
        }
    }

    fn delivery(&self, pulled: Pulled) -> Delivery {
        if pulled.since.elapsed() > self.core.options.ack_wait() / 8 {
            self.core.link.tell(&pulled.reply, PROGRESS);
        }
        let frame = wire::frame_of(&self.lane.subject, &pulled.message);
        let replayed = pulled.message.headers.as_ref();
        let position = replayed.and_then(|it| wire::number(it, wire::POSITION));
        Delivery {
            frame,
            position: Position(position.unwrap_or(pulled.sequence)),
            attempt: pulled.attempt,
            settler: Box::new(Settling::new(&self.core, &self.lane, pulled)),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.lane.state();
        state.members -= 1;
        if state.members == 0 {
            self.lane.closed.cancel();
        }
    }
}

impl Waiting<'_> {
    fn new(lane: &Lane) -> Waiting<'_> {
        lane.waiting.fetch_add(1, Ordering::SeqCst);
        lane.wanted.notify_one();
        Waiting(lane)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
