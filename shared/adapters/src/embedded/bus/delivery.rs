use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::port::{DeadLetterId, Delivery, Position, Result, Settler};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::lane::{Lane, Ticket};
use super::{Queue, queue};
use crate::embedded::store::Durability;

/// Pause of a message whose delivery failed, and of the consumer that tried. The cause, for example a full disk, would
/// make the next delivery fail too.
const REST: Duration = Duration::from_secs(1);

/// One consumer of a group.
pub(super) struct Consumer {
    queue: Arc<Queue>,
    lane: Arc<Lane>,
    changed: watch::Receiver<()>,
    /// End of the consumer's pause.
    rests: Option<Instant>,
}

/// Returns a message to the lane if its consumer is dropped while the delivery is being made.
struct TakenMessage<'a> {
    lane: &'a Lane,
    ticket: Ticket,
    rest: Option<Duration>,
}

struct Settling {
    queue: Arc<Queue>,
    lane: Arc<Lane>,
    ticket: Ticket,
}

impl Consumer {
    pub(super) fn new(queue: Arc<Queue>, lane: Arc<Lane>) -> Consumer {
        let changed = lane.watch_changes();
        Consumer {
            queue,
            lane,
            changed,
            rests: None,
        }
    }

    /// Waits for the next delivery. Cancel safe: no delivery is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Delivery> {
        if let Some(until) = self.rests {
            sleep_until(until).await;
            self.rests = None;
        }
        loop {
            let now = Instant::now();
            let wake = match self.lane.take_next_ready(now, now + self.queue.ack_wait) {
                Ok(ticket) => match self.make_delivery(ticket).await {
                    Ok(None) => continue,
                    Ok(Some(delivery)) => return Ok(delivery),
                    Err(error) => {
                        self.rests = Some(Instant::now() + REST);
                        return Err(error);
                    }
                },
                Err(wake) => wake,
            };
            let woken = async {
                match wake {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = woken => (),
                changed = self.changed.changed() => drop(changed),
            }
        }
    }

    /// Counts the delivery and reads the message. Returns `None` if the message was settled meanwhile.
    async fn make_delivery(&self, ticket: Ticket) -> Result<Option<Delivery>> {
        let mut taken = TakenMessage {
            lane: &self.lane,
            ticket,
            rest: Some(Duration::ZERO),
        };
        let (group, position) = (self.lane.group, ticket.position);
        let job = move |db: &_| queue::begin_delivery(db, group, position);
        let found = self
            .queue
            .store
            .run_write("bus.deliver", Durability::Process, job)
            .await;
        taken.rest = if found.is_ok() { None } else { Some(REST) };
        let Some((frame, attempt)) = found? else {
            self.lane.settle_message(position);
            return Ok(None);
        };
        let settler = Settling {
            queue: Arc::clone(&self.queue),
            lane: Arc::clone(&self.lane),
            ticket,
        };
        Ok(Some(Delivery {
            frame,
            position: Position(position),
            attempt,
            settler: Box::new(settler),
        }))
    }
}

impl Drop for TakenMessage<'_> {
    fn drop(&mut self) {
        if let Some(rest) = self.rest {
            self.lane.wait_until(self.ticket, Instant::now() + rest);
        }
    }
}

#[async_trait]
impl Settler for Settling {
    async fn done(self: Box<Self>) -> Result<()> {
        let (group, position) = (self.lane.group, self.ticket.position);
        let lane = Arc::clone(&self.lane);
        let job = move |db: &_| queue::settle_message(db, group, position);
        let then = move |(): &()| lane.settle_message(position);
        self.queue
            .store
            .write_then("bus.done", Durability::Process, job, then)
            .await
    }

    async fn retry_after(self: Box<Self>, delay: Duration) -> Result<()> {
        if !self.lane.is_current(self.ticket) {
            return Ok(());
        }
        let (group, position) = (self.lane.group, self.ticket.position);
        let (lane, ticket) = (Arc::clone(&self.lane), self.ticket);
        let job = move |db: &_| queue::retry_after(db, group, position, delay);
        let then = move |(): &()| lane.wait_until(ticket, Instant::now() + delay);
        self.queue
            .store
            .write_then("bus.retry_after", Durability::Process, job, then)
            .await
    }

    async fn dead_letter(self: Box<Self>, reason: &str) -> Result<Option<DeadLetterId>> {
        if !self.lane.is_current(self.ticket) {
            return Ok(None);
        }
        let (group, position, reason) = (self.lane.group, self.ticket.position, reason.to_owned());
        let lane = Arc::clone(&self.lane);
        let job = move |db: &_| queue::move_to_dead_letters(db, group, position, &reason);
        let then = move |_: &_| lane.settle_message(position);
        self.queue
            .store
            .write_then("bus.dead_letter", Durability::Power, job, then)
            .await
    }

    async fn extend(&self) -> Result<()> {
        self.lane.extend(self.ticket, Instant::now() + self.queue.ack_wait);
        Ok(())
    }
}
