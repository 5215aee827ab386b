//! The unsettled messages of one group, in memory: which are ready, waiting, or delivered. A delivered message is ready
//! for redelivery when its visibility timeout (`ack_wait`) ends.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

/// The pending messages of a group. Ready messages are taken round robin over the spaces, and oldest first within a
/// space. A space with as many unsettled deliveries as it may have gets no turn.
pub(super) struct Lane {
    /// Database row of the group.
    pub(super) group: i64,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

/// Identifies one delivery: the message, and the number of the delivery in this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) position: u64,
    number: u64,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Pending>,
    /// The ready messages of each space that has any.
    ready: HashMap<Arc<str>, BTreeSet<u64>>,
    /// Spaces with ready messages and fewer than `out_max` deliveries out; the next one to be served is at the front.
    turns: VecDeque<Arc<str>>,
    /// Number of deliveries of each space that were not settled and whose visibility timeout has not ended.
    out: HashMap<Arc<str>, usize>,
    /// Maximum number of deliveries of a space that are out.
    out_max: usize,
    /// Time at which each waiting message becomes ready.
    wakes: BTreeSet<(Instant, u64)>,
    deliveries: u64,
}

struct Pending {
    space: Arc<str>,
    /// Time at which the message becomes ready; `None` if it is ready.
    until: Option<Instant>,
    /// Number of the latest delivery, 0 before the first.
    delivery: u64,
    /// Whether that delivery counts in [`State::out`].
    is_out: bool,
}

impl Lane {
    /// Makes a lane from the pending messages in the file: position, space, and when visible (`None`: now). At most
    /// `out_max` messages of a space are delivered at a time; at least 1.
    pub(super) fn new(
        group: i64,
        out_max: usize,
        pending: impl IntoIterator<Item = (u64, String, Option<Instant>)>,
    ) -> Lane {
        let mut state = State {
            out_max: out_max.max(1),
            ..State::default()
        };
        for (position, space, until) in pending {
            state.put_message(position, &space, until);
        }
        Lane {
            group,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        }
    }

    /// Returns a receiver that is notified of every later change.
    pub(super) fn watch_changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn len(&self) -> u64 {
        self.lock_state().pending.len() as u64
    }

    /// Takes the next ready message; it becomes ready again at `deadline` unless it is settled before. If there is
    /// none, returns when one may become ready (`None`: only after a change).
    pub(super) fn take_next_ready(&self, now: Instant, deadline: Instant) -> Result<Ticket, Option<Instant>> {
        self.lock_state().take_next_ready(now, deadline)
    }

    /// Makes a message ready, even if it is new to the lane.
    pub(super) fn add_ready_message(&self, position: u64, space: &str) {
        self.lock_state().put_message(position, space, None);
        self.changed.send_replace(());
    }

    /// Removes a settled message.
    pub(super) fn settle_message(&self, position: u64) {
        let mut state = self.lock_state();
        state.remove_message(position);
        // Its space may have a turn again.
        if !state.turns.is_empty() {
            self.changed.send_replace(());
        }
    }

    /// Returns true if the message is not settled and has no later delivery.
    pub(super) fn is_current(&self, ticket: Ticket) -> bool {
        self.lock_state()
            .pending
            .get(&ticket.position)
            .is_some_and(|it| it.delivery == ticket.number)
    }

    /// Ends the delivery and makes the message ready at `until`, if the delivery is current; otherwise does nothing.
    pub(super) fn wait_until(&self, ticket: Ticket, until: Instant) {
        let mut state = self.lock_state();
        if state.is_current(ticket) {
            state.wait_until(ticket.position, until);
            state.end_delivery(ticket.position);
            self.changed.send_replace(());
        }
    }

    /// Makes the message ready only at `until` if the delivery is current, because it is still worked on; otherwise does
    /// nothing.
    pub(super) fn extend(&self, ticket: Ticket, until: Instant) {
        let mut state = self.lock_state();
        if state.is_current(ticket) {
            state.wait_until(ticket.position, until);
            self.changed.send_replace(());
        }
    }

    /// Removes all messages of a space.
    pub(super) fn erase_space(&self, space: &str) {
        let mut state = self.lock_state();
        let of_space = |(position, it): (&u64, &Pending)| (&*it.space == space).then_some(*position);
        let positions: Vec<u64> = state.pending.iter().filter_map(of_space).collect();
        positions
            .into_iter()
            .for_each(|position| state.remove_message(position));
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_current(&self, ticket: Ticket) -> bool {
        self.pending
            .get(&ticket.position)
            .is_some_and(|it| it.delivery == ticket.number)
    }

    fn take_next_ready(&mut self, now: Instant, deadline: Instant) -> Result<Ticket, Option<Instant>> {
        while let Some((at, position)) = self.wakes.first().copied()
            && at <= now
        {
            self.make_ready(position);
        }
        let Some(space) = self.turns.pop_front() else {
            return Err(self.wakes.first().map(|it| it.0));
        };
        let position = self.ready.get_mut(&space).and_then(BTreeSet::pop_first);
        let has_more = self.ready.get(&space).is_some_and(|it| !it.is_empty());
        if !has_more {
            self.ready.remove(&space);
        }
        let Some(position) = position else {
            return self.take_next_ready(now, deadline);
        };
        self.deliveries += 1;
        let number = self.deliveries;
        if let Some(it) = self.pending.get_mut(&position) {
            (it.until, it.delivery, it.is_out) = (Some(deadline), number, true);
            self.wakes.insert((deadline, position));
            *self.out.entry(Arc::clone(&space)).or_default() += 1;
        }
        if has_more && self.may_have_turn(&space) {
            self.turns.push_back(space);
        }
        Ok(Ticket { position, number })
    }

    fn may_have_turn(&self, space: &Arc<str>) -> bool {
        self.out.get(space).is_none_or(|it| *it < self.out_max)
    }

    /// Counts the delivery of a message as ended, unless it was before. Its space gets a turn if it was waiting for this.
    fn end_delivery(&mut self, position: u64) {
        if let Some(it) = self.pending.get_mut(&position)
            && std::mem::take(&mut it.is_out)
        {
            let space = Arc::clone(&it.space);
            self.count_ended(&space);
        }
    }

    fn count_ended(&mut self, space: &Arc<str>) {
        let had_turn = self.may_have_turn(space);
        if let Some(out) = self.out.get_mut(space) {
            *out -= 1;
            if *out == 0 {
                self.out.remove(space);
            }
        }
        if !had_turn && self.ready.contains_key(space) {
            self.turns.push_back(Arc::clone(space));
        }
    }

    fn put_message(&mut self, position: u64, space: &str, until: Option<Instant>) {
        self.remove_message(position);
        let space = self
            .ready
            .get_key_value(space)
            .map_or_else(|| Arc::from(space), |(known, _)| Arc::clone(known));
        self.pending.insert(
            position,
            Pending {
                space,
                until,
                delivery: 0,
                is_out: false,
            },
        );
        match until {
            Some(until) => drop(self.wakes.insert((until, position))),
            None => self.make_ready(position),
        }
    }

    fn make_ready(&mut self, position: u64) {
        let Some(it) = self.pending.get_mut(&position) else {
            return;
        };
        if let Some(until) = it.until.take() {
            self.wakes.remove(&(until, position));
        }
        let space = Arc::clone(&it.space);
        let may_have_turn = self.may_have_turn(&space);
        let ready = self.ready.entry(Arc::clone(&space)).or_default();
        if ready.is_empty() && may_have_turn {
            self.turns.push_back(space);
        }
        ready.insert(position);
        self.end_delivery(position);
    }

    fn wait_until(&mut self, position: u64, until: Instant) {
        let Some(it) = self.pending.get_mut(&position) else {
            return;
        };
        match it.until.replace(until) {
            Some(before) => drop(self.wakes.remove(&(before, position))),
            None => remove_ready_position(&mut self.ready, &mut self.turns, &it.space, position),
        }
        self.wakes.insert((until, position));
    }

    fn remove_message(&mut self, position: u64) {
        let Some(it) = self.pending.remove(&position) else {
            return;
        };
        match it.until {
            Some(until) => drop(self.wakes.remove(&(until, position))),
            None => remove_ready_position(&mut self.ready, &mut self.turns, &it.space, position),
        }
        if it.is_out {
            self.count_ended(&it.space);
        }
    }
}

fn remove_ready_position(
    ready: &mut HashMap<Arc<str>, BTreeSet<u64>>,
    turns: &mut VecDeque<Arc<str>>,
    space: &Arc<str>,
    position: u64,
) {
    let Some(positions) = ready.get_mut(space) else { return };
    positions.remove(&position);
    if positions.is_empty() {
        ready.remove(space);
        turns.retain(|it| it != space);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns a lane with the messages 1 to 20 of space a, then 21 of space b.
    fn lane_with_a_flood(out_max: usize) -> Lane {
        let lane = Lane::new(1, out_max, []);
        (1..=20).for_each(|it| lane.add_ready_message(it, "a"));
        lane.add_ready_message(21, "b");
        lane
    }

    fn take(lane: &Lane, now: Instant) -> Option<Ticket> {
        lane.take_next_ready(now, now + Duration::from_secs(30)).ok()
    }

    fn positions(taken: &[Ticket]) -> Vec<u64> {
        taken.iter().map(|it| it.position).collect()
    }

    #[test]
    fn a_space_whose_messages_are_not_settled_leaves_room_for_others() {
        let (lane, now) = (lane_with_a_flood(2), Instant::now());
        let taken: Vec<Ticket> = std::iter::from_fn(|| take(&lane, now)).collect();
        assert_eq!(positions(&taken), [1, 21, 2]);
        lane.add_ready_message(22, "b");
        let changes = lane.watch_changes();
        lane.settle_message(1);
        assert!(changes.has_changed().unwrap(), "a consumer may wait for this");
        let taken: Vec<Ticket> = std::iter::from_fn(|| take(&lane, now)).collect();
        assert_eq!(positions(&taken), [22, 3]);
        let unbounded = lane_with_a_flood(usize::MAX);
        assert_eq!(std::iter::from_fn(|| take(&unbounded, now)).count(), 21);
    }

    #[test]
    fn a_delivery_ends_with_a_retry_its_timeout_or_its_space() {
        let (lane, now) = (lane_with_a_flood(1), Instant::now());
        let first = take(&lane, now).unwrap();
        lane.settle_message(21);
        lane.extend(first, now + Duration::from_secs(60));
        assert!(take(&lane, now).is_none(), "it is worked on");
        lane.wait_until(first, now + Duration::from_secs(90));
        let second = take(&lane, now).unwrap();
        assert_eq!((second.position, take(&lane, now).is_none()), (2, true));
        let later = now + Duration::from_secs(31);
        assert_eq!(take(&lane, later).unwrap().position, 2, "its timeout has ended");
        assert!(take(&lane, later).is_none());
        lane.erase_space("a");
        lane.add_ready_message(31, "a");
        assert_eq!(take(&lane, later).unwrap().position, 31);
        assert!(take(&lane, later).is_none());
    }
}
