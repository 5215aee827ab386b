use std::sync::Arc;
use std::time::Duration;

use async_nats::Message;
use async_trait::async_trait;
use domain::port::{DeadLetterId, Result, Settler};

use crate::servers::nats::Core;
use crate::servers::nats::delivery::lane::{Lane, Pulled};
use crate::servers::nats::stream::dead_letters::{self, AbandonedDelivery};

/// Restarts the ack wait.
pub(crate) const PROGRESS: &str = "+WPI";
/// Requests a redelivery at once.
pub(crate) const AGAIN: &str = "-NAK";
const DONE: &str = "+ACK";
/// Ends the delivery; the message is not redelivered.
const TERMINATE: &str = "+TERM";

/// Settles one delivery. If it is dropped unsettled, the message is redelivered at once if the server can be reached,
/// otherwise after the ack wait. After a failed attempt to settle, it is always redelivered after the ack wait, so that
/// a message that cannot be settled is not processed in a tight loop.
pub(crate) struct Settling {
    core: Arc<Core>,
    lane: Arc<Lane>,
    space: String,
    message: Message,
    sequence: u64,
    attempt: u32,
    reply: String,
    /// Whether settling was attempted.
    settled: bool,
}

impl Settling {
    pub(crate) fn new(core: &Arc<Core>, lane: &Arc<Lane>, pulled: Pulled) -> Settling {
        Settling {
            core: Arc::clone(core),
            lane: Arc::clone(lane),
            space: pulled.space,
            message: pulled.message,
            sequence: pulled.sequence,
            attempt: pulled.attempt,
            reply: pulled.reply,
            settled: false,
        }
    }

    async fn settle_delivery(&mut self, operation: &'static str, verdict: &str) -> Result<()> {
        self.settled = true;
        self.core.link.settle_delivery(operation, &self.reply, verdict).await
    }
}

#[async_trait]
impl Settler for Settling {
    async fn done(mut self: Box<Self>) -> Result<()> {
        self.settle_delivery("bus.done", DONE).await
    }

    async fn retry_after(mut self: Box<Self>, delay: Duration) -> Result<()> {
        let verdict = format!("{AGAIN} {{\"delay\":{}}}", delay.as_nanos());
        let verdict = if delay.is_zero() { AGAIN } else { verdict.as_str() };
        self.settle_delivery("bus.retry_after", verdict).await
    }

    async fn dead_letter(mut self: Box<Self>, reason: &str) -> Result<Option<DeadLetterId>> {
        self.settled = true;
        let given = AbandonedDelivery {
            subject: &self.lane.subject,
            group: &self.lane.group,
            message: &self.message,
            sequence: self.sequence,
            attempt: self.attempt,
            reason,
        };
        let id = dead_letters::store_dead_letter(&self.core, &given).await?;
        self.settle_delivery("bus.dead_letter", TERMINATE).await?;
        Ok(id)
    }

    async fn extend(&self) -> Result<()> {
        self.core.link.wait_until_ready("bus.extend").await?;
        self.core.link.send_without_reply(&self.reply, PROGRESS);
        Ok(())
    }
}

impl Drop for Settling {
    fn drop(&mut self) {
        if !self.settled {
            self.core.link.send_without_reply(&self.reply, AGAIN);
        }
        self.lane.end_delivery(&self.space);
    }
}
