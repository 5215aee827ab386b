//! Our extractors: a rejection is a problem document like any other error.

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use serde::de::DeserializeOwned;

use crate::api::problem::{Problem, ProblemCode};
use crate::api::{Object, at_path};
use crate::app::state::App;
use crate::http::{repeated_fields, repeated_parameters};

/// Maximum number of values in one body, including nested ones: a parsed value takes about a hundred times the memory
/// of its text. The longest record has far fewer values.
const VALUES_MAX: usize = 100_000;
/// Minimum length of a body that is parsed outside the async runtime, on a thread of low priority: questions are
/// shorter, batches are longer.
const LARGE_BYTES: usize = 64 << 10;

/// Some programs write this mark first; JSON readers may ignore it (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A JSON body of limited size.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body that is an object.
pub(crate) struct ObjectBody<T>(pub(crate) T);

/// No body, or an empty object, which some clients send instead of no body.
pub(crate) struct NoBody;

/// Parameters in the query string.
pub(crate) struct QueryParameters<T>(pub(crate) T);

/// Parameters in the path.
pub(crate) struct PathParameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Body<T>, Problem> {
        check_json_headers(request.headers())?;
        let bytes = read_whole_body(request, app).await?;
        if bytes.len() < LARGE_BYTES {
            return parse_json(&bytes).map(Body);
        }
        let parsed = host::spawn_background(move || parse_json(&bytes)).await;
        parsed.unwrap_or_else(|_| Err(Problem::internal_error())).map(Body)
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
        let bytes = read_whole_body(request, app).await?;
        let mut significant_bytes = bytes.iter().filter(|it| !it.is_ascii_whitespace());
        match (
            significant_bytes.next(),
            significant_bytes.next(),
            significant_bytes.next(),
        ) {
            (None, _, _) | (Some(b'{'), Some(b'}'), None) => Ok(NoBody),
            _ => Err(Problem::invalid_request(
                "this request takes no body; the body that was sent would be ignored",
            )),
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for QueryParameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<QueryParameters<T>, Problem> {
        let outcome: Result<Query<T>, QueryRejection> =
            match parts.uri.query().and_then(repeated_parameters::join_repeated_tags) {
                Some(query) => read_query(&query),
                None => Query::from_request_parts(parts, app).await,
            };
        outcome
            .map(|Query(it)| QueryParameters(it))
            .map_err(|error| Problem::invalid_request(strip_query_error_prefix(&error.body_text())))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathParameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathParameters<T>, Problem> {
        let outcome: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, app).await;
        outcome
            .map(|Path(it)| PathParameters(it))
            .map_err(|error| Problem::invalid_request(error.body_text()))
    }
}

/// Checks that the headers declare a JSON body without a content encoding.
pub(crate) fn check_json_headers(headers: &HeaderMap) -> Result<(), Problem> {
    let header_text = |name| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let wrong = Problem::new(ProblemCode::MediaType);
    if !is_json(header_text(header::CONTENT_TYPE)) {
        return Err(wrong.with_detail("the body is not JSON; send `Content-Type: application/json`"));
    }
    match header_text(header::CONTENT_ENCODING) {
        "" | "identity" => Ok(()),
        _ => Err(wrong.with_detail("the body is compressed; send it as it is, without `Content-Encoding`")),
    }
}

/// Reads a body to its end.
async fn read_whole_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    Bytes::from_request(request, app)
        .await
        .map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(app.config.body_bytes_max),
            _ => Problem::new(ProblemCode::Incomplete).with_detail(error.body_text()),
        })
}

/// Reads a body to its end and checks its limits, for a handler that parses the body itself. A byte order mark is not
/// part of it.
pub(crate) async fn read_bounded_body(request: Request, app: &App) -> Result<Request, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = read_whole_body(Request::from_parts(parts.clone(), body), app).await?;
    let bytes = without_byte_order_mark(bytes);
    check_value_count(&bytes)?;
    Ok(Request::from_parts(parts, bytes.into()))
}

/// Reads a JSON body to its end and checks its limits, for a handler that keeps the bytes unchanged. A byte order mark
/// is not part of them.
pub(crate) async fn json_bytes(request: Request, app: &App) -> Result<Bytes, Problem> {
    check_json_headers(request.headers())?;
    let bytes = without_byte_order_mark(read_whole_body(request, app).await?);
    check_value_count(&bytes)?;
    Ok(bytes)
}

fn check_value_count(bytes: &[u8]) -> Result<(), Problem> {
    if count_values(bytes) <= VALUES_MAX {
        return Ok(());
    }
    let detail = format!("a body may hold {VALUES_MAX} values; send several smaller requests");
    Err(Problem::new(ProblemCode::TooLarge).with_detail(detail))
}

fn without_byte_order_mark(bytes: Bytes) -> Bytes {
    match bytes.starts_with(BYTE_ORDER_MARK) {
        true => bytes.slice(BYTE_ORDER_MARK.len()..),
        false => bytes,
    }
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    check_value_count(bytes)?;
    if let Some(error) = repeated_fields::find_repeated_field(bytes) {
        let detail = format!("{error}; an object may have each field once");
        return Err(Problem::invalid_request(detail));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let at = error.path().to_string();
        let cause = error.into_inner();
        if cause.is_data() {
            Problem::invalid_request(at_path(&at, &cause))
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
fn strip_query_error_prefix(text: &str) -> &str {
    text.strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(text)
}

/// Returns an upper bound of the number of values in a JSON text: it counts the characters that start a list or an
/// object, and those that separate its items.
fn count_values(bytes: &[u8]) -> usize {
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

fn not_json(error: &serde_json::Error) -> Problem {
    Problem::new(ProblemCode::Syntax).with_detail(error.to_string())
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
    Problem::new(ProblemCode::TooLarge).with_detail(format!(
        "a request body may have at most {limit} bytes; send several smaller requests"
    ))
}
