//! Errors in the form of mem0: `application/json` with `detail`. Clients do not read problem documents.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::api::ProblemDocument;
use crate::api::problem::{Problem, ProblemCode};

/// Longest problem document that is read, in bytes.
const PROBLEM_BYTES_MAX: usize = 4 << 20;

/// Converts a problem in the response into `{"detail"}` with the status that mem0 uses.
pub(crate) async fn translate_problem(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind != Some(b"application/problem+json") {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let read = to_bytes(body, PROBLEM_BYTES_MAX).await.ok();
    let problem = read.and_then(|it| serde_json::from_slice::<ProblemDocument>(&it).ok());
    let detail = problem.map_or_else(|| "the request failed".to_owned(), |it| problem_detail(&it));
    // mem0 uses one status for every invalid request.
    if matches!(
        parts.status,
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PRECONDITION_FAILED
    ) {
        parts.status = StatusCode::BAD_REQUEST;
    }
    // Some clients read `error` in a 404.
    let mem0_error = Json(json!({"detail": detail, "error": detail})).into_response();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::new(mem0_error.into_body()))
}

fn problem_detail(problem: &ProblemDocument) -> String {
    if problem.detail.is_empty() {
        problem.title.clone()
    } else {
        problem.detail.clone()
    }
}

/// Returns the problem that the memory does not exist, or that the key does not open its space.
pub(crate) fn no_memory() -> Problem {
    Problem::not_found("there is no memory with this id")
}

/// Returns the problem that Mnemic has no equivalent; `detail` names the alternative.
pub(crate) fn unsupported_problem(detail: &str) -> Problem {
    Problem::new(ProblemCode::NotImplemented).with_detail(detail)
}

/// Returns the problem that a request is too large to process.
pub(crate) fn beyond_bounds_problem(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BeyondBounds).with_detail(detail)
}
