//! An endpoint with OpenAI's chat completions API and scripted replies.

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

/// Name of its only model.
pub const MODEL: &str = "parrot";
/// Key that it requires.
pub const KEY: &str = "open sesame";
/// Tokens that every reply reports, of prompt and completion.
pub const USAGE: (u32, u32) = (321, 12);

/// The endpoint; stopped when dropped.
pub struct Server {
    http: Http,
    state: Arc<Mutex<Heard>>,
}

/// Requests and scripted replies of the endpoint.
#[derive(Debug, Default)]
pub struct Heard {
    /// Requests so far.
    pub requests: Vec<Value>,
    /// Next replies, in order.
    pub replies: VecDeque<Said>,
    /// Reply when `replies` is empty; without it, the endpoint answers 500.
    pub otherwise: Option<Said>,
    /// Number of requests in progress, and the greatest number so far.
    pub in_flight: (usize, usize),
    /// Number of bytes of [`Said::Huge`] that the caller has read.
    pub sent: usize,
}

/// A scripted reply of the endpoint.
#[derive(Clone, Debug)]
pub enum Said {
    /// A reply of the model.
    Text(String),
    /// A reply that ends too early.
    Cut(String),
    /// A reply after a delay.
    Late(Duration, String),
    /// Tool calls, in the format of the API.
    Calls(Value),
    /// A status, with the request in the body.
    Status(u16),
    /// Status 429, with the seconds until a retry is allowed.
    Busy(u64),
    /// An empty reply after this time.
    Nothing(Duration),
    /// This number of bytes.
    Huge(usize),
    /// The first half of a reply, after which the connection ends.
    Broken,
}

impl Server {
    /// Starts the endpoint.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> anyhow::Result<Server> {
        let state = Arc::new(Mutex::new(Heard::default()));
        let routes = Router::new()
            .route("/v1/chat/completions", post(reply))
            .with_state(Arc::clone(&state));
        let http = Http::start(routes).await?;
        Ok(Server { http, state })
    }

    /// Returns the options of a client with the right key.
    pub fn options(&self) -> Options {
        Options {
            url: self.http.url.clone(),
            model: MODEL.to_owned(),
            key: KEY.into(),
            ..Options::default()
        }
    }

    /// Returns the same options as settings. They stop the clusterer from calling the model, because it would take
    /// replies that are meant for other services.
    pub fn settings(&self) -> Vec<(String, String)> {
        let pairs = [
            ("language_model.url", self.http.url.as_str()),
            ("language_model.model", MODEL),
            ("language_model.key", KEY),
            ("clusterer.readings.enabled", "false"),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    /// Returns the requests and the scripted replies.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        locked(&self.state)
    }

    /// Appends replies to the script.
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

/// Counts a request as in progress until it is answered or its client disconnects.
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

/// Sends bytes as fast as the client reads them, and counts them.
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
