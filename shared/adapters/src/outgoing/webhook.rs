//! Sends signed messages to addresses chosen by the operator, as Standard Webhooks describes.
//!
//! The signature proves the sender of a message, the id shows repeated deliveries, and the time prevents replays. Only
//! the head of an answer is read: nothing of it is reported except the status.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use domain::id::WebhookId;
use domain::webhook::WEBHOOKS_MAX;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER, USER_AGENT};
use reqwest::{Response, Url};
use sha2::Sha256;

use crate::Secret;
use crate::outgoing::addresses::is_public;
use crate::outgoing::pinned_client::{self, NoAddress, literal_address};

/// Optional prefix of a secret, which tells people its purpose.
const SECRET_PREFIX: &str = "whsec_";
/// Allowed lengths of a secret, in bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// The `User-Agent` header.
const CALLED_BY: &str = concat!("mnemic/", env!("CARGO_PKG_VERSION"));

/// The receiver of messages and how to reach it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The address of the receiver.
    pub url: String,
    /// Key for signatures: base64 of 24 to 64 bytes, with or without the prefix `whsec_`.
    pub secret: Secret,
    /// Whether messages may be sent over plain http, where others can read them.
    pub allow_http: bool,
    /// Whether the receiver may have an internal address: loopback, private, link-local.
    pub allow_private: bool,
    /// Timeout of one attempt, from the name look-up to the head of the answer.
    pub timeout: Duration,
}

/// Why a target cannot be used. No error text repeats the address, which may contain a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

/// A message to send.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The same for every attempt; visible ASCII.
    pub id: &'a str,
    /// The time of this attempt.
    pub at: DateTime<Utc>,
    /// JSON.
    pub body: &'a str,
}

/// The result of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The receiver accepted the message.
    Taken,
    /// The receiver wants no more messages (410).
    Gone,
    /// The receiver answered with another status, and may have asked for a pause.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The pause in `Retry-After`, counted from the attempt.
        retry_after: Option<Duration>,
    },
    /// There was no answer.
    Away(&'static str),
}

/// A receiver.
pub struct Webhook {
    url: Url,
    key: Hmac<Sha256>,
    allow_private: bool,
    timeout: Duration,
}

impl Webhook {
    /// Checks the target; nothing is looked up or sent yet.
    ///
    /// # Errors
    ///
    /// Names the setting that cannot be used: an invalid address, one that is not https, contains credentials or is
    /// internal; an invalid secret.
    pub fn new(target: &Target) -> Result<Webhook, TargetError> {
        let wrong = |why: &str| TargetError(why.to_owned());
        let url =
            Url::parse(&target.url).map_err(|_| wrong("`url` is not an address like https://example.com/hook"))?;
        match url.scheme() {
            "https" if cfg!(feature = "https") => {}
            "https" => {
                return Err(wrong(
                    "`url` is https, and this build cannot send over TLS: build with `--features https`",
                ));
            }
            "http" if target.allow_http => {}
            "http" => {
                return Err(wrong(
                    "`url` is http, so that others can read the events: use https, or set `allow_http = true`",
                ));
            }
            _ => return Err(wrong("`url` must start with https://")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "`url` must not contain credentials: a receiver checks the signature",
            ));
        }
        let host = url.host_str().unwrap_or_default();
        let is_inside = match literal_address(host) {
            Some(address) => !is_public(address),
            None => host == "localhost" || host.ends_with(".localhost"),
        };
        if is_inside && !target.allow_private {
            return Err(wrong(
                "`url` leads to an internal address (loopback, private or link-local): set `allow_private = true` if this is intended",
            ));
        }
        Ok(Webhook {
            url,
            key: parse_key(&target.secret)?,
            allow_private: target.allow_private,
            timeout: target.timeout,
        })
    }

    /// Makes one attempt to send a message.
    pub async fn send_message(&self, message: &Message<'_>) -> Reply {
        match tokio::time::timeout(self.timeout, self.post_message(message)).await {
            Ok(reply) => reply,
            Err(_) => Reply::Away("the receiver did not answer in time"),
        }
    }

    async fn post_message(&self, message: &Message<'_>) -> Reply {
        let is_allowed = |address: IpAddr| self.allow_private || is_public(address);
        let client = match pinned_client::client_for_host(&self.url, is_allowed).await {
            Ok(client) => client,
            Err(NoAddress::Unknown) => return Reply::Away("the name of the receiver has no address"),
            Err(NoAddress::Inside) => {
                return Reply::Away(
                    "the name of the receiver leads to an internal address, which `allow_private` forbids",
                );
            }
            Err(NoAddress::Client(_)) => return Reply::Away("there is no HTTP client"),
        };
        let request = client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, CALLED_BY)
            .header("webhook-id", message.id)
            .header("webhook-timestamp", message.at.timestamp().to_string())
            .header("webhook-signature", self.sign_message(message))
            .body(message.body.to_owned());
        match request.send().await {
            Ok(response) => reply_from_response(&response, message.at),
            Err(_) => Reply::Away("the receiver cannot be reached"),
        }
    }

    /// Returns `v1,` and the base64 of the HMAC with SHA-256 of `id.timestamp.body`.
    fn sign_message(&self, message: &Message<'_>) -> String {
        let mut mac = self.key.clone();
        for part in [message.id, ".", &message.at.timestamp().to_string(), ".", message.body] {
            mac.update(part.as_bytes());
        }
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Returns the error text for an id that another webhook has.
pub(crate) fn id_is_taken(id: WebhookId) -> String {
    format!("there is another webhook {id}; send the request again")
}

/// Returns the error text for a store that is full of webhooks.
pub(crate) fn no_room() -> String {
    format!("there are {WEBHOOKS_MAX} webhooks; delete one that is no longer needed")
}

fn parse_key(secret: &Secret) -> Result<Hmac<Sha256>, TargetError> {
    let text = secret.reveal().trim();
    let bytes = STANDARD.decode(text.strip_prefix(SECRET_PREFIX).unwrap_or(text));
    let key = bytes.ok().filter(|it| SECRET_BYTES.contains(&it.len()));
    let key = key.and_then(|it| Hmac::new_from_slice(&it).ok());
    key.ok_or_else(|| {
        TargetError("`secret` must be base64 of 24 to 64 bytes; `openssl rand -base64 32` makes one".to_owned())
    })
}

fn reply_from_response(response: &Response, at: DateTime<Utc>) -> Reply {
    match response.status().as_u16() {
        200..=299 => Reply::Taken,
        410 => Reply::Gone,
        status => Reply::Refused {
            status,
            retry_after: retry_after(response.headers(), at),
        },
    }
}

/// Returns the pause in `Retry-After`, given in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = DateTime::parse_from_rfc2822(text).ok()?;
            (date.to_utc() - now).to_std().ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn target_with_secret(url: &str, secret: &str) -> Target {
        Target {
            url: url.to_owned(),
            secret: secret.into(),
            allow_http: true,
            allow_private: true,
            timeout: Duration::from_secs(10),
        }
    }

    /// The example is from the published libraries of Standard Webhooks.
    #[test]
    fn messages_are_signed_according_to_standard_webhooks() {
        let webhook = Webhook::new(&target_with_secret("http://127.0.0.1:1/", SECRET)).unwrap();
        let message = Message {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: DateTime::from_timestamp(1_614_265_330, 999).unwrap(),
            body: r#"{"test": 2432232314}"#,
        };
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(webhook.sign_message(&message), expected);
        let later = Message {
            at: message.at + chrono::TimeDelta::seconds(1),
            ..message
        };
        assert_ne!(webhook.sign_message(&later), expected);
    }

    #[test]
    fn a_secret_is_base64_of_24_to_64_bytes() {
        let of = |bytes: usize| STANDARD.encode(vec![7; bytes]);
        for good in [SECRET, &SECRET[6..], &of(24), &of(64), &format!(" {}\n", of(32))] {
            assert!(
                Webhook::new(&target_with_secret("http://127.0.0.1:1/", good)).is_ok(),
                "{good}"
            );
        }
        for wrong in [
            "",
            "whsec_",
            "open sesame",
            &of(23),
            &of(65),
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        ] {
            let Err(error) = Webhook::new(&target_with_secret("http://127.0.0.1:1/", wrong)) else {
                panic!("{wrong} was taken");
            };
            assert!(error.0.starts_with("`secret` must be base64"), "{error}");
            assert!(wrong.is_empty() || !error.0.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_receiver_at_an_internal_address_or_without_tls_is_refused_unless_allowed() {
        let open = |url: &str, allow_http, allow_private| {
            let target = Target {
                allow_http,
                allow_private,
                ..target_with_secret(url, SECRET)
            };
            Webhook::new(&target).map(|_| ()).map_err(|it| it.0)
        };
        for inside in [
            "http://127.0.0.1/hook",
            "http://2130706433/hook",
            "http://[::1]:8080/hook",
            "http://[::ffff:10.0.0.1]/hook",
            "http://169.254.169.254/latest",
            "http://192.168.1.1/",
            "http://localhost:3000/",
            "http://me.localhost/",
        ] {
            let error = open(inside, true, false).unwrap_err();
            assert!(
                error.starts_with("`url` leads to an internal address"),
                "{inside}: {error}"
            );
            assert_eq!(open(inside, true, true), Ok(()), "{inside}");
        }
        assert_eq!(open("http://example.com/hook", true, false), Ok(()));
        for (url, expected) in [
            ("http://example.com/hook", "`url` is http, so that others"),
            ("ftp://example.com/hook", "`url` must start with https://"),
            ("example.com/hook", "`url` is not an address"),
            ("", "`url` is not an address"),
        ] {
            let error = open(url, false, false).unwrap_err();
            assert!(error.starts_with(expected), "{url}: {error}");
        }
        let error = open("http://me:pw@example.com/hook", true, false).unwrap_err();
        assert!(error.starts_with("`url` must not contain credentials"), "{error}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = DateTime::parse_from_rfc3339("2026-11-27T08:00:00Z").unwrap().to_utc();
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(read("90"), Some(Duration::from_secs(90)));
        assert_eq!(read("Fri, 27 Nov 2026 08:01:30 GMT"), Some(Duration::from_secs(90)));
        for nothing in ["Fri, 27 Nov 2026 07:00:00 GMT", "soon", "-1", ""] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
