//! What the client of NATS says of its connection.

use async_nats::{Event, ServerError};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, warn};

/// Who hears what becomes of the connection.
#[derive(Default)]
pub(super) struct Heard {
    /// Number of times the connection was made.
    pub(super) connects: watch::Sender<u64>,
    /// When it was last lost.
    pub(super) lost: watch::Sender<Option<Instant>>,
    pub(super) refusals: watch::Sender<Refusals>,
}

/// What the server refused for want of permission.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    pub(super) count: u64,
    /// Its words on the last one, which name the subject.
    pub(super) last: String,
}

impl Heard {
    /// Takes in what the client says of its connection.
    pub(super) fn event(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.connects.send_modify(|it| *it += 1);
                debug!("connected to NATS");
            }
            Event::ServerError(ServerError::Other(text)) if text.to_lowercase().contains("permissions violation") => {
                self.refusals.send_modify(|it| {
                    it.count += 1;
                    it.last.clone_from(text);
                });
                warn!(refused = %text, "NATS refuses what this service asks: check its permissions");
            }
            Event::Disconnected => {
                self.lost.send_replace(Some(Instant::now()));
                warn!(%event, "connection to NATS");
            }
            Event::LameDuckMode
            | Event::Draining
            | Event::Closed
            | Event::SlowConsumer(_)
            | Event::ServerError(_)
            | Event::ClientError(_) => warn!(%event, "connection to NATS"),
        }
    }
}
