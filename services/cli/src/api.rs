//! A client of Mnemic's HTTP interface, with the calls that the commands need.

mod erasures;
mod events;
mod keys;
mod progress;
mod questions;
mod readings;
mod responses;
mod retry;

use std::time::Duration;

use domain::curation::Curation;
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::SpaceId;
use domain::page;
use domain::topic::Topic;
use gateway::api::{
    Accepted, Curated, DeadLetter, Erased, PageHead, Progress, Rebuild, Record, RecordPage, Space, UnitView,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::responses::{check_status, read_json_body};
use self::retry::{PAUSE, Retry, TRIES, pause_before_retry};

/// Timeout of one request, unless the budget of a question is longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum number of records on a page. The server ends a page at 4 MiB, so a page stays small.
const PAGE: &str = "100";

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The argument is not a URL.
    #[error("`{url}` is not the URL of a server: give one such as http://127.0.0.1:7077")]
    Url { url: String },
    /// The URL needs TLS, and this build has no TLS.
    #[error("`{url}` needs TLS, which this build does not include: build it with `--features https`")]
    NoTls { url: Url },
    /// No server answered.
    #[error("no answer from {url}; is `mnemic serve` running there?")]
    Unreachable { url: Url, source: reqwest::Error },
    /// The server refused the request.
    #[error("{status} {title}{}{detail}", if detail.is_empty() { "" } else { ": " })]
    Refused { status: u16, title: String, detail: String },
    /// A write is not searchable yet.
    #[error("{detail}")]
    NotWritten { detail: String, progress: Box<Progress> },
    /// A write failed permanently: the server keeps it as a dead letter.
    #[error("{detail}")]
    WriteFailed { detail: String },
    /// The response ended after the steps of a question and before the answer.
    #[error("{url} closed the connection before the end of its response; try again")]
    BrokenOff { url: Url },
    /// The response is not in the format of Mnemic.
    #[error("{url} does not answer as a Mnemic server does")]
    Unreadable { url: Url, source: reqwest::Error },
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A problem document (RFC 9457), from the server or from a proxy in front of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    status: u16,
    title: String,
    detail: String,
    progress: Option<Box<Progress>>,
    dead_letter: Option<String>,
}

/// One page of any list.
#[derive(Debug, Deserialize)]
struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
}

/// A client of one server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: Option<String>,
}

impl Client {
    pub(crate) fn new(url: &str, key: Option<String>) -> anyhow::Result<Client> {
        let base = Url::parse(url)
            .ok()
            .filter(|it| it.has_host())
            .ok_or_else(|| Error::Url { url: url.to_owned() })?;
        if base.scheme() == "https" && !host::SPEAKS_TLS {
            return Err(Error::NoTls { url: base }.into());
        }
        Ok(Client {
            http: reqwest::Client::builder().timeout(PATIENCE).build()?,
            base,
            key,
        })
    }

    /// Returns the URL of a path below the URL of the server.
    pub(crate) fn url_of_path(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Creates a space; returns true if it is new.
    pub(crate) async fn create_space(&self, space: &SpaceId) -> Result<bool> {
        let response = self
            .send_request(
                Method::PUT,
                &self.url_of_path(&["v1", "spaces", space.as_str()], &[]),
                None,
            )
            .await?;
        Ok(response.status() == StatusCode::CREATED)
    }

    /// Returns the description of a space and its counts.
    pub(crate) async fn get_space(&self, space: &SpaceId) -> Result<Space> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str()], &[]);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Returns the page of the records that match `filter`, after the cursor `after`, in the order in which they were stored.
    pub(crate) async fn list_record_page(
        &self,
        space: &SpaceId,
        filter: &[(&str, &str)],
        after: Option<&str>,
    ) -> Result<RecordPage> {
        let query: Vec<_> = [("limit", PAGE)]
            .into_iter()
            .chain(after.map(|it| ("after", it)))
            .chain(filter.iter().copied())
            .collect();
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "records"], &query);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Returns one record, by the caller's id or by Mnemic's id.
    pub(crate) async fn get_record(&self, space: &SpaceId, id: &str) -> Result<Record> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "records", id], &[]);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Erases one record, by the caller's id or by Mnemic's id.
    pub(crate) async fn erase_record(&self, space: &SpaceId, id: &str) -> Result<Curated> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "records", id], &[]);
        read_json_body(self.send_request(Method::DELETE, &url, None).await?).await
    }

    /// Erases records of a session, given by the caller's name or by Mnemic's id, up to the limit of one request.
    pub(crate) async fn erase_session(&self, space: &SpaceId, session: &str) -> Result<Erased> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "sessions", session], &[]);
        read_json_body(self.send_request(Method::DELETE, &url, None).await?).await
    }

    /// Returns all spaces that the key may see, by name.
    pub(crate) async fn list_spaces(&self) -> Result<Vec<Space>> {
        self.list_all_items(&["v1", "spaces"]).await
    }

    /// Returns all dead letters that the key may see.
    pub(crate) async fn dead_letters(&self) -> Result<Vec<DeadLetter>> {
        self.list_all_items(&["v1", "admin", "dead-letters"]).await
    }

    /// Returns one dead letter.
    pub(crate) async fn dead_letter(&self, id: &str) -> Result<DeadLetter> {
        let url = self.url_of_path(&["v1", "admin", "dead-letters", id], &[]);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Delivers a dead letter again.
    pub(crate) async fn replay_dead_letter(&self, id: &str) -> Result<()> {
        let url = self.url_of_path(&["v1", "admin", "dead-letters", id, "replay"], &[]);
        self.send_request(Method::POST, &url, None).await.map(|_| ())
    }

    /// Deletes a dead letter.
    pub(crate) async fn discard_dead_letter(&self, id: &str) -> Result<()> {
        let url = self.url_of_path(&["v1", "admin", "dead-letters", id], &[]);
        self.send_request(Method::DELETE, &url, None).await.map(|_| ())
    }

    /// Starts a rebuild of a space.
    pub(crate) async fn start_rebuild(&self, space: &SpaceId) -> Result<Rebuild> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "rebuild"], &[]);
        read_json_body(self.send_request(Method::POST, &url, None).await?).await
    }

    /// Returns the progress of the rebuild of a space.
    pub(crate) async fn get_rebuild_progress(&self, space: &SpaceId) -> Result<Rebuild> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "rebuild"], &[]);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Returns the facts of a space that match `filter`, by id.
    pub(crate) async fn list_facts(&self, space: &SpaceId, filter: &[(&str, &str)]) -> Result<Vec<Fact>> {
        self.list_matching_items(&["v1", "spaces", space.as_str(), "facts"], filter)
            .await
    }

    /// Returns the units of a space that match `filter`, in the order of their latest changes.
    pub(crate) async fn list_units(&self, space: &SpaceId, filter: &[(&str, &str)]) -> Result<Vec<UnitView>> {
        self.list_matching_items(&["v1", "spaces", space.as_str(), "units"], filter)
            .await
    }

    /// Returns the topics of a space that match `filter`, by id.
    pub(crate) async fn list_topics(&self, space: &SpaceId, filter: &[(&str, &str)]) -> Result<Vec<Topic>> {
        self.list_matching_items(&["v1", "spaces", space.as_str(), "topics"], filter)
            .await
    }

    /// Returns the pages of a space that match `filter`, by id, without their sections.
    pub(crate) async fn list_pages(&self, space: &SpaceId, filter: &[(&str, &str)]) -> Result<Vec<PageHead>> {
        self.list_matching_items(&["v1", "spaces", space.as_str(), "pages"], filter)
            .await
    }

    /// Returns one page with its sections.
    pub(crate) async fn get_page(&self, space: &SpaceId, id: &str, as_of: Option<&str>) -> Result<page::Page> {
        let url = self.url_of_path(
            &["v1", "spaces", space.as_str(), "pages", id],
            &parameters_with_values(&[("as_of", as_of)]),
        );
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Returns the entities of a space that match `filter`, by id.
    pub(crate) async fn list_entities(&self, space: &SpaceId, filter: &[(&str, &str)]) -> Result<Vec<Entity>> {
        self.list_matching_items(&["v1", "spaces", space.as_str(), "entities"], filter)
            .await
    }

    /// Returns the audit log of a space, by id.
    pub(crate) async fn list_curations(&self, space: &SpaceId) -> Result<Vec<Curation>> {
        self.list_all_items(&["v1", "spaces", space.as_str(), "curations"])
            .await
    }

    /// Returns one unit.
    pub(crate) async fn get_unit(&self, space: &SpaceId, id: &str, as_of: Option<&str>) -> Result<UnitView> {
        let url = self.url_of_path(
            &["v1", "spaces", space.as_str(), "units", id],
            &parameters_with_values(&[("as_of", as_of)]),
        );
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    async fn list_all_items<T: DeserializeOwned>(&self, path: &[&str]) -> Result<Vec<T>> {
        self.list_matching_items(path, &[]).await
    }

    /// Returns all items of a list that match `filter`; follows the cursors to the last page.
    async fn list_matching_items<T: DeserializeOwned>(&self, path: &[&str], filter: &[(&str, &str)]) -> Result<Vec<T>> {
        let mut items = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let cursor = after.as_deref().map(|it| ("after", it));
            let query: Vec<_> = cursor
                .into_iter()
                .chain([("limit", "100")])
                .chain(filter.iter().copied())
                .collect();
            let page: Page<T> = read_json_body(
                self.send_request(Method::GET, &self.url_of_path(path, &query), None)
                    .await?,
            )
            .await?;
            items.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Sends records under an idempotency key.
    pub(crate) async fn send_records(&self, space: &SpaceId, key: &str, records: &[Value]) -> Result<Accepted> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "records"], &[]);
        let body = json!({ "records": records });
        let request = || {
            self.build_request(Method::POST, &url)
                .header("Idempotency-Key", key)
                .json(&body)
        };
        read_json_body(self.send_with_retries(&url, Retry::Always, request).await?).await
    }

    /// Sends a request that is safe to repeat.
    async fn send_request(&self, method: Method, url: &Url, body: Option<&Value>) -> Result<Response> {
        let request = || {
            let request = self.build_request(method.clone(), url);
            match body {
                Some(body) => request.json(body),
                None => request,
            }
        };
        self.send_with_retries(url, Retry::Always, request).await
    }

    fn build_request(&self, method: Method, url: &Url) -> RequestBuilder {
        let request = self.http.request(method, url.clone());
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request, with retries while the server is full; a pause is at least the time in `Retry-After`. If that time
    /// is too long for a command, the response is returned at once. Every request of this client is safe to repeat, except
    /// the creation and the rotation of a key.
    async fn send_with_retries(
        &self,
        url: &Url,
        retry: Retry,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response> {
        let mut pause = PAUSE;
        for attempt in 1.. {
            let sent = request().send().await;
            let response = sent.map_err(|source| Error::Unreachable {
                url: url.clone(),
                source: source.without_url(),
            })?;
            match pause_before_retry(pause, response.headers()) {
                Some(wait) if retry.may_help(&response) && attempt < TRIES => tokio::time::sleep(wait).await,
                _ => return check_status(response).await,
            }
            pause *= 2;
        }
        unreachable!("the loop has no end but its returns")
    }
}

/// Returns the query parameters that have a value.
pub(crate) fn parameters_with_values<'a>(parameters: &[(&'a str, Option<&'a str>)]) -> Vec<(&'a str, &'a str)> {
    parameters
        .iter()
        .filter_map(|(name, value)| Some((*name, (*value)?)))
        .collect()
}
