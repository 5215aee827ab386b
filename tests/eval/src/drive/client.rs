//! The calls of Mnemic's HTTP interface that measuring takes.

use std::time::Duration;

use anyhow::{Context, bail};
use domain::id::SpaceId;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

/// Time a request may take.
const PATIENCE: Duration = Duration::from_secs(150);

/// Tries while the server is full or restarting; the pause doubles from [`PAUSE`].
const TRIES: u32 = 8;

/// First pause between tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Time the server holds one question for progress, milliseconds.
const HELD_MS: u32 = 10_000;

/// Questions for progress before a batch counts as stuck.
const HOLDS: u32 = 60;

/// Pause between two looks at what is being derived.
const DERIVING_PAUSE: Duration = Duration::from_millis(500);

/// Looks before deriving counts as stuck.
const DERIVING_LOOKS: u32 = 1_200;

/// Speaks to one server.
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: Option<String>,
}

/// Outcome of sending records.
#[derive(Debug, Deserialize)]
pub struct Accepted {
    /// To wait for.
    pub watermark: String,
    /// Outcome by record.
    #[serde(default)]
    pub items: Vec<Outcome>,
}

/// Outcome of sending one record.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    /// The record's id.
    #[serde(default)]
    pub id: Option<String>,
    /// `accepted`, `duplicate` or `rejected`.
    pub status: String,
    /// Why it was rejected.
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

/// Answer to a question, as far as it is measured.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// Whether the evidence is enough.
    pub verdict: Status,
    /// The short answer.
    #[serde(default)]
    pub answer: Option<Text>,
    /// The evidence.
    pub pack: Pack,
    /// Units in rank order, if asked for.
    #[serde(default)]
    pub ranked: Option<Vec<Shown>>,
    /// What could not be used.
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
    /// In reading order.
    pub items: Vec<Shown>,
    /// What it costs.
    pub tokens: u32,
}

/// One piece of evidence.
#[derive(Debug, Deserialize)]
pub struct Shown {
    /// The ids the records were sent with.
    pub external_ids: Vec<String>,
    /// What a reader sees.
    pub text: String,
}

/// What a message woke.
#[derive(Debug, Deserialize)]
pub struct Recalled {
    /// Best first.
    pub hints: Vec<Hinted>,
}

/// One hint, as far as it is measured.
#[derive(Debug, Deserialize)]
pub struct Hinted {
    /// The ids the records were sent with.
    pub external_ids: Vec<String>,
    /// What woke it.
    pub trigger: String,
    /// What it says.
    pub text: String,
}

impl Client {
    /// Makes a client of the server at `url`, with a bearer key if it asks for one.
    ///
    /// # Errors
    /// If the URL cannot be one of a server.
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

    /// Creates a space; one that exists stays.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn create(&self, space: &SpaceId) -> anyhow::Result<()> {
        let url = self.url(space, &[], &[])?;
        self.tried(|| self.request(Method::PUT, &url)).await.map(|_| ())
    }

    /// Sends records under an idempotency key.
    ///
    /// # Errors
    /// If the server refuses all of them or cannot be reached.
    pub async fn add(&self, space: &SpaceId, key: &str, body: &Value) -> anyhow::Result<Accepted> {
        let url = self.url(space, &["records"], &[])?;
        let request = || {
            self.request(Method::POST, &url)
                .header("Idempotency-Key", key)
                .json(body)
        };
        Ok(self.tried(request).await?.json().await?)
    }

    /// Waits until what was sent is searchable.
    ///
    /// # Errors
    /// If it is not in ten minutes, or the server cannot be reached.
    pub async fn written(&self, space: &SpaceId, watermark: &str) -> anyhow::Result<()> {
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
            if checked(response).await?.json::<Progress>().await?.written {
                return Ok(());
            }
        }
        bail!("{space} was not written in time")
    }

    /// Waits until nothing of the space is waiting to be derived.
    ///
    /// # Errors
    /// If it is not in ten minutes, or the server cannot be reached.
    pub async fn derived(&self, space: &SpaceId) -> anyhow::Result<()> {
        let url = self.url(space, &["progress"], &[])?;
        for _ in 0..DERIVING_LOOKS {
            let progress: Progress = checked(self.request(Method::GET, &url).send().await?)
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

    /// Asks a question.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn query(&self, space: &SpaceId, body: &Value) -> anyhow::Result<Reply> {
        let url = self.url(space, &["query"], &[])?;
        Ok(self
            .tried(|| self.request(Method::POST, &url).json(body))
            .await?
            .json()
            .await?)
    }

    /// Says a message and takes what it wakes.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn recall(&self, space: &SpaceId, body: &Value) -> anyhow::Result<Recalled> {
        let url = self.url(space, &["recall"], &[])?;
        Ok(self
            .tried(|| self.request(Method::POST, &url).json(body))
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

    /// Sends a request that may be repeated until it gets through.
    async fn tried(&self, request: impl Fn() -> RequestBuilder) -> anyhow::Result<Response> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match request().send().await {
                Ok(response) if !busy(response.status()) => return checked(response).await,
                Ok(_) => {}
                Err(error) if error.is_connect() => {}
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        checked(request().send().await?).await
    }
}

fn busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

async fn checked(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let url = response.url().clone();
    bail!("{url} answered {status}: {}", response.text().await.unwrap_or_default())
}
