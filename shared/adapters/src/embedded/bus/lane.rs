//! The unsettled messages of one group, in memory: which are ready, waiting, or delivered. A delivered message is ready
//! for redelivery when its visibility timeout (`ack_wait`) ends.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

/// The pending messages of a group. Ready messages are taken round robin over the spaces, and oldest first within a
/// space.
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
    ready: HashMap<Arc<str>, BTreeSet<u64>>,
    /// Spaces with ready messages; the next one to be served is at the front.
    turns: VecDeque<Arc<str>>,
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
}

impl Lane {
    /// Makes a lane from the pending messages in the file: position, space, and when visible (`None`: now).
    pub(super) fn new(group: i64, pending: impl IntoIterator<Item = (u64, String, Option<Instant>)>) -> Lane {
        let mut state = State::default();
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
        self.lock_state().remove_message(position);
    }

    /// Returns true if the message is not settled and has no later delivery.
    pub(super) fn is_current(&self, ticket: Ticket) -> bool {
        self.lock_state()
            .pending
            .get(&ticket.position)
            .is_some_and(|it| it.delivery == ticket.number)
    }

    /// Makes the message ready at `until` if the delivery is current; otherwise does nothing.
    pub(super) fn wait_until(&self, ticket: Ticket, until: Instant) {
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
        match self.ready.get(&space) {
            Some(left) if !left.is_empty() => self.turns.push_back(space),
            _ => drop(self.ready.remove(&space)),
        }
        let Some(position) = position else {
            return self.take_next_ready(now, deadline);
        };
        self.deliveries += 1;
        let number = self.deliveries;
        if let Some(it) = self.pending.get_mut(&position) {
            (it.until, it.delivery) = (Some(deadline), number);
            self.wakes.insert((deadline, position));
        }
        Ok(Ticket { position, number })
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
        let ready = self.ready.entry(Arc::clone(&space)).or_default();
        if ready.is_empty() {
            self.turns.push_back(space);
        }
        ready.insert(position);
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
