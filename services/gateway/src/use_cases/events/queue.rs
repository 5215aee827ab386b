//! The queue of one receiver: bounded; each event has a due time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// An event on its way to a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outgoing {
    /// The id of its message.
    pub(super) id: String,
    /// JSON.
    pub(super) body: String,
    /// Number of attempts so far.
    pub(super) attempts: u32,
    /// Number in the order in which the events happened, assigned by the queue.
    number: u64,
}

/// A bounded queue. When it is full, the event that happened first is dropped.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
    most: usize,
}

#[derive(Default)]
struct Waiting {
    due: BTreeMap<(Instant, u64), Outgoing>,
    last: u64,
    stopped: bool,
}

/// Result of adding an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    /// The event is queued.
    Waits,
    /// The event that happened first was dropped because the queue was full; this may be the added event itself.
    OldestDropped,
    /// The queue was stopped.
    Stopped,
}

impl Queue {
    pub(super) fn new(most: usize) -> Queue {
        Queue {
            waiting: Mutex::default(),
            changed: Notify::new(),
            most,
        }
    }

    /// Adds an event that is due immediately.
    pub(super) fn push(&self, id: String, body: String) -> Queued {
        let number = {
            let mut waiting = self.lock_waiting();
            waiting.last += 1;
            waiting.last
        };
        let outgoing = Outgoing {
            id,
            body,
            attempts: 0,
            number,
        };
        self.push_due_at(outgoing, Instant::now())
    }

    /// Adds a new or returned event that is due at a moment.
    pub(super) fn push_due_at(&self, outgoing: Outgoing, due: Instant) -> Queued {
        let mut waiting = self.lock_waiting();
        if waiting.stopped {
            return Queued::Stopped;
        }
        waiting.due.insert((due, outgoing.number), outgoing);
        let queued = match waiting.due.len() > self.most {
            true => {
                let oldest = waiting.due.keys().min_by_key(|it| it.1).copied();
                oldest.and_then(|it| waiting.due.remove(&it));
                Queued::OldestDropped
            }
            false => Queued::Waits,
        };
        drop(waiting);
        self.changed.notify_one();
        queued
    }

    /// Returns the next event when it is due; never returns after the queue was stopped.
    pub(super) async fn pop_when_due(&self) -> Outgoing {
        loop {
            let first = {
                let mut waiting = self.lock_waiting();
                let first = waiting.due.keys().next().map(|it| it.0);
                if first.is_some_and(|it| it <= Instant::now())
                    && let Some((_, outgoing)) = waiting.due.pop_first()
                {
                    return outgoing;
                }
                first
            };
            match first {
                Some(due) => tokio::select! {
                    () = self.changed.notified() => {}
                    () = sleep_until(due) => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    /// Drops all events and accepts no more; returns the number of dropped events.
    pub(super) fn stop_and_clear(&self) -> u64 {
        let mut waiting = self.lock_waiting();
        waiting.stopped = true;
        std::mem::take(&mut waiting.due).len() as u64
    }

    fn lock_waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    fn push_event(queue: &Queue, id: &str) -> Queued {
        queue.push(id.to_owned(), String::new())
    }

    #[tokio::test]
    async fn a_full_queue_drops_the_event_that_happened_first() {
        let queue = Queue::new(2);
        assert_eq!(
            [push_event(&queue, "1"), push_event(&queue, "2")],
            [Queued::Waits, Queued::Waits]
        );
        assert_eq!(push_event(&queue, "3"), Queued::OldestDropped);
        let second = queue.pop_when_due().await;
        assert_eq!(second.id, "2");
        assert_eq!(push_event(&queue, "4"), Queued::Waits);
        // The event returns to the queue as the one that happened before all others.
        assert_eq!(queue.push_due_at(second, Instant::now()), Queued::OldestDropped);
        assert_eq!(
            [queue.pop_when_due().await.id, queue.pop_when_due().await.id],
            ["3", "4"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_waits_until_it_is_due_and_delays_no_other() {
        let queue = Queue::new(9);
        push_event(&queue, "later");
        let later = queue.pop_when_due().await;
        queue.push_due_at(later, Instant::now() + Duration::from_millis(50));
        assert!(queue.pop_when_due().now_or_never().is_none());
        push_event(&queue, "now");
        assert_eq!(queue.pop_when_due().now_or_never().unwrap().id, "now");
        assert_eq!(queue.pop_when_due().await.id, "later");
    }

    #[tokio::test]
    async fn a_stopped_queue_holds_nothing() {
        let queue = Queue::new(9);
        push_event(&queue, "1");
        push_event(&queue, "2");
        assert_eq!(queue.stop_and_clear(), 2);
        assert_eq!(push_event(&queue, "3"), Queued::Stopped);
        assert!(queue.pop_when_due().now_or_never().is_none());
    }
}
