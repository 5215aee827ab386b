//! One thing or one page at a time of a server, where `api` reads lists to their end.

use std::time::Duration;

use domain::id::SpaceId;
use gateway::Problem;
use gateway::api::{Curated, Record, RecordPage, Space};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::api::{Client, Error, Result};
use crate::args::Remote;

/// Time a request may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tries while the server is full or restarting, and the first pause between them, which doubles.
const TRIES: u32 = 7;
const PAUSE: Duration = Duration::from_millis(200);
/// Records of a page. A record may have 100 KiB, so a page is never large.
const PAGE: &str = "100";

/// Looks at one server.
pub(crate) struct Lookup {
    client: Client,
    http: reqwest::Client,
    key: Option<String>,
}

impl Lookup {
    pub(crate) fn new(remote: &Remote) -> anyhow::Result<Lookup> {
        Ok(Lookup {
            client: Client::new(&remote.url, remote.key.clone())?,
            http: reqwest::Client::builder().timeout(PATIENCE).build()?,
            key: remote.key.clone(),
        })
    }

    /// Returns what a space holds.
    pub(crate) async fn space(&self, space: &SpaceId) -> Result<Space> {
        self.send(Method::GET, &["v1", "spaces", space.as_str()], &[]).await
    }

    /// Returns the page of records behind `after`, in the order in which they were stored.
    pub(crate) async fn records(&self, space: &SpaceId, after: Option<&str>) -> Result<RecordPage> {
        let path = ["v1", "spaces", space.as_str(), "records"];
        let query: Vec<_> = [("limit", PAGE)]
            .into_iter()
            .chain(after.map(|it| ("after", it)))
            .collect();
        self.send(Method::GET, &path, &query).await
    }

    /// Returns one record, by the caller's id or Mnemic's.
    pub(crate) async fn record(&self, space: &SpaceId, id: &str) -> Result<Record> {
        let path = ["v1", "spaces", space.as_str(), "records", id];
        self.send(Method::GET, &path, &[]).await
    }

    /// Erases one record, by the caller's id or Mnemic's.
    pub(crate) async fn erase(&self, space: &SpaceId, id: &str) -> Result<Curated> {
        let path = ["v1", "spaces", space.as_str(), "records", id];
        self.send(Method::DELETE, &path, &[]).await
    }

    async fn send<T: DeserializeOwned>(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> Result<T> {
        let url = self.client.url(path, query);
        let unreachable = |source: reqwest::Error| Error::Unreachable {
            url: url.clone(),
            source: source.without_url(),
        };
        let (mut tries, mut pause) = (1, PAUSE);
        let response = loop {
            let mut request = self.http.request(method.clone(), url.clone());
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            let response = request.send().await.map_err(unreachable)?;
            let full = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&response.status());
            if !full || tries == TRIES {
                break response;
            }
            tokio::time::sleep(pause).await;
            tries += 1;
            pause *= 2;
        };
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(|source| Error::Unreadable {
                url: url.clone(),
                source: source.without_url(),
            });
        }
        let reason = status.canonical_reason().unwrap_or_default();
        let problem: Option<Problem> = response.json().await.ok();
        let (title, detail) = problem.map_or((reason.to_owned(), String::new()), |it| (it.title, it.detail));
        Err(Error::Refused {
            status: status.as_u16(),
            title,
            detail,
        })
    }
}
