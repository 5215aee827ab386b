//! Questions and messages with a budget of time.

use std::time::Duration;

use domain::id::SpaceId;
use gateway::api::RecallResponse;
use reqwest::{Method, Response, Url};
use serde_json::Value;

use super::responses::read_json_body;
use super::{Client, PATIENCE, Result, Retry};

/// Time beyond the budget of a request in which its response may arrive.
const MARGIN: Duration = Duration::from_secs(10);

impl Client {
    /// Asks a question; returns the body of the response unchanged.
    pub(crate) async fn send_query(&self, space: &SpaceId, body: &Value) -> Result<Value> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "query"], &[]);
        read_json_body(self.send_with_budget(&url, body).await?).await
    }

    /// Sends a message to a space; returns the hints.
    pub(crate) async fn recall_hints(&self, space: &SpaceId, body: &Value) -> Result<RecallResponse> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "recall"], &[]);
        read_json_body(self.send_with_budget(&url, body).await?).await
    }

    async fn send_with_budget(&self, url: &Url, body: &Value) -> Result<Response> {
        let timeout = timeout_for_budget(body);
        let request = || self.build_request(Method::POST, url).timeout(timeout).json(body);
        self.send_with_retries(url, Retry::Always, request).await
    }
}

/// Returns the timeout of a request with this body: longer than the time of its budget, so that the response of a server
/// that uses all of that time still arrives.
pub(super) fn timeout_for_budget(body: &Value) -> Duration {
    let budget = body["budget"]["ms"].as_u64().map(Duration::from_millis);
    budget.map_or(PATIENCE, |it| it.saturating_add(MARGIN).max(PATIENCE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_timeout_is_longer_than_the_budget() {
        let timeout = |ms: Value| timeout_for_budget(&json!({ "budget": { "ms": ms } }));
        assert_eq!(timeout(json!(120_000)), Duration::from_secs(130));
        assert_eq!(timeout(json!(50_001)), Duration::from_millis(60_001));
        for short in [json!(2_000), json!(null)] {
            assert_eq!(timeout(short), PATIENCE);
        }
        assert_eq!(timeout_for_budget(&json!({ "question": "Where?" })), PATIENCE);
        assert!(timeout(json!(u64::MAX)) > Duration::from_millis(u64::MAX));
    }
}
