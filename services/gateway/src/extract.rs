//! Our extractors: a rejection is a problem document like any other error.

use std::fmt;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use serde::de::DeserializeOwned;

use crate::api::Object;
use crate::problem::{Problem, ProblemCode};
use crate::repeated;
use crate::state::App;

/// Maximum number of values in one body, including nested ones: a parsed value takes about a hundred times the memory
/// of its text. The longest record has far fewer values.
const VALUES_MAX: usize = 100_000;
/// Minimum length of a body that is parsed outside the async runtime, on a thread of low priority: questions are
/// shorter, batches are longer.
const LARGE_BYTES: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A JSON body of limited size.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body that is an object.
pub(crate) struct ObjectBody<T>(pub(crate) T);

/// No body, or an empty object, which some clients send instead of no body.
pub(crate) struct NoBody;

/// Parameters in the query string.
pub(crate) struct Params<T>(pub(crate) T);

/// Parameters in the path.
pub(crate) struct At<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Body<T>, Problem> {
        readable(request.headers())?;
        let bytes = whole(request, app).await?;
        if bytes.len() < LARGE_BYTES {
            return parse_json(&bytes).map(Body);
        }
        let parsed = host::background(move || parse_json(&bytes)).await;
        parsed.unwrap_or_else(|_| Err(Problem::internal())).map(Body)
    }
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for ObjectBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<ObjectBody<T>, Problem> {
        let Body(Object(it)) = Body::from_request(request, app).await?;
        Ok(ObjectBody(it))
    }
}

impl FromRequest<App> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<NoBody, Problem> {
        let bytes = whole(request, app).await?;
        let mut said = bytes.iter().filter(|it| !it.is_ascii_whitespace());
        match (said.next(), said.next(), said.next()) {
            (None, _, _) | (Some(b'{'), Some(b'}'), None) => Ok(NoBody),
            _ => Err(Problem::invalid(
                "this request has no body; what was sent would be lost",
            )),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Params<T>, Problem> {
        let outcome: Result<Query<T>, QueryRejection> = match parts.uri.query().and_then(repeated::joined) {
            Some(query) => read_query(&query),
            None => Query::from_request_parts(parts, app).await,
        };
        outcome
            .map(|Query(it)| Params(it))
            .map_err(|error| Problem::invalid(cause(&error.body_text())))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<At<T>, Problem> {
        let outcome: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, app).await;
        outcome
            .map(|Path(it)| At(it))
            .map_err(|error| Problem::invalid(error.body_text()))
    }
}

/// Checks that the headers declare a JSON body without a content encoding.
pub(crate) fn readable(headers: &HeaderMap) -> Result<(), Problem> {
    let said = |name| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let wrong = Problem::new(ProblemCode::MediaType);
    if !is_json(said(header::CONTENT_TYPE)) {
        return Err(wrong.detail("the body is not JSON; send `Content-Type: application/json`"));
    }
    match said(header::CONTENT_ENCODING) {
        "" | "identity" => Ok(()),
        _ => Err(wrong.detail("the body is compressed; send it as it is, without `Content-Encoding`")),
    }
}

/// Reads a body to its end.
async fn whole(request: Request, app: &App) -> Result<Bytes, Problem> {
    Bytes::from_request(request, app)
        .await
        .map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(app.config.body_bytes_max),
            _ => Problem::new(ProblemCode::Incomplete).detail(error.body_text()),
        })
}

/// Reads a body to its end and checks its limits, for a handler that parses the body itself.
pub(crate) async fn bounded(request: Request, app: &App) -> Result<Request, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = whole(Request::from_parts(parts.clone(), body), app).await?;
    few(&bytes)?;
    Ok(Request::from_parts(parts, bytes.into()))
}

/// Reads a JSON body to its end and checks its limits, for a handler that keeps the bytes unchanged.
pub(crate) async fn json_bytes(request: Request, app: &App) -> Result<Bytes, Problem> {
    readable(request.headers())?;
    let bytes = whole(request, app).await?;
    few(&bytes)?;
    Ok(bytes)
}

fn few(bytes: &[u8]) -> Result<(), Problem> {
    if values(bytes) <= VALUES_MAX {
        return Ok(());
    }
    let detail = format!("a body may hold {VALUES_MAX} values; send several smaller requests");
    Err(Problem::new(ProblemCode::TooLarge).detail(detail))
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // Some programs write a byte order mark first; JSON readers may ignore it (RFC 8259, section 8.1).
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    few(bytes)?;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let at = error.path().to_string();
        let cause = error.into_inner();
        if cause.is_data() {
            Problem::invalid(at_path(&at, &cause))
        } else {
            not_json(&cause)
        }
    })?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Parses parameters from a query string that differs from the one in the request.
fn read_query<T: DeserializeOwned>(query: &str) -> Result<Query<T>, QueryRejection> {
    let uri = Uri::builder().path_and_query(format!("/?{query}")).build();
    Query::try_from_uri(&uri.unwrap_or_default())
}

/// Returns the part of an error text that is useful to the caller.
fn cause(text: &str) -> &str {
    text.strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(text)
}

/// Returns an upper bound of the number of values in a JSON text: it counts the characters that start a list or an
/// object, and those that separate its items.
fn values(bytes: &[u8]) -> usize {
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'"' => quoted = !quoted,
            b'\\' => escaped = quoted,
            b'[' | b'{' | b',' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

/// Returns the text of an error with its path in the document, if there is one.
pub(crate) fn at_path(path: &str, cause: &dyn fmt::Display) -> String {
    if path.is_empty() || path == "." || path == "?" {
        cause.to_string()
    } else {
        format!("{path}: {cause}")
    }
}

fn not_json(error: &serde_json::Error) -> Problem {
    Problem::new(ProblemCode::Syntax).detail(error.to_string())
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn too_large(limit: usize) -> Problem {
    Problem::new(ProblemCode::TooLarge).detail(format!("a body may have {limit} bytes; send several smaller requests"))
}
