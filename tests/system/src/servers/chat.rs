//! An endpoint that speaks OpenAI's chat completions API and replies what it was told to.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::endpoint::chat::Options;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::http::{Http, knows};

/// The model there is.
pub const MODEL: &str = "parrot";
/// The key it asks for.
pub const KEY: &str = "open sesame";
/// What every reply is said to cost.
pub const USAGE: (u32, u32) = (321, 12);

/// The endpoint; gone when dropped.
pub struct Server {
    http: Http,
    state: Arc<Mutex<Heard>>,
}

/// What the endpoint was asked, and what it says.
#[derive(Debug, Default)]
pub struct Heard {
    /// The requests.
    pub requests: Vec<Value>,
    /// What it says next.
    pub replies: VecDeque<Said>,
    /// What it says when nothing is left of that; without it, it answers 500.
    pub otherwise: Option<Said>,
    /// Requests being answered, and the most there were of them.
    pub in_flight: (usize, usize),
    /// Bytes of [`Said::Huge`] that were taken.
    pub sent: usize,
}

/// An answer of the endpoint.
#[derive(Clone, Debug)]
pub enum Said {
    /// A reply of the model.
    Text(String),
    /// One that ends too early.
    Cut(String),
    /// One that comes late.
    Late(Duration, String),
    /// Calls of tools, as the API writes them.
    Calls(Value),
    /// A status, with the request in its body.
    Status(u16),
    /// 429, with the seconds after which it may be asked again.
    Busy(u64),
    /// Nothing for so long.
    Nothing(Duration),
    /// So many bytes.
    Huge(usize),
    /// The first half of a reply, and the end of the connection.
    Broken,
}

impl Server {
    /// Starts it.
    ///
    /// # Errors
    /// No port.
    pub async fn start() -> anyhow::Result<Server> {
        let state = Arc::new(Mutex::new(Heard::default()));
        let routes = Router::new()
            .route("/v1/chat/completions", post(reply))
            .with_state(Arc::clone(&state));
        let http = Http::start(routes).await?;
        Ok(Server { http, state })
    }

    /// Options of somebody who may ask.
    pub fn options(&self) -> Options {
        Options {
            url: self.http.url.clone(),
            model: MODEL.to_owned(),
            key: KEY.into(),
            ..Options::default()
        }
    }

    /// The same as settings. The clusterer asks nothing by itself: it would take the replies that are meant for others.
    pub fn settings(&self) -> Vec<(String, String)> {
        let pairs = [
            ("language_model.url", self.http.url.as_str()),
            ("language_model.model", MODEL),
            ("language_model.key", KEY),
            ("clusterer.readings.enabled", "false"),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    /// What was asked, and what is answered.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        locked(&self.state)
    }

    /// Says this next.
    pub fn says(&self, said: impl IntoIterator<Item = Said>) {
        self.heard().replies.extend(said);
    }
}

async fn reply(State(state): State<Arc<Mutex<Heard>>>, headers: HeaderMap, Json(asked): Json<Value>) -> Response {
    if !knows(&headers, KEY) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if asked["model"] != json!(MODEL) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let next = {
        let mut heard = locked(&state);
        heard.requests.push(asked.clone());
        heard.in_flight.0 += 1;
        heard.in_flight.1 = heard.in_flight.1.max(heard.in_flight.0);
        heard.replies.pop_front().or_else(|| heard.otherwise.clone())
    };
    let in_flight = InFlight(state);
    said(next.unwrap_or(Said::Status(500)), &asked, in_flight).await
}

/// A request that is being answered, until it is or its asker goes away.
struct InFlight(Arc<Mutex<Heard>>);

impl Drop for InFlight {
    fn drop(&mut self) {
        locked(&self.0).in_flight.0 -= 1;
    }
}

fn locked(state: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn said(said: Said, asked: &Value, in_flight: InFlight) -> Response {
    match said {
        Said::Text(text) => completion(&json!({ "role": "assistant", "content": text }), "stop"),
        Said::Cut(text) => completion(&json!({ "role": "assistant", "content": text }), "length"),
        Said::Late(time, text) => {
            tokio::time::sleep(time).await;
            completion(&json!({ "role": "assistant", "content": text }), "stop")
        }
        Said::Calls(calls) => {
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            completion(&message, "tool_calls")
        }
        Said::Status(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(json!({ "error": asked }))).into_response()
        }
        Said::Busy(seconds) => {
            let pause = [(header::RETRY_AFTER, seconds.to_string())];
            (StatusCode::TOO_MANY_REQUESTS, pause).into_response()
        }
        Said::Nothing(time) => {
            tokio::time::sleep(time).await;
            completion(&json!({ "role": "assistant", "content": "" }), "stop")
        }
        Said::Broken => {
            let half = Ok(Bytes::from_static(b"{\"choices\": [{\"message\": {\"content\": \"Mar"));
            let chunks = stream::iter([half, Err(io::Error::other("the connection ends"))]);
            Body::from_stream(chunks).into_response()
        }
        Said::Huge(bytes) => huge(bytes, in_flight).into_response(),
    }
}

/// Sends as much as is taken; counts it.
fn huge(bytes: usize, in_flight: InFlight) -> Body {
    let chunk = Bytes::from(vec![b' '; 64 * 1_024]);
    let chunks = stream::iter(0..bytes.div_ceil(chunk.len())).map(move |_| {
        locked(&in_flight.0).sent += chunk.len();
        Ok::<_, Infallible>(chunk.clone())
    });
    Body::from_stream(chunks)
}

fn completion(message: &Value, reason: &str) -> Response {
    let (read, written) = USAGE;
    Json(json!({
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written },
    }))
    .into_response()
}
