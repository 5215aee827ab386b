//! Settings of readings.

use anyhow::ensure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum of `delay_seconds`: a day. The stores treat a session that is due much later as due at once.
const DELAY_SECONDS_MAX: u32 = 86_400;

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
    /// Seconds between a write to a session and the first look at it, at most 86,400 (a day); later writes in this time
    /// are read together with it.
    #[schemars(range(max = 86_400))]
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

impl ReadingConfig {
    /// Checks that the limits can work.
    pub(crate) fn check_settings(&self) -> anyhow::Result<()> {
        ensure!(
            self.delay_seconds <= DELAY_SECONDS_MAX,
            "[writer.readings] delay_seconds must be at most {DELAY_SECONDS_MAX}"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use host::settings::schema_of;

    use super::*;

    #[test]
    fn the_delay_before_a_session_is_read_is_at_most_a_day() {
        let check = |delay_seconds| {
            let config = ReadingConfig {
                delay_seconds,
                ..ReadingConfig::default()
            };
            config.check_settings()
        };
        assert!(check(0).is_ok() && check(86_400).is_ok());
        for beyond in [86_401, u32::MAX] {
            let error = check(beyond).unwrap_err().to_string();
            assert_eq!(error, "[writer.readings] delay_seconds must be at most 86400");
        }
        let schema = schema_of::<ReadingConfig>();
        assert_eq!(schema["properties"]["delay_seconds"]["maximum"], DELAY_SECONDS_MAX);
    }
}
