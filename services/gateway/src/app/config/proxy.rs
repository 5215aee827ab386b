use std::time::Duration;

use anyhow::ensure;
use domain::id::SpaceId;
use host::relay::{Secret, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings in `[gateway.proxy]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Proxy {
    /// Whether chat completions are forwarded.
    pub enabled: bool,
    /// Address of the endpoint up to the version, such as `http://127.0.0.1:11434/v1`; empty: that of
    /// `[language_model]`.
    pub url: String,
    /// Key that is sent to the endpoint as `Authorization: Bearer`, instead of the caller's key, which is for Mnemic.
    /// Empty: the key of `[language_model]` if its `url` is used, else no key.
    pub key: Secret,
    /// The model that replies, whatever model the caller names; empty: the model that the caller names.
    pub model: String,
    /// Prefix of the name of the space, before a request's `user`.
    pub space_prefix: String,
    /// Maximum number of tokens of evidence with one message, at most `pack_tokens_max`; 0: no evidence.
    pub evidence_tokens: u32,
    /// Longest wait for evidence, in milliseconds; then the message is forwarded without evidence.
    #[schemars(range(min = 1))]
    pub evidence_ms: u64,
    /// Whether messages and replies are stored.
    pub store: bool,
    /// Longest time of one reply, to its end, in milliseconds.
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// Maximum number of chats forwarded at once, with streams until their end; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_max: usize,
    /// Maximum number of chats of one key forwarded at once, if there are several keys; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_per_key_max: usize,
}

impl Default for Proxy {
    fn default() -> Proxy {
        Proxy {
            enabled: false,
            url: String::new(),
            key: Secret::default(),
            model: String::new(),
            space_prefix: String::new(),
            evidence_tokens: 1_024,
            evidence_ms: 2_000,
            store: true,
            timeout_ms: 600_000,
            in_flight_max: 64,
            in_flight_per_key_max: 32,
        }
    }
}

impl Proxy {
    /// Checks that the limits can work.
    pub(crate) fn check_settings(&self) -> anyhow::Result<()> {
        let one = |value: u64, name: &str| {
            ensure!(value > 0, "[gateway.proxy] {name} must be at least 1");
            Ok(())
        };
        one(self.timeout_ms, "timeout_ms")?;
        one(self.evidence_ms, "evidence_ms")?;
        one(self.in_flight_max as u64, "in_flight_max")?;
        one(self.in_flight_per_key_max as u64, "in_flight_per_key_max")?;
        ensure!(
            self.space_prefix.is_empty() || self.space_prefix.parse::<SpaceId>().is_ok(),
            "[gateway.proxy] space_prefix cannot begin the name of a space, which has 1 to 64 characters from a-z, 0-9, '.', '_' and '-' and \
             starts with a letter or digit"
        );
        Ok(())
    }

    /// Returns the endpoint in these settings.
    pub(crate) fn relay_target(&self) -> Target {
        Target {
            section: "gateway.proxy",
            url: self.url.clone(),
            key: self.key.clone(),
            timeout: Duration::from_millis(self.timeout_ms),
        }
    }
}
