//! The calls of Mnemic's HTTP API that an evaluation needs.

use std::time::Duration;

use anyhow::{Context, bail};
use domain::id::SpaceId;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

/// Timeout of a request.
const PATIENCE: Duration = Duration::from_secs(150);

/// Number of attempts while the server is overloaded or restarting; the pause starts at [`PAUSE`] and doubles.
const TRIES: u32 = 8;

/// First pause between attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Time that the server holds one progress request, in milliseconds.
const HELD_MS: u32 = 10_000;

/// Number of progress requests before a batch counts as stuck.
const HOLDS: u32 = 60;

/// Pause between two checks of the derivation.
const DERIVING_PAUSE: Duration = Duration::from_millis(500);

/// Number of checks before the derivation counts as stuck.
const DERIVING_LOOKS: u32 = 1_200;

/// A client of one server.
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: Option<String>,
}

/// Outcome of sending records.
#[derive(Debug, Deserialize)]
pub struct Accepted {
    /// Watermark to wait for.
    pub watermark: String,
    /// Outcome for each record.
    #[serde(default)]
    pub items: Vec<Outcome>,
}

/// Outcome of sending one record.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    /// Id of the record.
    #[serde(default)]
    pub id: Option<String>,
    /// `accepted`, `duplicate` or `rejected`.
    pub status: String,
    /// Reason of a rejection.
    #[serde(default)]
    pub problem: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Progress {
    written: bool,
    #[serde(default)]
    backlog: u64,
    #[serde(default)]
    deriving: u64,
}

/// Answer to a question, reduced to the measured fields.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// Whether the evidence is enough.
    pub verdict: Status,
    /// The short answer.
    #[serde(default)]
    pub answer: Option<Text>,
    /// The evidence.
    pub pack: Pack,
    /// Units in rank order, if requested.
    #[serde(default)]
    pub ranked: Option<Vec<ShownItem>>,
    /// Parts of the server that could not be used.
    #[serde(default)]
    pub degraded: Vec<String>,
}

/// The status of a verdict.
#[derive(Debug, Deserialize)]
pub struct Status {
    /// `supported`, `partial`, `insufficient` or `conflicting`.
    pub status: String,
}

/// The text of an answer.
#[derive(Debug, Deserialize)]
pub struct Text {
    /// The answer.
    pub text: String,
}

/// Evidence inside a budget.
#[derive(Debug, Deserialize)]
pub struct Pack {
    /// Items in reading order.
    pub items: Vec<ShownItem>,
    /// Number of tokens.
    pub tokens: u32,
}

/// One piece of evidence.
#[derive(Debug, Deserialize)]
pub struct ShownItem {
    /// Ids under which the records were sent.
    pub external_ids: Vec<String>,
    /// Text as a reader sees it.
    pub text: String,
}

/// Hints for a message.
#[derive(Debug, Deserialize)]
pub struct RecallReply {
    /// Hints, best first.
    pub hints: Vec<Hinted>,
}

/// One hint, reduced to the measured fields.
#[derive(Debug, Deserialize)]
pub struct Hinted {
    /// Ids under which the records were sent.
    pub external_ids: Vec<String>,
    /// Reason why the hint was given.
    pub trigger: String,
    /// Text of the hint.
    pub text: String,
}

impl Client {
    /// Returns a client of the server at `url`, with a bearer key if the server needs one.
    ///
    /// # Errors
    /// If the URL cannot be the URL of a server.
    pub fn new(url: &str, key: Option<String>) -> anyhow::Result<Client> {
        let base = Url::parse(url).with_context(|| format!("{url} is not a URL"))?;
        if base.cannot_be_a_base() {
            bail!("{url} is not the URL of a server");
        }
        let http = reqwest::Client::builder()
            .timeout(PATIENCE)
            .build()
            .context("cannot make an HTTP client")?;
        Ok(Client { http, base, key })
    }

    /// Creates a space; has no effect if the space exists.
    ///
    /// # Errors
    /// If the server rejects the request or cannot be reached.
    pub async fn create(&self, space: &SpaceId) -> anyhow::Result<()> {
        let url = self.url(space, &[], &[])?;
        self.send_with_retries(|| self.request(Method::PUT, &url))
            .await
            .map(|_| ())
    }

    /// Sends records with an idempotency key.
    ///
    /// # Errors
    /// If the server rejects the request or cannot be reached.
    pub async fn add(&self, space: &SpaceId, key: &str, body: &Value) -> anyhow::Result<Accepted> {
        let url = self.url(space, &["records"], &[])?;
        let request = || {
            self.request(Method::POST, &url)
                .header("Idempotency-Key", key)
                .json(body)
        };
        Ok(self.send_with_retries(request).await?.json().await?)
    }

    /// Waits until the records up to the watermark are searchable.
    ///
    /// # Errors
    /// If they are not searchable within ten minutes, or if the server cannot be reached.
    pub async fn wait_until_written(&self, space: &SpaceId, watermark: &str) -> anyhow::Result<()> {
        let url = self.url(
            space,
            &["progress"],
            &[("watermark", watermark), ("wait_ms", &HELD_MS.to_string())],
        )?;
        for _ in 0..HOLDS {
            let response = self.request(Method::GET, &url).send().await?;
            if response.status() == StatusCode::GATEWAY_TIMEOUT {
                continue;
            }
            if check_status(response).await?.json::<Progress>().await?.written {
                return Ok(());
            }
        }
        bail!("{space} was not written in time")
    }

    /// Waits until the derivation of the space has nothing left to do.
    ///
    /// # Errors
    /// If the derivation takes more than ten minutes, or if the server cannot be reached.
    pub async fn wait_until_derived(&self, space: &SpaceId) -> anyhow::Result<()> {
        let url = self.url(space, &["progress"], &[])?;
        for _ in 0..DERIVING_LOOKS {
            let progress: Progress = check_status(self.request(Method::GET, &url).send().await?)
                .await?
                .json()
                .await?;
            if progress.backlog == 0 && progress.deriving == 0 {
                return Ok(());
            }
            tokio::time::sleep(DERIVING_PAUSE).await;
        }
        bail!("what follows from {space} was not derived in time")
    }

    /// Asks a question and returns the answer.
    ///
    /// # Errors
    /// If the server rejects the request or cannot be reached.
    pub async fn query(&self, space: &SpaceId, body: &Value) -> anyhow::Result<Reply> {
        let url = self.url(space, &["query"], &[])?;
        Ok(self
            .send_with_retries(|| self.request(Method::POST, &url).json(body))
            .await?
            .json()
            .await?)
    }

    /// Sends a message and returns the hints for it.
    ///
    /// # Errors
    /// If the server rejects the request or cannot be reached.
    pub async fn recall(&self, space: &SpaceId, body: &Value) -> anyhow::Result<RecallReply> {
        let url = self.url(space, &["recall"], &[])?;
        Ok(self
            .send_with_retries(|| self.request(Method::POST, &url).json(body))
            .await?
            .json()
            .await?)
    }

    fn url(&self, space: &SpaceId, path: &[&str], query: &[(&str, &str)]) -> anyhow::Result<Url> {
        let mut url = self.base.clone();
        let mut segments = url
            .path_segments_mut()
            .map_err(|()| anyhow::anyhow!("not the URL of a server"))?;
        segments
            .pop_if_empty()
            .extend(["v1", "spaces", space.as_str()])
            .extend(path);
        drop(segments);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    fn request(&self, method: Method, url: &Url) -> RequestBuilder {
        let request = self.http.request(method, url.clone());
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request that may be repeated, and retries it while the server is overloaded or not reachable.
    async fn send_with_retries(&self, request: impl Fn() -> RequestBuilder) -> anyhow::Result<Response> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match request().send().await {
                Ok(response) if !is_busy(response.status()) => return check_status(response).await,
                Ok(_) => {}
                Err(error) if error.is_connect() => {}
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        check_status(request().send().await?).await
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

async fn check_status(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let url = response.url().clone();
    bail!("{url} answered {status}: {}", response.text().await.unwrap_or_default())
}
