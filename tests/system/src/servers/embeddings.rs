//! An endpoint with OpenAI's embeddings API, over the built-in word table.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapters::models::endpoint::embeddings::Options;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use domain::port::Embedder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Http, has_key};

/// Name of its only model.
pub const MODEL: &str = "table";
/// Key that it requires.
pub const KEY: &str = "open sesame";

/// The endpoint; stopped when dropped.
pub struct Server {
    http: Http,
    state: Arc<Mutex<EmbeddingsScript>>,
}

/// Requests to the endpoint, and faults that it simulates.
#[derive(Debug, Default)]
pub struct EmbeddingsScript {
    /// Texts of each request.
    pub texts: VecDeque<Vec<String>>,
    /// Status of every response, if set.
    pub status: Option<u16>,
    /// Body of every response, if set.
    pub body: Option<Value>,
    /// If a text contains this, the endpoint answers 500, like a model that fails on a text.
    pub poison: Option<String>,
}

#[derive(Clone)]
struct Endpoint {
    state: Arc<Mutex<EmbeddingsScript>>,
    table: Arc<dyn Embedder>,
}

#[derive(Deserialize)]
struct EmbeddingsRequest {
    model: String,
    input: Vec<String>,
}

impl Server {
    /// Starts the endpoint.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> anyhow::Result<Server> {
        let state = Arc::new(Mutex::new(EmbeddingsScript::default()));
        let endpoint = Endpoint {
            state: Arc::clone(&state),
            table: adapters::open_embedder(Path::new(""))?,
        };
        let routes = Router::new()
            .route("/v1/embeddings", post(handle_embeddings))
            .with_state(endpoint);
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

    /// Returns the same options as settings.
    pub fn settings(&self) -> Vec<(String, String)> {
        let options = self.options();
        let pairs = [("url", options.url), ("model", options.model), ("key", KEY.to_owned())];
        pairs.map(|(key, value)| (format!("embeddings.{key}"), value)).into()
    }

    /// Returns the requests and the simulated faults.
    pub fn script(&self) -> MutexGuard<'_, EmbeddingsScript> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn handle_embeddings(
    State(endpoint): State<Endpoint>,
    headers: HeaderMap,
    Json(asked): Json<EmbeddingsRequest>,
) -> Response {
    if !has_key(&headers, KEY) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if asked.model != MODEL {
        return StatusCode::NOT_FOUND.into_response();
    }
    {
        let mut script = endpoint.state.lock().unwrap_or_else(PoisonError::into_inner);
        script.texts.push_back(asked.input.clone());
        let status = script.status.and_then(|it| StatusCode::from_u16(it).ok());
        if status.is_some() || script.body.is_some() {
            let body = script.body.clone().unwrap_or_else(|| json!({ "error": asked.input }));
            return (status.unwrap_or(StatusCode::OK), Json(body)).into_response();
        }
        let poison = script.poison.as_deref();
        if poison.is_some_and(|it| asked.input.iter().any(|text| text.contains(it))) {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    }
    match endpoint.table.embed(&asked.input).await {
        // The vectors have length 2 and come in reverse order, because the API promises neither length nor order.
        Ok(vectors) => {
            let doubled = vectors.iter().enumerate().rev().map(
                |(index, it)| json!({ "index": index, "embedding": it.iter().map(|it| it * 2.0).collect::<Vec<_>>() }),
            );
            Json(json!({ "object": "list", "data": doubled.collect::<Vec<_>>() })).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
