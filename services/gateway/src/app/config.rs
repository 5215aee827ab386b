mod cors;
mod events;
mod mem0;
mod proxy;

use std::net::ToSocketAddrs;
use std::num::NonZero;
use std::thread::available_parallelism;

use anyhow::{Context as _, bail, ensure};
use domain::key::Quotas;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cors::Cors;
pub use domain::key::Right;
pub(crate) use events::WEBHOOKS_MAX;
pub use events::{Events, WebhookReach, WebhookSettings};
pub use mem0::Mem0;
pub use proxy::Proxy;

/// Settings in `[gateway]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address of the API. Without keys only loopback addresses are allowed.
    pub listen: String,
    /// Maximum number of open connections, active or idle; further connections wait.
    #[schemars(range(min = 1))]
    pub connections_max: u32,
    /// Maximum number of connections from one address (for IPv6, one network of 64 bits). Beyond it, the oldest
    /// connection without a request is closed; if each has a request, the new connection is refused. Callers behind one
    /// proxy share an address.
    #[schemars(range(min = 1))]
    pub connections_per_address_max: u32,
    /// Longest time until the head of the first request of a connection has arrived, in milliseconds; then the
    /// connection is closed.
    #[schemars(range(min = 1))]
    pub first_request_ms_max: u64,
    /// Longest time until the head of a request has arrived, in milliseconds, since the start of the connection or the
    /// previous response; then the connection is closed.
    #[schemars(range(min = 1))]
    pub header_ms_max: u64,
    /// Longest time in which a caller reads nothing of a response, in milliseconds; then the connection is closed.
    #[schemars(range(min = 1))]
    pub send_ms_max: u64,
    /// Largest request body, in bytes.
    pub body_bytes_max: usize,
    /// Maximum number of records in one request.
    #[schemars(range(min = 1, max = 1_024))]
    pub batch_max: usize,
    /// Longest text of a record, in bytes of UTF-8. A caption, and the arguments and the result of a tool call, may
    /// have at most 32 KiB of it.
    pub text_bytes_max: usize,
    /// Whether a write to a space that does not exist creates the space, if the key may write there.
    pub create_spaces: bool,
    /// Longest question, in bytes of UTF-8.
    pub question_bytes_max: usize,
    /// Maximum number of requests processed at once; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_max: usize,
    /// Maximum number of requests of one key processed at once, and of those whose bodies are still arriving, if there
    /// are several keys; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_per_key_max: usize,
    /// Maximum number of questions of one key processed at once, if there are several keys; more wait. 0: one for each
    /// core.
    pub questions_per_key_max: usize,
    /// Maximum number of questions processed at once; more get 429. Each uses a core for a while, so with too many all
    /// responses would be late.
    #[schemars(range(min = 1))]
    pub questions_max: usize,
    /// Longest time for one request, in milliseconds; also the maximum of `budget.ms` and `wait_ms`.
    #[schemars(range(min = 1))]
    pub request_ms_max: u64,
    /// Longest time for a question that allows calls of a language model, in milliseconds; also the maximum of its
    /// `budget.ms`.
    pub model_request_ms_max: u64,
    /// Largest evidence pack that a query may request, in tokens.
    pub pack_tokens_max: u32,
    /// Number of scenes that the router passes to the reader for one question.
    pub scenes: u32,
    /// Maximum number of hints in one session within a minute; 0 switches recall off.
    pub recall_hints_per_minute: u32,
    /// Maximum number of notes of a space about hints that recall gave or must not repeat; the oldest are removed
    /// first.
    #[schemars(range(min = 1_000, max = 1_000_000))]
    pub recall_notes_max: usize,
    /// Key that encrypts positions and cursors in responses: 64 hex digits. Further keys may follow, separated by
    /// commas; they only decrypt older values. Empty: a key that is created once and stored with the memory.
    #[schemars(extend("writeOnly" = true))]
    pub seal_key: String,
    /// Whether each request is logged as one line of the target `access`.
    pub access_log: bool,
    /// Chat completions that are forwarded to a language model.
    pub proxy: Proxy,
    /// The API of mem0.
    pub mem0: Mem0,
    /// Streams of events.
    pub events: Events,
    /// Receivers of events.
    pub webhooks: Vec<WebhookSettings>,
    /// Web pages that may read responses.
    pub cors: Cors,
    /// API keys.
    pub keys: Vec<Key>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: "127.0.0.1:7077".to_owned(),
            connections_max: 512,
            connections_per_address_max: 256,
            first_request_ms_max: 5_000,
            header_ms_max: 30_000,
            send_ms_max: 30_000,
            body_bytes_max: 4 << 20,
            batch_max: 1_000,
            text_bytes_max: 1 << 20,
            create_spaces: true,
            question_bytes_max: 8 << 10,
            in_flight_max: 256,
            in_flight_per_key_max: 64,
            questions_per_key_max: 0,
            questions_max: 32,
            request_ms_max: 30_000,
            model_request_ms_max: 600_000,
            pack_tokens_max: 32_000,
            scenes: 24,
            recall_hints_per_minute: 10,
            recall_notes_max: domain::recall::NOTES_MAX,
            seal_key: String::new(),
            access_log: true,
            proxy: Proxy::default(),
            mem0: Mem0::default(),
            events: Events::default(),
            webhooks: Vec::new(),
            cors: Cors::default(),
            keys: Vec::new(),
        }
    }
}

/// One API key: `[[gateway.keys]]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Name of the key in logs; not secret.
    pub name: String,
    /// SHA-256 of the key, 64 hex digits.
    pub sha256: String,
    /// Spaces that the key opens: `*`, a name, or a prefix that ends in `*`.
    pub spaces: Vec<String>,
    /// Rights of the key in these spaces.
    pub rights: Vec<Right>,
    /// Quotas of the key.
    #[serde(default, skip_serializing_if = "Quotas::is_unbounded")]
    pub quotas: Quotas,
}

impl Config {
    /// Returns the maximum number of questions of one key processed at once.
    pub(crate) fn questions_per_key(&self) -> usize {
        match self.questions_per_key_max {
            0 => available_parallelism().map_or(1, NonZero::get),
            most => most,
        }
    }

    /// Checks that the settings are safe and can work.
    ///
    /// # Errors
    /// Names the setting that cannot be used, and the solution.
    pub fn check_settings(&self) -> anyhow::Result<()> {
        self.check_bounds()?;
        self.check_address()
    }

    /// Checks that each limit is in its range and contradicts no other one.
    pub(crate) fn check_bounds(&self) -> anyhow::Result<()> {
        ensure!(
            (1..=1_024).contains(&self.batch_max),
            "[gateway] batch_max must be 1 to 1024"
        );
        ensure!(
            self.text_bytes_max <= self.body_bytes_max,
            "[gateway] text_bytes_max must not be greater than body_bytes_max: no request could carry such a text"
        );
        ensure!(self.connections_max > 0, "[gateway] connections_max must be at least 1");
        ensure!(
            self.connections_per_address_max > 0,
            "[gateway] connections_per_address_max must be at least 1"
        );
        ensure!(
            self.first_request_ms_max > 0,
            "[gateway] first_request_ms_max must be at least 1"
        );
        ensure!(
            self.in_flight_per_key_max > 0,
            "[gateway] in_flight_per_key_max must be at least 1"
        );
        ensure!(self.header_ms_max > 0, "[gateway] header_ms_max must be at least 1");
        ensure!(self.send_ms_max > 0, "[gateway] send_ms_max must be at least 1");
        ensure!(self.in_flight_max > 0, "[gateway] in_flight_max must be at least 1");
        ensure!(
            (1_000..=1_000_000).contains(&self.recall_notes_max),
            "[gateway] recall_notes_max must be 1000 to 1000000"
        );
        ensure!(self.questions_max > 0, "[gateway] questions_max must be at least 1");
        ensure!(self.request_ms_max > 0, "[gateway] request_ms_max must be at least 1");
        ensure!(
            self.model_request_ms_max >= self.request_ms_max,
            "[gateway] model_request_ms_max must be at least request_ms_max: calls of a language model take longer, not shorter"
        );
        self.events.check_bounds()?;
        for key in &self.keys {
            ensure!(
                !key.quotas.has_zero(),
                "the key `{}` in [[gateway.keys]] has a quota of 0, which would allow nothing: leave the quota out for no limit",
                key.name
            );
        }
        self.cors.check_origins()?;
        self.mem0.check_settings()
    }

    /// Checks that only loopback addresses are used if there are no keys.
    fn check_address(&self) -> anyhow::Result<()> {
        if !self.keys.is_empty() {
            return Ok(());
        }
        let addresses = self
            .listen
            .to_socket_addrs()
            .with_context(|| format!("[gateway] listen: {} is not an address", self.listen))?;
        for address in addresses {
            if !address.ip().is_loopback() {
                bail!(
                    "[gateway] listens on {address}, which other machines can reach, but has no keys: add [[gateway.keys]] \
                     (name, sha256, spaces, rights), or listen on 127.0.0.1"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use host::settings::schema_of;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    /// Checks that the values at the limits of a schema are accepted and the values beyond them are refused, for every
    /// key that `check` limits; returns the number of these keys.
    pub(crate) fn assert_bounds<T: DeserializeOwned>(
        schema: &Value,
        valid: &Value,
        check: impl Fn(T) -> anyhow::Result<()>,
    ) -> usize {
        let mut bound_count = 0;
        for (key, schema) in schema["properties"].as_object().unwrap() {
            let (least, most) = (schema["minimum"].as_u64(), schema["maximum"].as_u64());
            if least.is_none_or(|it| it == 0) && most.is_none() {
                continue;
            }
            let with = |value: u64| {
                let mut config = valid.clone();
                config[key] = json!(value);
                check(serde_json::from_value(config).unwrap())
            };
            for bound in [least, most].into_iter().flatten() {
                assert!(with(bound).is_ok(), "{key}: {bound} is refused");
            }
            let below = least.and_then(|it| it.checked_sub(1));
            for beyond in [below, most.map(|it| it + 1)].into_iter().flatten() {
                let error = with(beyond)
                    .expect_err("a value beyond the bound is accepted")
                    .to_string();
                assert!(error.contains(key), "{error}");
            }
            bound_count += 1;
        }
        bound_count
    }

    #[test]
    fn the_limits_of_the_gateway_match_its_schema() {
        let schema = schema_of::<Config>();
        let of_gateway = assert_bounds(&schema, &json!(Config::default()), |it: Config| it.check_bounds());
        let events = &schema["properties"]["events"];
        let of_events = assert_bounds(events, &json!(Events::default()), |it: Events| it.check_bounds());
        let proxy = &schema["properties"]["proxy"];
        let of_proxy = assert_bounds(proxy, &json!(Proxy::default()), |it: Proxy| it.check_settings());
        assert_eq!((of_gateway, of_events, of_proxy), (11, 3, 4));
    }
}
