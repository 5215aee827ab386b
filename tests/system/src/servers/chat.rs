//! An endpoint with OpenAI's chat completions API and scripted replies.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::models::endpoint::chat::Options;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::http::{Http, has_key};

/// Name of its only model.
pub const MODEL: &str = "parrot";
/// Key that it requires.
pub const KEY: &str = "open sesame";
/// Tokens that every reply reports, of prompt and completion.
pub const USAGE: (u32, u32) = (321, 12);

/// The endpoint; stopped when dropped.
pub struct Server {
    http: Http,
    state: Arc<Mutex<ChatScript>>,
}

/// Requests and scripted replies of the endpoint.
#[derive(Debug, Default)]
pub struct ChatScript {
    /// Requests so far.
    pub requests: Vec<Value>,
    /// Next replies, in order.
    pub replies: VecDeque<ScriptedReply>,
    /// Reply when `replies` is empty; without it, the endpoint answers 500.
    pub otherwise: Option<ScriptedReply>,
    /// Number of requests in progress, and the greatest number so far.
    pub in_flight: (usize, usize),
    /// Number of bytes of [`ScriptedReply::Huge`] that the caller has read.
    pub sent: usize,
}

/// A scripted reply of the endpoint.
#[derive(Clone, Debug)]
pub enum ScriptedReply {
    /// A reply of the model.
    Text(String),
    /// A reply that ends too early.
    Cut(String),
    /// A reply after a delay.
    Late(Duration, String),
    /// A reply as soon as all calls that wait at this barrier are in progress.
    Together(Arc<Barrier>, String),
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
        let state = Arc::new(Mutex::new(ChatScript::default()));
        let routes = Router::new()
            .route("/v1/chat/completions", post(handle_chat))
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
    pub fn script(&self) -> MutexGuard<'_, ChatScript> {
        lock_script(&self.state)
    }

    /// Appends replies to the script.
    pub fn script_replies(&self, replies: impl IntoIterator<Item = ScriptedReply>) {
        self.script().replies.extend(replies);
    }
}

async fn handle_chat(
    State(state): State<Arc<Mutex<ChatScript>>>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    if !has_key(&headers, KEY) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if asked["model"] != json!(MODEL) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let next = {
        let mut script = lock_script(&state);
        script.requests.push(asked.clone());
        script.in_flight.0 += 1;
        script.in_flight.1 = script.in_flight.1.max(script.in_flight.0);
        script.replies.pop_front().or_else(|| script.otherwise.clone())
    };
    let in_flight = InFlight(state);
    respond_as_scripted(next.unwrap_or(ScriptedReply::Status(500)), &asked, in_flight).await
}

/// Counts a request as in progress until it is answered or its client disconnects.
struct InFlight(Arc<Mutex<ChatScript>>);

impl Drop for InFlight {
    fn drop(&mut self) {
        lock_script(&self.0).in_flight.0 -= 1;
    }
}

fn lock_script(state: &Mutex<ChatScript>) -> MutexGuard<'_, ChatScript> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn respond_as_scripted(reply: ScriptedReply, asked: &Value, in_flight: InFlight) -> Response {
    match reply {
        ScriptedReply::Text(text) => completion_response(&json!({ "role": "assistant", "content": text }), "stop"),
        ScriptedReply::Cut(text) => completion_response(&json!({ "role": "assistant", "content": text }), "length"),
        ScriptedReply::Late(time, text) => {
            tokio::time::sleep(time).await;
            completion_response(&json!({ "role": "assistant", "content": text }), "stop")
        }
        ScriptedReply::Together(all, text) => {
            all.wait().await;
            completion_response(&json!({ "role": "assistant", "content": text }), "stop")
        }
        ScriptedReply::Calls(calls) => {
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            completion_response(&message, "tool_calls")
        }
        ScriptedReply::Status(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(json!({ "error": asked }))).into_response()
        }
        ScriptedReply::Busy(seconds) => {
            let pause = [(header::RETRY_AFTER, seconds.to_string())];
            (StatusCode::TOO_MANY_REQUESTS, pause).into_response()
        }
        ScriptedReply::Nothing(time) => {
            tokio::time::sleep(time).await;
            completion_response(&json!({ "role": "assistant", "content": "" }), "stop")
        }
        ScriptedReply::Broken => {
            let half = Ok(Bytes::from_static(b"{\"choices\": [{\"message\": {\"content\": \"Mar"));
            let chunks = stream::iter([half, Err(io::Error::other("the connection ends"))]);
            Body::from_stream(chunks).into_response()
        }
        ScriptedReply::Huge(bytes) => endless_body(bytes, in_flight).into_response(),
    }
}

/// Sends bytes as fast as the client reads them, and counts them.
fn endless_body(bytes: usize, in_flight: InFlight) -> Body {
    let chunk = Bytes::from(vec![b' '; 64 * 1_024]);
    let chunks = stream::iter(0..bytes.div_ceil(chunk.len())).map(move |_| {
        lock_script(&in_flight.0).sent += chunk.len();
        Ok::<_, Infallible>(chunk.clone())
    });
    Body::from_stream(chunks)
}

fn completion_response(message: &Value, reason: &str) -> Response {
    let (read, written) = USAGE;
    Json(json!({
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written },
    }))
    .into_response()
}
