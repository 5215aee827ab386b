//! Settings of readings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings in `[writer.readings]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadingConfig {
    /// Whether a language model reads sessions, if one is configured for the role `write`.
    pub enabled: bool,
    /// Number of sessions read concurrently.
    pub in_flight_max: usize,
    /// Minutes after the last write to a session until its last passage counts as closed.
    pub quiet_minutes: u32,
    /// Seconds between a write to a session and the first look at it; later writes in this time are read together
    /// with it.
    pub delay_seconds: u32,
    /// Seconds for which a session stays leased to a worker that no longer responds, for example after a crash. Must
    /// exceed the duration of the calls in one turn; otherwise two workers read the same session.
    pub lease_seconds: u32,
    /// Number of earlier gists, from 0 to 20, that the model is shown with a passage, so that it can relate the
    /// passage to them.
    pub earlier_gists: usize,
    /// Whether the model looks at each passage a second time, with its first notes in view, for relations and facts
    /// that it missed. This needs a second call.
    pub thorough: bool,
    /// Maximum number of calls per space and day (UTC); after that, its sessions wait for the next day.
    pub calls_a_day: u32,
    /// Maximum number of prompt and completion tokens per space and day (UTC), with the same effect.
    pub tokens_a_day: u32,
}

impl Default for ReadingConfig {
    fn default() -> ReadingConfig {
        ReadingConfig {
            enabled: true,
            in_flight_max: 2,
            quiet_minutes: 30,
            delay_seconds: 5,
            lease_seconds: 1_800,
            earlier_gists: 8,
            thorough: false,
            calls_a_day: 2_000,
            tokens_a_day: 10_000_000,
        }
    }
}
