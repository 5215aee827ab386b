//! An endpoint with OpenAI's API and prepared replies.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The next reply.
pub(crate) enum ScriptedReply {
    Text(&'static str),
    Json(Value),
    /// A status with a body, and a header that the proxy returns.
    Status(u16, &'static str),
    /// A status with a problem document.
    Problem(u16, &'static str),
    /// Chunks of a stream of events, and the way it ends.
    Stream(Vec<&'static str>, End),
    /// Half of a complete reply, and then the end of the connection.
    Half,
    /// A redirect to itself.
    Redirect,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Whole,
    /// The connection breaks off.
    Broken,
    /// The stream stays open without further chunks.
    Open,
}

/// A request that the endpoint received.
pub(crate) struct Asked {
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

#[derive(Default)]
struct Script {
    asked: Mutex<Vec<Asked>>,
    replies: Mutex<VecDeque<ScriptedReply>>,
    /// Number of streams with a connected reader.
    open: AtomicUsize,
}

/// The endpoint; it ends with the test.
pub(crate) struct Upstream {
    pub(crate) url: String,
    script: Arc<Script>,
}

impl Upstream {
    pub(crate) async fn start() -> Upstream {
        let script = Arc::new(Script::default());
        let routes = Router::new()
            .route("/v1/chat/completions", post(reply))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&script));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Upstream { url, script }
    }

    /// Returns an endpoint at an address without a server.
    pub(crate) fn at(url: String) -> Upstream {
        let script = Arc::default();
        Upstream { url, script }
    }

    pub(crate) fn says(&self, reply: ScriptedReply) {
        self.script.replies.lock().unwrap().push_back(reply);
    }

    /// Returns the requests since the previous call.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.script.asked.lock().unwrap())
    }

    pub(crate) fn open(&self) -> usize {
        self.script.open.load(Ordering::SeqCst)
    }
}

async fn models(headers: HeaderMap) -> Json<Value> {
    Json(json!({ "data": [{ "id": "parrot" }], "key": headers[header::AUTHORIZATION].to_str().unwrap() }))
}

async fn reply(State(script): State<Arc<Script>>, headers: HeaderMap, text: String) -> Response {
    script.asked.lock().unwrap().push(Asked { headers, text });
    let next = script.replies.lock().unwrap().pop_front();
    match next {
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Some(ScriptedReply::Text(text)) => whole(json!({ "role": "assistant", "content": text })),
        Some(ScriptedReply::Json(message)) => whole(message),
        Some(ScriptedReply::Status(status, body)) => {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("x-request-id", "r1"), ("set-cookie", "a=b")], body).into_response()
        }
        Some(ScriptedReply::Problem(status, body)) => {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
        }
        Some(ScriptedReply::Stream(chunks, end)) => streamed(&script, chunks, end),
        Some(ScriptedReply::Half) => {
            let first = stream::iter([Ok(Bytes::from("{\"choices\":[{\"mess"))]);
            // The head and the first bytes are sent by then.
            let broken = stream::once(async {
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                Err(io::Error::other("broken"))
            });
            let kind = [(header::CONTENT_TYPE, "application/json")];
            (kind, Body::from_stream(first.chain(broken))).into_response()
        }
        Some(ScriptedReply::Redirect) => {
            (StatusCode::FOUND, [(header::LOCATION, "/v1/models")], "elsewhere").into_response()
        }
    }
}

fn whole(message: Value) -> Response {
    Json(json!({ "id": "1", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] })).into_response()
}

fn streamed(script: &Arc<Script>, chunks: Vec<&'static str>, end: End) -> Response {
    script.open.fetch_add(1, Ordering::SeqCst);
    let listener = Listener(Arc::clone(script));
    let chunks = stream::iter(chunks).map(|it| Ok(Bytes::from(it)));
    let last = stream::once(async move {
        let _listener = listener;
        // Earlier chunks are sent by then.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        match end {
            End::Whole => Ok(Bytes::new()),
            End::Broken => Err(io::Error::other("broken")),
            End::Open => std::future::pending().await,
        }
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")];
    (kind, Body::from_stream(chunks.chain(last))).into_response()
}

struct Listener(Arc<Script>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
