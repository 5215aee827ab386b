use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Metrics;

/// The outcome of sending an event to a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookOutcome {
    /// The receiver accepted it.
    Delivered,
    /// The receiver did not accept it; it will be sent again.
    Retried,
    /// The receiver did not accept it; it will not be sent again.
    GivenUp,
    /// The event was removed from a full queue to make room for a newer event.
    Dropped,
    /// The receiver answered 410: this event and all events after it are dropped.
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Sent {
    outcome: &'static str,
}

/// The metrics of webhooks.
#[derive(Default)]
pub(super) struct Webhooks(Family<Sent, Counter>);

impl Webhooks {
    pub(super) fn register_in(&self, it: &mut Registry) {
        let help = "Events for webhooks, by outcome; every attempt counts";
        it.register("mnemic_webhooks", help, self.0.clone());
    }
}

impl Metrics {
    /// Counts `events` webhook events with this outcome.
    pub fn count_webhook_events(&self, outcome: WebhookOutcome, events: u64) {
        let outcome = match outcome {
            WebhookOutcome::Delivered => "delivered",
            WebhookOutcome::Retried => "retried",
            WebhookOutcome::GivenUp => "given_up",
            WebhookOutcome::Dropped => "dropped",
            WebhookOutcome::Stopped => "stopped",
        };
        self.0.webhooks.0.get_or_create(&Sent { outcome }).inc_by(events);
    }
}
