//! Models over HTTP: whatever speaks OpenAI's API, such as Ollama, vLLM, llama.cpp and OpenAI itself.
//!
//! [`embeddings`] turns texts into vectors, [`chat`] replies to prompts, [`relay`] passes the requests of others on. What is sent
//! is never repeated in an error or a log, nor is what an endpoint says of it.

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

use crate::{Secret, clock};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Why an endpoint cannot be used, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A setting that cannot be used.
    #[error("[{section}] {detail}")]
    Options {
        /// The section of the settings.
        section: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// Nobody answers.
    #[error("the endpoint {url} does not answer")]
    Away {
        /// What was asked.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// It answers with an error.
    #[error("the endpoint {url} answers {status}")]
    Status {
        /// What was asked.
        url: String,
        /// With what it answered.
        status: u16,
        /// How long it asks to be left alone (`Retry-After`), if it says so.
        retry_after: Option<Duration>,
    },
    /// It answers with something else than it should, or with other vectors than at the start.
    #[error("the endpoint {url} is of no use: {reason}")]
    Form {
        /// What was asked.
        url: String,
        /// What is wrong.
        reason: String,
    },
}

impl EndpointError {
    /// Says whether whoever starts should try again: the endpoint may be starting, too.
    pub fn may_be_starting(&self) -> bool {
        match self {
            EndpointError::Away { .. } => true,
            EndpointError::Status { status, .. } => *status == 429 || *status >= 500,
            EndpointError::Options { .. } | EndpointError::Form { .. } => false,
        }
    }
}

impl Classify for EndpointError {
    /// Only what the endpoint says of the texts themselves will not pass: a wrong key or a missing model can be mended while
    /// messages wait.
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

/// Reads `Retry-After`, seconds or a date, as a time from `now`.
fn pause(header: &str, now: DateTime<Utc>) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(header).ok()?;
    Some((until.to_utc() - now).to_std().unwrap_or_default())
}

/// Where an endpoint is, as its section of the settings names it.
struct Address<'a> {
    section: &'static str,
    /// Up to the version: `http://127.0.0.1:11434/v1`.
    url: &'a str,
    /// What is asked there.
    path: &'static str,
    model: &'a str,
    key: &'a Secret,
    timeout_secs: u64,
}

impl Address<'_> {
    fn url(&self) -> Result<Url, EndpointError> {
        let url = checked_url(self.section, self.url, self.path)?;
        if self.model.is_empty() {
            return Err(self.wrong("`model` is missing: the name of the model at the endpoint"));
        }
        Ok(url)
    }

    fn wrong(&self, detail: impl Into<String>) -> EndpointError {
        wrong(self.section, detail)
    }
}

/// Returns the address of `path` at an endpoint whose own address, up to the version, is `base`.
fn checked_url(section: &'static str, base: &str, path: &str) -> Result<Url, EndpointError> {
    let wrong = |detail: &str| wrong(section, detail);
    let url = format!("{}/{}", base.trim_end_matches('/'), path);
    let url = Url::parse(&url).map_err(|error| wrong(&format!("`url` is no address: {error}")))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "https") => {}
        "https" => return Err(wrong("`url` wants TLS: build with `--features https`")),
        _ => return Err(wrong("`url` starts with http:// or https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("`url` has no place for credentials: use `key`"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(
            "`url` ends with the version, as in http://host/v1: it has no `?` and no `#`",
        ));
    }
    Ok(url)
}

/// Returns the `Authorization` that a key is sent as; none without a key.
fn bearer(section: &'static str, key: &Secret) -> Result<Option<HeaderValue>, EndpointError> {
    // A key that was read from a file may end with a line break.
    let key = key.reveal().trim();
    let mut header = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| wrong(section, "`key` has characters that cannot be sent"))?;
    header.set_sensitive(true);
    Ok((!key.is_empty()).then_some(header))
}

fn wrong(section: &'static str, detail: impl Into<String>) -> EndpointError {
    EndpointError::Options {
        section,
        detail: detail.into(),
    }
}

/// Asks one thing of an endpoint.
struct Caller {
    client: Client,
    url: Url,
    /// What is sent along as `Authorization`.
    key: Option<HeaderValue>,
}

impl Caller {
    /// # Errors
    /// `Options` if a setting cannot be used.
    fn new(address: &Address<'_>) -> Result<Caller, EndpointError> {
        let url = address.url()?;
        let client = Client::builder()
            .timeout(Duration::from_secs(address.timeout_secs.max(1)))
            .connect_timeout(CONNECT)
            .build()
            .map_err(|error| address.wrong(error.without_url().to_string()))?;
        let key = bearer(address.section, address.key)?;
        Ok(Caller { client, url, key })
    }

    /// Returns what is answered, read up to `bytes_max`.
    async fn ask<T: DeserializeOwned>(&self, asked: &impl Serialize, bytes_max: usize) -> Result<T, EndpointError> {
        let mut request = self.client.post(self.url.clone()).json(asked);
        if let Some(key) = &self.key {
            request = request.header(reqwest::header::AUTHORIZATION, key);
        }
        let response = request.send().await.map_err(|it| self.away(it))?;
        self.read(response, bytes_max).await
    }

    async fn read<T: DeserializeOwned>(&self, mut response: Response, bytes_max: usize) -> Result<T, EndpointError> {
        let status = response.status();
        if status != StatusCode::OK {
            // What it says may repeat the texts, so only its status is told.
            let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
            return Err(EndpointError::Status {
                url: self.url.to_string(),
                status: status.as_u16(),
                retry_after: retry_after.and_then(|it| pause(it.to_str().ok()?, clock::now())),
            });
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|it| self.away(it))? {
            body.extend_from_slice(&chunk);
            if body.len() > bytes_max {
                return Err(self.form(format!("its answer is over {bytes_max} bytes")));
            }
        }
        // The text of such an error may hold what was answered.
        serde_json::from_slice(&body).map_err(|error| {
            let (class, line, column) = (error.classify(), error.line(), error.column());
            self.form(format!(
                "its answer does not hold what was asked for ({class:?} at line {line}, column {column})"
            ))
        })
    }

    fn away(&self, error: reqwest::Error) -> EndpointError {
        EndpointError::Away {
            url: self.url.to_string(),
            source: error.without_url(),
        }
    }

    fn form(&self, reason: String) -> EndpointError {
        let url = self.url.to_string();
        EndpointError::Form { url, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_read_as_seconds_or_as_a_date() {
        let now = "2026-03-02T18:00:00Z".parse().unwrap();
        for (header, expected) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Mon, 02 Mar 2026 18:00:30 GMT", Some(30)),
            ("Mon, 02 Mar 2026 17:00:00 GMT", Some(0)),
            ("soon", None),
            ("-3", None),
        ] {
            assert_eq!(pause(header, now), expected.map(Duration::from_secs), "{header}");
        }
    }
}
