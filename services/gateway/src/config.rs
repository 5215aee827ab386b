use std::net::ToSocketAddrs;
use std::num::NonZero;
use std::thread::available_parallelism;

use anyhow::{Context as _, bail, ensure};
use domain::key::Quotas;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edge::Cors;
use crate::events::{Events, WebhookSettings};
use crate::mem0::Mem0;
use crate::proxy::Proxy;

pub use domain::key::Right;

/// Settings in `[gateway]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address of the API. Without keys only loopback addresses are allowed.
    pub listen: String,
    /// Connections at once, whether they ask something or not; more wait to be taken.
    #[schemars(range(min = 1))]
    pub connections_max: u32,
    /// Connections at once from one address (of IPv6, one network of 64 bits). Beyond it the oldest without a request is
    /// closed; if each has one, the new one is refused. Callers behind one proxy share an address.
    #[schemars(range(min = 1))]
    pub connections_per_address_max: u32,
    /// Longest time until the head of the first request of a connection is there, in milliseconds; then it is closed.
    #[schemars(range(min = 1))]
    pub first_request_ms_max: u64,
    /// Longest time until the head of a request is there, from the start of the connection or the answer before, in
    /// milliseconds; then the connection is closed.
    #[schemars(range(min = 1))]
    pub header_ms_max: u64,
    /// Longest time in which a caller takes nothing of an answer, in milliseconds; then the connection is closed.
    #[schemars(range(min = 1))]
    pub send_ms_max: u64,
    /// Largest request body, in bytes.
    pub body_bytes_max: usize,
    /// Most records in one request.
    #[schemars(range(min = 1, max = 1_024))]
    pub batch_max: usize,
    /// Longest text of a record, in bytes of UTF-8. A caption and the arguments and result of a tool have at most 32 KiB of it.
    pub text_bytes_max: usize,
    /// Whether records that are written to a space that there is not create it, if the key may write there.
    pub create_spaces: bool,
    /// Longest question, in bytes of UTF-8.
    pub question_bytes_max: usize,
    /// Requests answered at once; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_max: usize,
    /// Requests of one key answered at once, and as many whose bodies are coming, if there are several keys; more get 429.
    #[schemars(range(min = 1))]
    pub in_flight_per_key_max: usize,
    /// Questions of one key answered at once, if there are several keys; more wait. 0: one a core.
    pub questions_per_key_max: usize,
    /// Questions answered at once; more get 429. Each takes a core for a while, so many at once would all come late.
    #[schemars(range(min = 1))]
    pub questions_max: usize,
    /// Longest time for one request, in milliseconds; also the greatest `budget.ms` and `wait_ms`.
    #[schemars(range(min = 1))]
    pub request_ms_max: u64,
    /// Longest time for a question that allows calls of a language model, in milliseconds; also its greatest `budget.ms`.
    pub model_request_ms_max: u64,
    /// Largest evidence pack a query may ask for, in tokens.
    pub pack_tokens_max: u32,
    /// Scenes the router hands to the reader for one question.
    pub scenes: u32,
    /// Hints that recall says in one session within a minute; 0 switches it off.
    pub recall_hints_per_minute: u32,
    /// Most notes of a space about what recall said or was told to leave in its sessions; the oldest go first.
    #[schemars(range(min = 1_000, max = 1_000_000))]
    pub recall_notes_max: usize,
    /// What hides positions and cursors from callers: 64 hex digits. More may follow with commas between them, which open what was
    /// sealed before. Empty: a key that is made once and kept with the memory.
    pub seal_key: String,
    /// Whether each request is logged, as one line of the target `access`.
    pub access_log: bool,
    /// Chat completions that are passed on to a language model.
    pub proxy: Proxy,
    /// The API of mem0.
    pub mem0: Mem0,
    /// Streams of events.
    pub events: Events,
    /// Receivers of events.
    pub webhooks: Vec<WebhookSettings>,
    /// Which pages of browsers may read answers.
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
    /// Names it in logs; never secret.
    pub name: String,
    /// SHA-256 of the key, 64 hex digits.
    pub sha256: String,
    /// Spaces it opens: `*`, a name, or a prefix that ends in `*`.
    pub spaces: Vec<String>,
    /// What it may do there.
    pub rights: Vec<Right>,
    /// How much it may ask for.
    #[serde(default, skip_serializing_if = "Quotas::is_unbounded")]
    pub quotas: Quotas,
}

impl Config {
    /// Returns how many questions of one key are answered at once.
    pub(crate) fn questions_per_key(&self) -> usize {
        match self.questions_per_key_max {
            0 => available_parallelism().map_or(1, NonZero::get),
            most => most,
        }
    }

    /// Refuses what would be unsafe or could never work.
    ///
    /// # Errors
    /// Says which setting cannot be served, and what to do.
    pub fn check(&self) -> anyhow::Result<()> {
        self.check_bounds()?;
        self.check_address()
    }

    /// Refuses bounds that could never work.
    pub(crate) fn check_bounds(&self) -> anyhow::Result<()> {
        ensure!(
            (1..=1_024).contains(&self.batch_max),
            "[gateway] batch_max must be 1 to 1024"
        );
        ensure!(
            self.text_bytes_max <= self.body_bytes_max,
            "[gateway] text_bytes_max must not be greater than body_bytes_max: no request could bring such a text"
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
        self.events.check()?;
        for key in &self.keys {
            ensure!(
                !key.quotas.has_zero(),
                "the key `{}` in [[gateway.keys]] has a quota of 0, with which it could do nothing: leave the quota out for no bound",
                key.name
            );
        }
        self.cors.check()?;
        self.mem0.check()
    }

    /// Refuses an address that others reach if no key guards it.
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
                    "[gateway] listens on {address}, which others reach, but has no keys: add [[gateway.keys]] \
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

    /// Checks that the values at the bounds of a schema are accepted and those beyond refused, of the keys that a check
    /// bounds; returns how many there are.
    pub(crate) fn assert_bounds<T: DeserializeOwned>(
        schema: &Value,
        valid: &Value,
        check: impl Fn(T) -> anyhow::Result<()>,
    ) -> usize {
        let mut seen = 0;
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
            seen += 1;
        }
        seen
    }

    #[test]
    fn the_bounds_of_the_gateway_are_those_of_its_schema() {
        let schema = schema_of::<Config>();
        let of_gateway = assert_bounds(&schema, &json!(Config::default()), |it: Config| it.check_bounds());
        let events = &schema["properties"]["events"];
        let of_events = assert_bounds(events, &json!(Events::default()), |it: Events| it.check());
        let proxy = &schema["properties"]["proxy"];
        let of_proxy = assert_bounds(proxy, &json!(Proxy::default()), |it: Proxy| it.check());
        assert_eq!((of_gateway, of_events, of_proxy), (11, 3, 4));
    }
}
