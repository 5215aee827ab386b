//! Connection events of the NATS client.

use async_nats::{Event, ServerError};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, warn};

/// Publishes the state of the connection to its watchers.
#[derive(Default)]
pub(super) struct ConnectionState {
    /// Number of times the client connected.
    pub(super) connects: watch::Sender<u64>,
    /// Time at which the connection was last lost.
    pub(super) lost: watch::Sender<Option<Instant>>,
    pub(super) refusals: watch::Sender<Refusals>,
}

/// Operations that the server refused because of missing permissions.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    pub(super) count: u64,
    /// The server's text about the last refusal; it names the subject.
    pub(super) last: String,
}

impl ConnectionState {
    /// Handles a connection event of the client.
    pub(super) fn handle_event(&self, event: &Event) {
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
                warn!(refused = %text, "NATS refuses a request of this service: check its permissions");
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
