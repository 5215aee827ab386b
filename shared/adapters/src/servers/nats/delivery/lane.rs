//! Messages pulled for the members of one group in this process and not yet handed out: about one per partition.
//! Members wait here, and the feed pulls while a member waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_nats::Message;
use domain::port::Result;
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::servers::nats::wire;

/// State shared by the members of a group and the feed.
pub(crate) struct Lane {
    pub(crate) subject: String,
    pub(crate) group: String,
    /// Notifies the feed that a member waits.
    pub(crate) wanted: Notify,
    /// Ends the feed.
    pub(crate) closed: CancellationToken,
    state: Mutex<State>,
    waiting: AtomicUsize,
    /// Notifies members that a message is ready or the lane failed.
    pub(super) changed: Notify,
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
pub(crate) struct Pulled {
    pub(crate) partition: u16,
    pub(crate) message: Message,
    /// Position in the stream.
    pub(crate) sequence: u64,
    pub(crate) attempt: u32,
    /// Subject for settling it.
    pub(crate) reply: String,
    /// Time at which the ack wait of the message began.
    pub(crate) since: Instant,
}

/// A member that waits for a message.
pub(super) struct Waiting<'a>(&'a Lane);

impl Lane {
    pub(crate) fn new(subject: &str, group: &str) -> Lane {
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

    /// Adds a member. Returns false if the lane is closed.
    pub(super) fn add_member(&self) -> bool {
        let mut state = self.lock_state();
        let is_open = !self.closed.is_cancelled();
        state.members += usize::from(is_open);
        is_open
    }

    /// Removes a member, and closes the lane after the last one.
    pub(super) fn remove_member(&self) {
        let mut state = self.lock_state();
        state.members -= 1;
        if state.members == 0 {
            self.closed.cancel();
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Returns the partitions that have a ready message.
    pub(crate) fn ready_partitions(&self) -> Vec<u16> {
        self.lock_state().ready.iter().map(|it| it.partition).collect()
    }

    pub(crate) fn add_ready_message(&self, pulled: Pulled) {
        self.lock_state().ready.push_back(pulled);
        self.changed.notify_waiters();
    }

    /// Closes the lane with an error; its members have to subscribe again.
    pub(crate) fn close_with_error(&self, error: &PortError) {
        self.lock_state().failed = Some((error.kind(), error.detail().to_owned()));
        self.closed.cancel();
        self.changed.notify_waiters();
    }

    /// Restarts the ack wait of the ready messages. Returns the subjects for reporting this to the server.
    pub(crate) fn kept_alive(&self, now: Instant) -> Vec<String> {
        let renew = |it: &mut Pulled| {
            it.since = now;
            it.reply.clone()
        };
        self.lock_state().ready.iter_mut().map(renew).collect()
    }

    /// Removes the messages of an erased space.
    pub(crate) fn erase_space(&self, space: &str) {
        let of_space = |it: &Pulled| wire::space_of(&it.message) == space;
        self.lock_state().ready.retain(|it| !of_space(it));
    }

    /// Takes all messages that were not handed out.
    pub(crate) fn take_all_ready(&self) -> VecDeque<Pulled> {
        std::mem::take(&mut self.lock_state().ready)
    }

    /// Takes the next message, or the error of a closed lane; `None` if there is neither.
    pub(super) fn take_next_ready(&self) -> Option<Result<Pulled>> {
        let mut state = self.lock_state();
        if let Some(pulled) = state.ready.pop_front() {
            return Some(Ok(pulled));
        }
        let (kind, detail) = state.failed.as_ref()?;
        Some(Err(PortError::new("bus.deliver", *kind, detail.clone())))
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting<'_> {
    pub(super) fn new(lane: &Lane) -> Waiting<'_> {
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
