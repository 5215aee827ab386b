use std::path::PathBuf;

use anyhow::ensure;
use domain::id::SpaceId;
use host::relay::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::EventKind;

/// Maximum number of webhooks.
pub(crate) const WEBHOOKS_MAX: usize = 32;
/// Longest name of a webhook, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Settings in `[gateway.events]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Events {
    /// Milliseconds between two polls of a space that has subscribers. Spaces without subscribers are not polled. For
    /// the spaces of webhooks, the pause is at least ten times the duration of one poll of all of them.
    #[schemars(range(min = 10, max = 60_000))]
    pub poll_ms: u64,
    /// Maximum number of open streams of events; more get 429.
    #[schemars(range(min = 1, max = 10_000))]
    pub streams_max: usize,
    /// Maximum number of open streams of one key, if there are several keys; more get 429.
    #[schemars(range(min = 1))]
    pub streams_per_key_max: usize,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            poll_ms: 500,
            streams_max: 64,
            streams_per_key_max: 16,
        }
    }
}

impl Events {
    /// Checks that the limits can work.
    pub(crate) fn check_bounds(&self) -> anyhow::Result<()> {
        ensure!(
            (10..=60_000).contains(&self.poll_ms),
            "[gateway.events] poll_ms must be 10 to 60000"
        );
        ensure!(
            (1..=10_000).contains(&self.streams_max),
            "[gateway.events] streams_max must be 1 to 10000"
        );
        ensure!(
            self.streams_per_key_max > 0,
            "[gateway.events] streams_per_key_max must be at least 1"
        );
        Ok(())
    }
}

/// A receiver of events: `[[gateway.webhooks]]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// Name of the webhook in logs; not secret.
    pub name: String,
    /// Address to which events are sent, by POST.
    pub url: String,
    /// Spaces whose events it receives: `*`, a name, or a prefix that ends in `*`.
    pub spaces: Vec<String>,
    /// Kinds of events that the receiver gets: `searchable`, `organised`, `erased`.
    pub kinds: Vec<EventKind>,
    /// Key that signs events: base64 of 24 to 64 bytes, with or without the prefix `whsec_`.
    pub secret: Secret,
    /// A file that contains the secret, instead of `secret`.
    pub secret_file: PathBuf,
    /// Whether `url` may use http, so that others can read the events.
    pub allow_http: bool,
    /// Whether `url` may lead to an internal address: loopback, private, link-local.
    pub allow_private: bool,
    /// Longest time of one attempt, in milliseconds.
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// Maximum number of events sent at once.
    #[schemars(range(min = 1, max = 64))]
    pub in_flight_max: usize,
    /// Maximum number of queued events, including retries; beyond it the oldest is dropped.
    #[schemars(range(min = 1, max = 100_000))]
    pub queue_max: usize,
    /// Maximum number of retries of an event that the receiver did not accept.
    #[schemars(range(min = 0, max = 20))]
    pub retries_max: u32,
    /// Milliseconds until the first retry of an event. The pause doubles with each retry, up to an hour, and each pause
    /// is shortened at random by up to half.
    #[schemars(range(min = 10, max = 60_000))]
    pub retry_ms: u64,
}

/// Permitted targets of webhooks that are created through an API. By default only https, and no internal addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookReach {
    /// Whether their `url` may use http, so that others can read the events.
    pub allow_http: bool,
    /// Whether their `url` may lead to an internal address: loopback, private, link-local.
    pub allow_private: bool,
}

impl Default for WebhookSettings {
    fn default() -> WebhookSettings {
        WebhookSettings {
            name: String::new(),
            url: String::new(),
            spaces: Vec::new(),
            kinds: vec![EventKind::Searchable, EventKind::Organised, EventKind::Erased],
            secret: Secret::default(),
            secret_file: PathBuf::new(),
            allow_http: false,
            allow_private: false,
            timeout_ms: 10_000,
            in_flight_max: 4,
            queue_max: 1_000,
            retries_max: 10,
            retry_ms: 1_000,
        }
    }
}

impl WebhookSettings {
    /// Checks that the limits can work. `url` and the secret are checked when the webhook is opened.
    pub(crate) fn check_settings(&self) -> anyhow::Result<()> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
        ensure!(
            (1..=NAME_BYTES_MAX).contains(&self.name.len()) && self.name.bytes().all(is_plain),
            "a webhook in [[gateway.webhooks]] needs a `name` of 1 to {NAME_BYTES_MAX} letters, digits, `.`, `_` and `-`"
        );
        let name = &self.name;
        ensure!(
            !self.spaces.is_empty() && self.spaces.iter().all(|it| is_pattern(it)),
            "[[gateway.webhooks]] `{name}`: spaces must name at least one space: `*`, a name, or a prefix that ends in `*`"
        );
        ensure!(!self.kinds.is_empty(), "[[gateway.webhooks]] `{name}`: kinds is empty");
        ensure!(
            self.secret.is_empty() || self.secret_file.as_os_str().is_empty(),
            "[[gateway.webhooks]] `{name}`: set `secret` or `secret_file`, not both"
        );
        let bounded = |value: u64, least: u64, most: u64, setting: &str| {
            ensure!(
                (least..=most).contains(&value),
                "[[gateway.webhooks]] `{name}`: {setting} must be {least} to {most}"
            );
            Ok(())
        };
        bounded(self.timeout_ms, 1, 60_000, "timeout_ms")?;
        bounded(self.in_flight_max as u64, 1, 64, "in_flight_max")?;
        bounded(self.queue_max as u64, 1, 100_000, "queue_max")?;
        bounded(self.retries_max.into(), 0, 20, "retries_max")?;
        bounded(self.retry_ms, 10, 60_000, "retry_ms")
    }
}

fn is_pattern(text: &str) -> bool {
    match text.strip_suffix('*') {
        Some(prefix) => prefix.is_empty() || prefix.parse::<SpaceId>().is_ok(),
        None => text.parse::<SpaceId>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use host::settings::schema_of;
    use serde_json::json;

    use super::*;
    use crate::app::config::tests::assert_bounds;

    #[test]
    fn the_limits_of_a_webhook_match_its_schema() {
        let valid = WebhookSettings {
            name: "hook".to_owned(),
            spaces: vec!["*".to_owned()],
            ..WebhookSettings::default()
        };
        let bound_count = assert_bounds(&schema_of::<WebhookSettings>(), &json!(valid), |it: WebhookSettings| {
            it.check_settings()
        });
        assert_eq!(bound_count, 5);
    }
}
