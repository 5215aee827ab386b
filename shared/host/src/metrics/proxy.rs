use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Metrics;

/// The outcome of a chat that was forwarded to a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProxyOutcome {
    /// The model replied completely.
    Replied,
    /// The reply broke off, or the caller disconnected.
    Cut,
    /// The endpoint answered with an error.
    Refused,
    /// The endpoint did not answer.
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Passed {
    outcome: &'static str,
    evidence: &'static str,
}

/// The metrics of the proxy.
#[derive(Default)]
pub(super) struct Proxy(Family<Passed, Counter>);

impl Proxy {
    pub(super) fn register_in(&self, it: &mut Registry) {
        let help = "Chats forwarded to a language model, by outcome and by whether the memory had evidence";
        it.register("mnemic_proxy_chats", help, self.0.clone());
    }
}

impl Metrics {
    /// Counts one forwarded chat; `remembered` is true if evidence was sent with it.
    pub fn count_proxied_chat(&self, outcome: ProxyOutcome, remembered: bool) {
        let outcome = match outcome {
            ProxyOutcome::Replied => "replied",
            ProxyOutcome::Cut => "cut",
            ProxyOutcome::Refused => "refused",
            ProxyOutcome::Unreachable => "unreachable",
        };
        let evidence = if remembered { "found" } else { "none" };
        self.0.proxy.0.get_or_create(&Passed { outcome, evidence }).inc();
    }
}
