use std::time::Duration;

use domain::port::{ModelRole, Usage};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Metrics;

/// The outcome of a language model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelOutcome {
    /// The reply was usable.
    Done,
    /// The reply was unreadable.
    Unreadable,
    /// There was no reply.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    role: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Counted {
    role: &'static str,
    direction: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Role {
    role: &'static str,
}

/// The metrics of language models.
pub(super) struct Model {
    calls: Family<Called, Counter>,
    times: Family<Role, Histogram, fn() -> Histogram>,
    tokens: Family<Counted, Counter>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            calls: Family::default(),
            times: Family::new_with_constructor(|| Histogram::new([0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0])),
            tokens: Family::default(),
        }
    }
}

impl Model {
    pub(super) fn register_in(&self, it: &mut Registry) {
        it.register("mnemic_model_calls", "Calls of a language model", self.calls.clone());
        it.register(
            "mnemic_model_duration_seconds",
            "Time of a call of a language model",
            self.times.clone(),
        );
        it.register(
            "mnemic_model_tokens",
            "Tokens that a language model read and wrote, as it counts them",
            self.tokens.clone(),
        );
    }
}

impl Metrics {
    /// Counts one language model call.
    pub fn count_model_call(&self, role: ModelRole, outcome: ModelOutcome, usage: Usage, time: Duration) {
        let role = role.name();
        let outcome = match outcome {
            ModelOutcome::Done => "done",
            ModelOutcome::Unreadable => "unreadable",
            ModelOutcome::Failed => "failed",
        };
        let model = &self.0.model;
        model.calls.get_or_create(&Called { role, outcome }).inc();
        model.times.get_or_create(&Role { role }).observe(time.as_secs_f64());
        for (direction, tokens) in [("prompt", usage.prompt_tokens), ("completion", usage.completion_tokens)] {
            model
                .tokens
                .get_or_create(&Counted { role, direction })
                .inc_by(tokens.into());
        }
    }
}
