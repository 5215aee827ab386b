//! Problems of the layers around the proxy, in the form of OpenAI's API. Its clients read only `error` of a response.

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;
use crate::api::ProblemDocument;
use crate::api::problem::Problem;

/// Routes whose problems are translated.
const ROUTES: [&str; 2] = ["/v1/chat/completions", "/v1/models"];
/// Longest problem document that is read, in bytes.
const PROBLEM_BYTES_MAX: usize = 4 << 20;

/// Marks a response of the endpoint, which is returned unchanged, whatever its form.
#[derive(Clone, Copy, Debug)]
pub(super) struct FromEndpoint;

/// Converts a problem in a response of the proxy into `{"error"}`; its headers stay, except those of the body.
pub(crate) async fn translate_problem(request: Request, next: Next) -> Response {
    let is_route = ROUTES.contains(&request.uri().path());
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_problem = kind == Some(b"application/problem+json");
    if !is_route || !is_problem || response.extensions().get::<FromEndpoint>().is_some() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let read = to_bytes(body, PROBLEM_BYTES_MAX).await.ok();
    let problem = read.and_then(|it| serde_json::from_slice::<ProblemDocument>(&it).ok());
    let refusal = problem.map_or_else(|| Refusal::from(Problem::internal_error()), Refusal::from);
    let error = refusal.into_response();
    parts.status = error.status();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, error.into_body())
}
