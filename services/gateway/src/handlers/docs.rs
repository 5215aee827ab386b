use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

use crate::openapi;

/// The page loads nothing but itself and `/openapi.json`.
const POLICY: &str = "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

static OPENAPI: LazyLock<String> =
    LazyLock::new(|| openapi::document().to_pretty_json().unwrap_or_else(|_| "{}".to_owned()));

/// Describes the API to programs.
pub(crate) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI.as_str()).into_response()
}

/// Describes the API to people, without any other server.
pub(crate) async fn page() -> Response {
    (
        [(header::CONTENT_SECURITY_POLICY, POLICY)],
        Html(include_str!("docs.html")),
    )
        .into_response()
}
