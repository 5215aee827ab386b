//! Calls of the HTTP API.
#![expect(clippy::unwrap_used, reason = "part of tests, though it lives in a library")]
use std::time::Duration;

use anyhow::Result;
use fixtures::wait_for;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

/// A client of one gateway.
#[derive(Clone)]
pub struct Api {
    /// The underlying HTTP client.
    pub http: Client,
    /// Base URL, `http://host:port/v1`.
    pub base: String,
    key: Option<String>,
}

impl Api {
    /// Returns a client of the gateway at an address, without a key.
    ///
    /// # Errors
    /// If the HTTP client cannot be built.
    pub fn new(address: &str) -> Result<Api> {
        let http = Client::builder().timeout(Duration::from_secs(40)).build()?;
        Ok(Api {
            http,
            base: format!("http://{address}/v1"),
            key: None,
        })
    }

    /// Returns the same client with a key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Api {
        Api {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// Sends a request and returns status and body. The body is null if it is not JSON.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn try_send(&self, request: RequestBuilder) -> Result<(u16, Value)> {
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await?;
        let status = response.status().as_u16();
        let body = response.bytes().await?;
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    }

    /// Sends a request and returns status and body.
    ///
    /// # Panics
    /// If there is no response.
    pub async fn send(&self, request: RequestBuilder) -> (u16, Value) {
        self.try_send(request).await.unwrap()
    }

    /// Sends a GET request to a path below `/v1`.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    /// Sends a POST request to a path below `/v1`.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body))
            .await
    }

    /// Sends a PUT request to a path below `/v1`.
    pub async fn put(&self, path: &str) -> (u16, Value) {
        self.send(self.http.put(format!("{}{path}", self.base))).await
    }

    /// Sends a DELETE request to a path below `/v1`.
    pub async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(self.http.delete(format!("{}{path}", self.base))).await
    }

    /// Sends records and returns the watermark.
    ///
    /// # Panics
    /// If they are not accepted.
    pub async fn send_records(&self, space: &str, records: &Value) -> String {
        let (status, body) = self
            .post(&format!("/spaces/{space}/records"), &json!({ "records": records }))
            .await;
        assert_eq!(status, 202, "{body}");
        body["watermark"].as_str().unwrap().to_owned()
    }

    /// Waits until the write that returned `watermark` is searchable.
    pub async fn wait_until_written(&self, space: &str, watermark: &str) {
        let path = format!("/spaces/{space}/progress?watermark={watermark}&wait_ms=1000");
        wait_for(&format!("a write is searchable in {space}"), async || {
            let (status, body) = self.get(&path).await;
            let is_written = status == 200 && body["written"] == json!(true);
            if is_written { Ok(()) } else { Err((status, body)) }
        })
        .await;
    }

    /// Waits until all accepted records are written, everything is derived from them, and questions see all of it.
    /// Events of a space are derived later than the moment that a watermark waits for, and a question that comes while
    /// the router reads them may be answered from the state before.
    pub async fn wait_until_settled(&self, space: &str) {
        let path = format!("/spaces/{space}/progress");
        wait_for(&format!("everything is derived in {space}"), async || {
            let (status, body) = self.get(&path).await;
            let is_settled = status == 200 && (&body["backlog"], &body["deriving"]) == (&json!(0), &json!(0));
            if is_settled { Ok(()) } else { Err((status, body)) }
        })
        .await;
        // Unlike a question, a tool waits until the router has read the whole space.
        let tool = format!("/spaces/{space}/tools/list_dimensions");
        wait_for(&format!("the router has read {space}"), async || {
            let (status, body) = self.post(&tool, &json!({})).await;
            let has_read = status == 200 && body["result"].is_object();
            if has_read { Ok(()) } else { Err((status, body)) }
        })
        .await;
    }

    /// Asks a question and returns the response with its answer.
    ///
    /// # Panics
    /// If the status is not 200.
    pub async fn ask(&self, space: &str, question: &str) -> Value {
        let body = json!({ "question": question, "answer": true, "budget": { "ms": 20_000 } });
        let (status, body) = self.post(&format!("/spaces/{space}/query"), &body).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Returns all items of a list by following its cursors. The path may contain a filter.
    ///
    /// # Panics
    /// If the status is not 200.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        let sign = if path.contains('?') { '&' } else { '?' };
        loop {
            let (status, page) = self.get(&format!("{path}{sign}limit=500{after}")).await;
            assert_eq!(status, 200, "{page}");
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return items,
            }
        }
    }
}
