//! An endpoint that speaks OpenAI's embeddings API, over the table that is built in.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapters::endpoint::embeddings::Options;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use domain::port::Embedder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Http, knows};

/// The model there is.
pub const MODEL: &str = "table";
/// The key it asks for.
pub const KEY: &str = "open sesame";

/// The endpoint; gone when dropped.
pub struct Server {
    http: Http,
    state: Arc<Mutex<Heard>>,
}

/// What the endpoint was asked, and what it says instead of an answer.
#[derive(Debug, Default)]
pub struct Heard {
    /// The texts of each request.
    pub texts: VecDeque<Vec<String>>,
    /// Answers with this status.
    pub status: Option<u16>,
    /// Answers with this body.
    pub body: Option<Value>,
    /// Answers 500 where a text holds this, as a model does that fails on it.
    pub poison: Option<String>,
}

#[derive(Clone)]
struct Endpoint {
    state: Arc<Mutex<Heard>>,
    table: Arc<dyn Embedder>,
}

#[derive(Deserialize)]
struct Asked {
    model: String,
    input: Vec<String>,
}

impl Server {
    /// Starts it.
    ///
    /// # Errors
    /// No port.
    pub async fn start() -> anyhow::Result<Server> {
        let state = Arc::new(Mutex::new(Heard::default()));
        let endpoint = Endpoint {
            state: Arc::clone(&state),
            table: adapters::embedder(Path::new(""))?,
        };
        let routes = Router::new().route("/v1/embeddings", post(embed)).with_state(endpoint);
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

    /// The same as settings.
    pub fn settings(&self) -> Vec<(String, String)> {
        let options = self.options();
        let pairs = [("url", options.url), ("model", options.model), ("key", KEY.to_owned())];
        pairs.map(|(key, value)| (format!("embeddings.{key}"), value)).into()
    }

    /// What was asked, and what is answered.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn embed(State(endpoint): State<Endpoint>, headers: HeaderMap, Json(asked): Json<Asked>) -> Response {
    if !knows(&headers, KEY) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if asked.model != MODEL {
        return StatusCode::NOT_FOUND.into_response();
    }
    {
        let mut heard = endpoint.state.lock().unwrap_or_else(PoisonError::into_inner);
        heard.texts.push_back(asked.input.clone());
        let status = heard.status.and_then(|it| StatusCode::from_u16(it).ok());
        if status.is_some() || heard.body.is_some() {
            let body = heard.body.clone().unwrap_or_else(|| json!({ "error": asked.input }));
            return (status.unwrap_or(StatusCode::OK), Json(body)).into_response();
        }
        let poison = heard.poison.as_deref();
        if poison.is_some_and(|it| asked.input.iter().any(|text| text.contains(it))) {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    }
    match endpoint.table.embed(&asked.input).await {
        // Not of length 1, and not in order: neither is promised.
        Ok(vectors) => {
            let doubled = vectors.iter().enumerate().rev().map(
                |(index, it)| json!({ "index": index, "embedding": it.iter().map(|it| it * 2.0).collect::<Vec<_>>() }),
            );
            Json(json!({ "object": "list", "data": doubled.collect::<Vec<_>>() })).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
