//! Messages pulled for the members of one group in this process and not yet handed out: about one per partition, and up
//! to [`READY_MAX`] while the spaces of these messages have as many deliveries as they may have. Members wait here, and
//! the feed pulls while a member waits.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_nats::Message;
use domain::port::Result;
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::store_rules::space_deliveries::deliveries_of_space_max;

/// Number of ready messages of a partition from which on it is not pulled, although none of them may be handed out.
const READY_MAX: usize = 8;

/// State shared by the members of a group and the feed.
pub(crate) struct Lane {
    pub(crate) subject: String,
    pub(crate) group: String,
    /// Notifies the feed that a member waits.
    pub(crate) wanted: Notify,
    /// Ends the feed.
    pub(crate) closed: CancellationToken,
    state: Mutex<State>,
    /// Maximum number of unsettled deliveries of a space.
    out_max: usize,
    waiting: AtomicUsize,
    /// Notifies members that a message is ready or the lane failed.
    pub(super) changed: Notify,
}

#[derive(Default)]
struct State {
    members: usize,
    /// In order of arrival. A partition is pulled again only when none of its messages may be handed out, so partitions
    /// take turns.
    ready: VecDeque<Pulled>,
    /// Number of unsettled deliveries of each space that has any. The messages of a space with as many as it may have
    /// stay ready.
    out: HashMap<String, usize>,
    failed: Option<(ErrorKind, String)>,
}

/// A message that the server delivered to this process.
pub(crate) struct Pulled {
    pub(crate) partition: u16,
    pub(crate) space: String,
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
            out_max: deliveries_of_space_max(subject),
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

    /// Returns the partitions that are not pulled now: those with a message that may be handed out, or with
    /// [`READY_MAX`] ready messages.
    pub(crate) fn filled_partitions(&self) -> Vec<u16> {
        self.lock_state().filled_partitions(self.out_max)
    }

    /// Adds a message. If it was delivered before and is still ready, this delivery replaces the earlier one.
    pub(crate) fn add_ready_message(&self, pulled: Pulled) {
        self.lock_state().add_ready_message(pulled);
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
        self.lock_state().ready.retain(|it| it.space != space);
        // The partition of the space may be pulled again.
        self.wanted.notify_one();
    }

    /// Takes all messages that were not handed out.
    pub(crate) fn take_all_ready(&self) -> VecDeque<Pulled> {
        std::mem::take(&mut self.lock_state().ready)
    }

    /// Takes the oldest message of the next space that may have another delivery, or the error of a closed lane; `None`
    /// if there is neither. [`Self::end_delivery`] has to follow.
    pub(super) fn take_next_ready(&self) -> Option<Result<Pulled>> {
        let mut state = self.lock_state();
        if let Some(pulled) = state.take_next_ready(self.out_max) {
            return Some(Ok(pulled));
        }
        let (kind, detail) = state.failed.as_ref()?;
        Some(Err(PortError::new("bus.deliver", *kind, detail.clone())))
    }

    /// Counts a delivery of a space as ended, whether it was settled or not.
    pub(super) fn end_delivery(&self, space: &str) {
        let mut state = self.lock_state();
        if let Some(out) = state.out.get_mut(space) {
            *out -= 1;
            if *out == 0 {
                state.out.remove(space);
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_next_ready(&mut self, out_max: usize) -> Option<Pulled> {
        let first = self.ready.iter().find(|it| self.may_go(it, out_max))?;
        let of_space = self.ready.iter().filter(|it| it.space == first.space);
        let oldest = of_space.map(|it| it.sequence).min()?;
        let place = self.ready.iter().position(|it| it.sequence == oldest)?;
        let pulled = self.ready.remove(place)?;
        *self.out.entry(pulled.space.clone()).or_default() += 1;
        Some(pulled)
    }

    fn may_go(&self, pulled: &Pulled, out_max: usize) -> bool {
        self.out.get(&pulled.space).is_none_or(|out| *out < out_max)
    }

    fn add_ready_message(&mut self, pulled: Pulled) {
        match self.ready.iter_mut().find(|it| it.sequence == pulled.sequence) {
            Some(earlier) => *earlier = pulled,
            None => self.ready.push_back(pulled),
        }
    }

    fn filled_partitions(&self, out_max: usize) -> Vec<u16> {
        let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
        for it in &self.ready {
            // A message that may be handed out fills its partition alone.
            let count = if self.may_go(it, out_max) { READY_MAX } else { 1 };
            *counts.entry(it.partition).or_default() += count;
        }
        counts.retain(|_, count| *count >= READY_MAX);
        counts.into_keys().collect()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::message::{Message as _, RecordsAcceptedV1, UnitsOrganisedV1};

    use super::*;

    fn pulled(space: &str, sequence: u64) -> Pulled {
        Pulled {
            partition: 0,
            space: space.to_owned(),
            message: Message {
                subject: "s".into(),
                reply: None,
                payload: Vec::new().into(),
                headers: None,
                status: None,
                description: None,
                length: 0,
            },
            sequence,
            attempt: 1,
            reply: String::new(),
            since: Instant::now(),
        }
    }

    fn take_all(lane: &Lane) -> Vec<u64> {
        std::iter::from_fn(|| lane.take_next_ready())
            .map(|it| it.unwrap().sequence)
            .collect()
    }

    #[test]
    fn a_space_whose_messages_are_not_settled_leaves_room_for_others() {
        let lane = Lane::new(UnitsOrganisedV1::SUBJECT, "clusterer");
        (1..=5).for_each(|it| lane.add_ready_message(pulled("a", it)));
        lane.add_ready_message(pulled("b", 6));
        assert_eq!(take_all(&lane), [1, 2, 6]);
        lane.end_delivery("a");
        assert_eq!(take_all(&lane), [3]);
        lane.end_delivery("b");
        assert_eq!((take_all(&lane), lane.take_all_ready().len()), (Vec::new(), 2));

        let unbounded = Lane::new(RecordsAcceptedV1::SUBJECT, "writer");
        (1..=5).for_each(|it| unbounded.add_ready_message(pulled("a", it)));
        assert_eq!(take_all(&unbounded), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_partition_is_pulled_while_only_messages_that_may_not_go_are_ready() {
        let lane = Lane::new(UnitsOrganisedV1::SUBJECT, "clusterer");
        lane.add_ready_message(pulled("a", 1));
        lane.add_ready_message(Pulled {
            partition: 1,
            ..pulled("c", 100)
        });
        assert_eq!(lane.filled_partitions(), [0, 1]);
        lane.add_ready_message(pulled("a", 2));
        assert_eq!(take_all(&lane), [1, 100, 2]);

        // Messages of the slow space arrive before one of another space in the same partition.
        (3..10).for_each(|it| lane.add_ready_message(pulled("a", it)));
        assert_eq!((take_all(&lane), lane.filled_partitions()), (Vec::new(), Vec::new()));
        lane.add_ready_message(pulled("b", 10));
        assert_eq!(lane.filled_partitions(), [0]);
        assert_eq!((take_all(&lane), lane.filled_partitions()), (vec![10], Vec::new()));
        lane.add_ready_message(pulled("a", 11));
        assert_eq!((take_all(&lane), lane.filled_partitions()), (Vec::new(), vec![0]));

        lane.end_delivery("a");
        assert_eq!((take_all(&lane), lane.filled_partitions()), (vec![3], Vec::new()));
        lane.erase_space("a");
        assert!(lane.take_all_ready().is_empty());
    }

    #[test]
    fn ready_messages_stay_alive_and_the_oldest_of_a_space_goes_first() {
        let lane = Lane::new(UnitsOrganisedV1::SUBJECT, "clusterer");
        (1..=5).for_each(|it| lane.add_ready_message(pulled("a", it)));
        assert_eq!(take_all(&lane), [1, 2]);
        let later = Instant::now() + Duration::from_secs(10);
        assert_eq!(lane.kept_alive(later).len(), 3);
        // Message 1 is delivered again after a failed attempt, and 4 because its ack wait ended.
        for sequence in [1, 4] {
            lane.add_ready_message(Pulled {
                attempt: 2,
                ..pulled("a", sequence)
            });
        }
        (0..2).for_each(|_| lane.end_delivery("a"));
        assert_eq!(take_all(&lane), [1, 3]);
        let kept = lane.take_all_ready();
        let shown: Vec<[u64; 2]> = kept.iter().map(|it| [it.sequence, it.attempt.into()]).collect();
        assert_eq!((shown, kept[1].since), (vec![[4, 2], [5, 1]], later));
    }
}
