use axum::Json;
use axum::extract::State;
use axum::http::header;
#[cfg(not(feature = "explorer"))]
use axum::response::Html;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::state::App;
use crate::http::openapi;

/// Content security policy: the page loads only itself and `/openapi.json`.
#[cfg(not(feature = "explorer"))]
const POLICY: &str = "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/// Returns the index of the API: the kind of server and links. It needs no key and contains nothing confidential.
pub(crate) fn api_index() -> Json<Value> {
    Json(json!({
        "name": "mnemic",
        "version": env!("CARGO_PKG_VERSION"),
        "openapi": "/openapi.json",
        "docs": "/docs",
        "health": "/livez and /readyz on the admin port ([admin] listen, 127.0.0.1:7078 unless set otherwise)",
    }))
}

/// Returns the OpenAPI document of the API as this server offers it.
pub(crate) async fn get_openapi_document(State(app): State<App>) -> Response {
    let described = || serde_json::to_vec_pretty(&openapi::document_for_server(&app.config)).unwrap_or_default();
    let document = app.description.get_or_init(|| described().into());
    ([(header::CONTENT_TYPE, "application/json")], document.clone()).into_response()
}

/// Returns the documentation page of a build without the explorer; the page uses no other server.
#[cfg(not(feature = "explorer"))]
pub(crate) async fn get_docs_page() -> Response {
    (
        [(header::CONTENT_SECURITY_POLICY, POLICY)],
        Html(include_str!("docs.html")),
    )
        .into_response()
}
