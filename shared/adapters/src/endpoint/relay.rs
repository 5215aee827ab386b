//! Passes what a caller asks of a language model on to an endpoint as it is, and the answer back as it comes.
//!
//! No header of the caller is sent along: the endpoint is given the key of the settings and nothing else. Redirects are not
//! followed, since they would carry what was said to an address that nobody set.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};

use super::{CONNECT, EndpointError, bearer, checked_url, wrong};
use crate::Secret;

/// Where the endpoint is.
#[derive(Clone, Debug)]
pub struct Target {
    /// The section of the settings that names it, for errors.
    pub section: &'static str,
    /// Its address up to the version, as `http://127.0.0.1:11434/v1`.
    pub url: String,
    /// Sent as `Authorization: Bearer`; empty: nothing is sent.
    pub key: Secret,
    /// Longest time of one request, from its begin to the end of the answer.
    pub timeout: Duration,
}

/// An endpoint that speaks OpenAI's chat completions API.
pub struct Relay {
    client: Client,
    chat: Url,
    models: Url,
    key: Option<HeaderValue>,
}

impl Relay {
    /// Takes the target; nothing is asked yet.
    ///
    /// # Errors
    /// `Options` if a setting cannot be used.
    pub fn new(target: &Target) -> Result<Relay, EndpointError> {
        let client = Client::builder()
            .timeout(target.timeout)
            .connect_timeout(CONNECT.min(target.timeout))
            .redirect(Policy::none())
            .build()
            .map_err(|error| wrong(target.section, error.without_url().to_string()))?;
        Ok(Relay {
            client,
            chat: checked_url(target.section, &target.url, "chat/completions")?,
            models: checked_url(target.section, &target.url, "models")?,
            key: bearer(target.section, &target.key)?,
        })
    }

    /// Sends the JSON of a chat completion; returns once the head of the answer is there, whatever its status.
    ///
    /// # Errors
    /// `Away` if there is no answer in time.
    pub async fn chat(&self, json: Vec<u8>) -> Result<Relayed, EndpointError> {
        let request = self.client.post(self.chat.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(json);
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        self.send(request.header(ACCEPT, accepted), &self.chat).await
    }

    /// Asks which models there are; as [`Relay::chat`].
    ///
    /// # Errors
    /// As [`Relay::chat`].
    pub async fn models(&self) -> Result<Relayed, EndpointError> {
        self.send(self.client.get(self.models.clone()), &self.models).await
    }

    async fn send(&self, request: RequestBuilder, url: &Url) -> Result<Relayed, EndpointError> {
        let request = match &self.key {
            Some(key) => request.header(AUTHORIZATION, key),
            None => request,
        };
        let url = url.to_string();
        match request.send().await {
            Ok(response) => Ok(Relayed { response, url }),
            Err(error) => Err(away(url, error)),
        }
    }
}

/// An answer of the endpoint; dropped before its end, the endpoint is no longer listened to.
pub struct Relayed {
    response: Response,
    url: String,
}

impl Relayed {
    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the next bytes of the body as they came; none at its end.
    ///
    /// # Errors
    /// `Away` if the answer breaks off, or takes longer than it may.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, EndpointError> {
        match self.response.chunk().await {
            Ok(chunk) => Ok(chunk.map(|it| it.to_vec())),
            Err(error) => Err(away(self.url.clone(), error)),
        }
    }
}

fn away(url: String, error: reqwest::Error) -> EndpointError {
    let source = error.without_url();
    EndpointError::Away { url, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_checked_before_anything_is_sent() {
        let open = |url: &str, key: &str| {
            let target = Target {
                section: "gateway.proxy",
                url: url.to_owned(),
                key: key.into(),
                timeout: Duration::from_secs(1),
            };
            Relay::new(&target).map(|_| ()).map_err(|it| it.to_string())
        };
        assert_eq!(open("http://127.0.0.1:1/v1/", "secret\n"), Ok(()));
        for (url, key, expected) in [
            ("", "", "[gateway.proxy] `url` is no address"),
            (
                "ftp://a/v1",
                "",
                "[gateway.proxy] `url` starts with http:// or https://",
            ),
            (
                "http://me:pw@a/v1",
                "",
                "[gateway.proxy] `url` has no place for credentials",
            ),
            ("http://a/v1", "a\u{1}b", "[gateway.proxy] `key` has characters"),
        ] {
            let error = open(url, key).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
