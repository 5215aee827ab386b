//! Forwards a caller's request for a language model to an endpoint unchanged, and streams the answer back.
//!
//! No header of the caller is forwarded: the endpoint only gets the key from the settings. Redirects are not followed,
//! because they would send the text to an address that is not in the settings.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};

use super::{CONNECT, EndpointError, bearer_header, checked_url, options_error};
use crate::Secret;

/// The endpoint to forward to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The section of the settings that defines it, for errors.
    pub section: &'static str,
    /// Base address up to the version, for example `http://127.0.0.1:11434/v1`.
    pub url: String,
    /// Sent as `Authorization: Bearer`; if empty, no key is sent.
    pub key: Secret,
    /// Timeout of one request, from its start to the end of the answer.
    pub timeout: Duration,
}

/// An endpoint with OpenAI's chat completions API.
pub struct Relay {
    client: Client,
    chat: Url,
    models: Url,
    key: Option<HeaderValue>,
}

impl Relay {
    /// Makes the relay; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Options` if a setting cannot be used.
    pub fn new(target: &Target) -> Result<Relay, EndpointError> {
        let client = Client::builder()
            .timeout(target.timeout)
            .connect_timeout(CONNECT.min(target.timeout))
            .redirect(Policy::none())
            .build()
            .map_err(|error| options_error(target.section, error.without_url().to_string()))?;
        Ok(Relay {
            client,
            chat: checked_url(target.section, &target.url, "chat/completions")?,
            models: checked_url(target.section, &target.url, "models")?,
            key: bearer_header(target.section, &target.key)?,
        })
    }

    /// Sends the JSON of a chat completion. Returns when the head of the answer has arrived, whatever its status.
    ///
    /// # Errors
    ///
    /// `Away` if there is no answer in time.
    pub async fn send_chat(&self, json: Vec<u8>) -> Result<Relayed, EndpointError> {
        let request = self.client.post(self.chat.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(json);
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        self.send_request(request.header(ACCEPT, accepted), &self.chat).await
    }

    /// Requests the list of models, in the same way as [`Relay::send_chat`].
    ///
    /// # Errors
    ///
    /// Like [`Relay::send_chat`].
    pub async fn list_models(&self) -> Result<Relayed, EndpointError> {
        self.send_request(self.client.get(self.models.clone()), &self.models)
            .await
    }

    async fn send_request(&self, request: RequestBuilder, url: &Url) -> Result<Relayed, EndpointError> {
        let request = match &self.key {
            Some(key) => request.header(AUTHORIZATION, key),
            None => request,
        };
        let url = url.to_string();
        match request.send().await {
            Ok(response) => Ok(Relayed { response, url }),
            Err(error) => Err(unreachable_error(url, error)),
        }
    }
}

/// An answer of the endpoint. If it is dropped before its end, the request is cancelled.
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

    /// Returns the next bytes of the body as received, or `None` at its end.
    ///
    /// # Errors
    ///
    /// `Away` if the answer breaks off or times out.
    pub async fn read_chunk(&mut self) -> Result<Option<Vec<u8>>, EndpointError> {
        match self.response.chunk().await {
            Ok(chunk) => Ok(chunk.map(|it| it.to_vec())),
            Err(error) => Err(unreachable_error(self.url.clone(), error)),
        }
    }
}

fn unreachable_error(url: String, error: reqwest::Error) -> EndpointError {
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
            ("", "", "[gateway.proxy] `url` is not an address"),
            (
                "ftp://a/v1",
                "",
                "[gateway.proxy] `url` must start with http:// or https://",
            ),
            (
                "http://me:pw@a/v1",
                "",
                "[gateway.proxy] `url` must not contain credentials",
            ),
            ("http://a/v1", "a\u{1}b", "[gateway.proxy] `key` has characters"),
        ] {
            let error = open(url, key).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
