//! Models over HTTP, at any endpoint with OpenAI's API, such as Ollama, vLLM, llama.cpp and OpenAI itself.
//!
//! [`embeddings`] turns texts into vectors, [`chat`] replies to prompts, [`relay`] forwards the requests of others.
//! Errors and logs never repeat the text that was sent, nor an endpoint's reply to it.

pub mod chat;
pub mod embeddings;
pub mod relay;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{Classify, ErrorKind};
use reqwest::header::HeaderValue;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Secret;
use crate::process::clock;

/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// Why an endpoint cannot be used, or why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A setting that cannot be used.
    #[error("[{section}] {detail}")]
    Options {
        /// The section of the settings.
        section: &'static str,
        /// Description of the problem.
        detail: String,
    },
    /// The endpoint cannot be reached.
    #[error("the endpoint {url} does not answer")]
    Away {
        /// The address of the request.
        url: String,
        /// The reason.
        source: reqwest::Error,
    },
    /// The endpoint answers with an error status.
    #[error("the endpoint {url} answers {status}")]
    Status {
        /// The address of the request.
        url: String,
        /// The status.
        status: u16,
        /// The pause that the endpoint asks for (`Retry-After`), if any.
        retry_after: Option<Duration>,
    },
    /// The answer has the wrong form, or its vectors have another length than at the start.
    #[error("the endpoint {url} cannot be used: {reason}")]
    Form {
        /// The address of the request.
        url: String,
        /// Description of the problem.
        reason: String,
    },
}

impl EndpointError {
    /// Returns true if a process that starts should retry: the endpoint may be starting too.
    pub fn may_be_starting(&self) -> bool {
        match self {
            EndpointError::Away { .. } => true,
            EndpointError::Status { status, .. } => *status == 429 || *status >= 500,
            EndpointError::Options { .. } | EndpointError::Form { .. } => false,
        }
    }
}

impl Classify for EndpointError {
    /// Returns a permanent kind only for an error about the texts themselves. A wrong key or a missing model can be
    /// fixed while messages wait.
    fn kind(&self) -> ErrorKind {
        match self {
            EndpointError::Options { .. }
            | EndpointError::Status {
                status: 400 | 413 | 422,
                ..
            } => ErrorKind::Invalid,
            EndpointError::Away { source, .. } if source.is_timeout() => ErrorKind::Timeout,
            EndpointError::Away { .. } | EndpointError::Status { .. } | EndpointError::Form { .. } => {
                ErrorKind::Unavailable
            }
        }
    }
}

/// Returns the pause in a `Retry-After` header, given in seconds or as a date, counted from `now`.
fn parse_retry_after(header: &str, now: DateTime<Utc>) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(header).ok()?;
    Some((until.to_utc() - now).to_std().unwrap_or_default())
}

/// The address of an endpoint, with the section of the settings that contains it.
struct Address<'a> {
    section: &'static str,
    /// Base address up to the version: `http://127.0.0.1:11434/v1`.
    url: &'a str,
    /// Path of the request below `url`.
    path: &'static str,
    model: &'a str,
    key: &'a Secret,
    timeout_secs: u64,
}

impl Address<'_> {
    fn request_url(&self) -> Result<Url, EndpointError> {
        let url = checked_url(self.section, self.url, self.path)?;
        if self.model.is_empty() {
            return Err(self.options_error("`model` is missing: the name of the model at the endpoint"));
        }
        Ok(url)
    }

    fn options_error(&self, detail: impl Into<String>) -> EndpointError {
        options_error(self.section, detail)
    }
}

/// Returns the address of `path` at an endpoint; `base` is the endpoint's address up to the version.
fn checked_url(section: &'static str, base: &str, path: &str) -> Result<Url, EndpointError> {
    let wrong = |detail: &str| options_error(section, detail);
    let url = format!("{}/{}", base.trim_end_matches('/'), path);
    let url = Url::parse(&url).map_err(|error| wrong(&format!("`url` is not an address: {error}")))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "https") => {}
        "https" => return Err(wrong("`url` needs TLS: build with `--features https`")),
        _ => return Err(wrong("`url` must start with http:// or https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("`url` must not contain credentials: use `key`"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(
            "`url` must end with the version, as in http://host/v1, without `?` and `#`",
        ));
    }
    Ok(url)
}

/// Returns the `Authorization` header for a key, or `None` without a key.
fn bearer_header(section: &'static str, key: &Secret) -> Result<Option<HeaderValue>, EndpointError> {
    // A key from a file may end with a line break.
    let key = key.reveal().trim();
    let mut header = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| options_error(section, "`key` has characters that cannot be sent"))?;
    header.set_sensitive(true);
    Ok((!key.is_empty()).then_some(header))
}

fn options_error(section: &'static str, detail: impl Into<String>) -> EndpointError {
    EndpointError::Options {
        section,
        detail: detail.into(),
    }
}

/// Sends requests to one address of an endpoint.
struct Caller {
    client: Client,
    url: Url,
    /// The `Authorization` header.
    key: Option<HeaderValue>,
}

impl Caller {
    /// Makes a caller; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Options` if a setting cannot be used.
    fn new(address: &Address<'_>) -> Result<Caller, EndpointError> {
        let url = address.request_url()?;
        let client = Client::builder()
            .timeout(Duration::from_secs(address.timeout_secs.max(1)))
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| address.options_error(error.without_url().to_string()))?;
        let key = bearer_header(address.section, address.key)?;
        Ok(Caller { client, url, key })
    }

    /// Sends a request and returns the answer, which may have at most `bytes_max` bytes.
    async fn post_json<T: DeserializeOwned>(
        &self,
        body: &impl Serialize,
        bytes_max: usize,
    ) -> Result<T, EndpointError> {
        let mut request = self.client.post(self.url.clone()).json(body);
        if let Some(key) = &self.key {
            request = request.header(reqwest::header::AUTHORIZATION, key);
        }
        let response = request.send().await.map_err(|it| self.unreachable_error(it))?;
        self.read_answer(response, bytes_max).await
    }

    async fn read_answer<T: DeserializeOwned>(
        &self,
        mut response: Response,
        bytes_max: usize,
    ) -> Result<T, EndpointError> {
        let status = response.status();
        if status != StatusCode::OK {
            // The body of the answer may repeat the texts, so only the status is reported.
            let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
            return Err(EndpointError::Status {
                url: self.url.to_string(),
                status: status.as_u16(),
                retry_after: retry_after.and_then(|it| parse_retry_after(it.to_str().ok()?, clock::now())),
            });
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|it| self.unreachable_error(it))? {
            body.extend_from_slice(&chunk);
            if body.len() > bytes_max {
                return Err(self.malformed_answer_error(format!("its answer is over {bytes_max} bytes")));
            }
        }
        // The text of the parser's error may contain parts of the answer.
        serde_json::from_slice(&body).map_err(|error| {
            let (class, line, column) = (error.classify(), error.line(), error.column());
            self.malformed_answer_error(format!(
                "its answer does not have the expected form ({class:?} at line {line}, column {column})"
            ))
        })
    }

    fn unreachable_error(&self, error: reqwest::Error) -> EndpointError {
        EndpointError::Away {
            url: self.url.to_string(),
            source: error.without_url(),
        }
    }

    fn malformed_answer_error(&self, reason: String) -> EndpointError {
        let url = self.url.to_string();
        EndpointError::Form { url, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        for (header, expected) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Mon, 02 Mar 2026 18:00:30 GMT", Some(30)),
            ("Mon, 02 Mar 2026 17:00:00 GMT", Some(0)),
            ("soon", None),
            ("-3", None),
        ] {
            assert_eq!(
                parse_retry_after(header, now),
                expected.map(Duration::from_secs),
                "{header}"
            );
        }
    }
}
