use domain::id::SpaceId;
use gateway::api::{BackfillReport, Reading, ReadingPage, ReadingSummary, StoredReadings};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::responses::read_json_body;
use super::{Client, PAGE, Result};

/// A page of readings in the portable form, which another space accepts.
#[derive(Debug, Deserialize)]
pub(crate) struct PortablePage {
    pub(crate) items: Vec<Value>,
    pub(crate) next: Option<String>,
}

impl Client {
    /// Returns the progress of the readings of a space.
    pub(crate) async fn reading_summary(&self, space: &SpaceId) -> Result<ReadingSummary> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "readings"], &[("limit", "1")]);
        let page: ReadingPage = read_json_body(self.send_request(Method::GET, &url, None).await?).await?;
        Ok(page.summary)
    }

    /// Returns the readings of a space, by id, without the replies of the language model.
    pub(crate) async fn list_readings(&self, space: &SpaceId) -> Result<Vec<Reading>> {
        self.list_all_items(&["v1", "spaces", space.as_str(), "readings"]).await
    }

    /// Returns the page of the readings after the cursor `after`, in the portable form.
    pub(crate) async fn portable_readings(&self, space: &SpaceId, after: Option<&str>) -> Result<PortablePage> {
        let query: Vec<_> = [("limit", PAGE), ("portable", "true")]
            .into_iter()
            .chain(after.map(|it| ("after", it)))
            .collect();
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "readings"], &query);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Stores readings in a space.
    pub(crate) async fn put_readings(&self, space: &SpaceId, items: &[Value]) -> Result<StoredReadings> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "readings"], &[]);
        let body = json!({ "items": items });
        read_json_body(self.send_request(Method::PUT, &url, Some(&body)).await?).await
    }

    /// Requests that a language model reads the unread records of a space; returns the counts of them.
    pub(crate) async fn request_backfill(&self, space: &SpaceId, body: &Value) -> Result<BackfillReport> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "readings"], &[]);
        read_json_body(self.send_request(Method::POST, &url, Some(body)).await?).await
    }
}
