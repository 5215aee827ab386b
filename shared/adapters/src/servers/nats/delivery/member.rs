//! Members of a group, which receive the messages of its lane.

use std::sync::Arc;

use domain::port::{Delivery, Position, Result};

use crate::servers::nats::delivery::delivery_settler::{PROGRESS, Settling};
use crate::servers::nats::delivery::lane::{Lane, Pulled, Waiting};
use crate::servers::nats::{Core, wire};

/// One member of a group. When the last one is dropped, the lane closes.
pub(crate) struct Member {
    core: Arc<Core>,
    lane: Arc<Lane>,
}

impl Member {
    /// Joins the group of a lane. Returns `None` if the lane is closed.
    pub(crate) fn join(lane: &Arc<Lane>, core: &Arc<Core>) -> Option<Member> {
        lane.add_member().then(|| Member {
            core: Arc::clone(core),
            lane: Arc::clone(lane),
        })
    }

    /// Waits for the next delivery; an error is the end. Cancel safe: no delivery is lost if the future is dropped.
    pub(crate) async fn next(&self) -> Result<Delivery> {
        loop {
            let changed = self.lane.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(pulled) = self.lane.take_next_ready() {
                return pulled.map(|it| self.make_delivery(it));
            }
            let waiting = Waiting::new(&self.lane);
            changed.await;
            drop(waiting);
        }
    }

    fn make_delivery(&self, pulled: Pulled) -> Delivery {
        if pulled.since.elapsed() > self.core.options.ack_wait() / 8 {
            self.core.link.send_without_reply(&pulled.reply, PROGRESS);
        }
        let frame = wire::frame_of(&self.lane.subject, &pulled.message);
        let replayed = pulled.message.headers.as_ref();
        let position = replayed.and_then(|it| wire::number_header(it, wire::POSITION));
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
        self.lane.remove_member();
    }
}
