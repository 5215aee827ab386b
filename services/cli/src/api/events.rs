//! Asks a question and reports its steps as they happen.

use domain::id::SpaceId;
use futures::StreamExt;
use gateway::api::PathStep;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;
use sse_stream::SseStream;

use super::questions::timeout_for_budget;
use super::responses::read_json_body;
use super::{Client, Error, Problem, Result, Retry};

const EVENTS: &str = "text/event-stream";

impl Client {
    /// Asks a question, calls `on_step` for each step, and returns the body of the response unchanged.
    pub(crate) async fn query_with_steps(
        &self,
        space: &SpaceId,
        body: &Value,
        on_step: impl Fn(&PathStep),
    ) -> Result<Value> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "query"], &[]);
        let request = || {
            self.build_request(Method::POST, &url)
                .timeout(timeout_for_budget(body))
                .header(ACCEPT, EVENTS)
                .json(body)
        };
        let response = self.send_with_retries(&url, Retry::Always, request).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        if !kind.is_some_and(|it| it.starts_with(EVENTS)) {
            return read_json_body(response).await;
        }
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(event) = events.next().await {
            let event = event.map_err(|_| Error::BrokenOff { url: url.clone() })?;
            let data = event.data.unwrap_or_default();
            match event.event.as_deref() {
                Some("step") => serde_json::from_str(&data).iter().for_each(&on_step),
                Some("response") => {
                    return serde_json::from_str(&data).map_err(|_| Error::BrokenOff { url });
                }
                Some("problem") => return Err(error_from_problem(&data)),
                _ => {}
            }
        }
        Err(Error::BrokenOff { url })
    }
}

fn error_from_problem(data: &str) -> Error {
    let problem: Problem = serde_json::from_str(data).unwrap_or_default();
    Error::Refused {
        status: problem.status,
        title: problem.title,
        detail: problem.detail,
    }
}
