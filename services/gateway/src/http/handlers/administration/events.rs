use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::id::SpaceId;

use crate::api::problem::Problem;
use crate::api::{Event, ProblemDocument};
use crate::app::auth::TokenDigest;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::PathParameters;
use crate::use_cases::events::EventStream;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Header that makes a reverse proxy in front of this server forward events without buffering.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Streams new events of a space: `searchable`, `organised` and `erased`.
///
/// The stream ends when the caller disconnects, the server stops, or the key no longer opens the space. Each event has
/// an `id`. A caller that reconnects with it in `Last-Event-ID` receives the events since then. If they are not known,
/// the first event is `gap`.
#[utoipa::path(get, path = "/v1/spaces/{space}/events", tag = "events", params(
    ("space" = SpaceId, Path),
    ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that arrived"),
), responses(
    (status = 200, description = "Events as they happen", content((Event = "text/event-stream"))),
    (status = 429, description = "Too many streams are open", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TokenDigest(token_digest)): Extension<TokenDigest>,
    PathParameters(name): PathParameters<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let share = app.stream_share(access.name())?;
    let last = headers.get(LAST_EVENT_ID).map(|it| it.to_str().unwrap_or_default());
    let stream = EventStream::open_after_event(app, space, token_digest, last, share).await?;
    let mut response = Sse::new(stream.into_events())
        .keep_alive(KeepAlive::default())
        .into_response();
    let headers = response.headers_mut();
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
