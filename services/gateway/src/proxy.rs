//! The proxy with memory. It forwards a chat of a client of OpenAI's API to a language model, together with evidence
//! from the memory, and stores both sides of the conversation.
//!
//! A chat takes these steps: `request` reads the body, `evidence` queries the memory, the endpoint is called while the
//! user's message is stored (`store`), and the reply is returned as a whole or as a stream (`stream`). If the memory
//! fails, the chat continues without it, and a header says so. The caller's key is for Mnemic and is never forwarded.

mod code;
mod conversation;
mod evidence;
mod problem_response;
mod refusal;
mod reply;
mod request;
mod store;
mod stream;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::id::SpaceId;
use host::metrics::ProxyOutcome;
use host::relay::{EndpointError, Relayed};
use serde_json::json;
use tracing::{Instrument, info_span, warn};

pub(crate) use self::code::ProxyCode;

use self::evidence::Evidence;
pub(crate) use self::problem_response::translate_problem;
pub(crate) use self::refusal::Refusal;

use self::problem_response::FromEndpoint;
use self::reply::Reply;
pub(crate) use self::request::ChatRequest;
use self::store::{StoreOutcome, Storing};
use self::stream::Streaming;
use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::{App, Upstream};
use crate::use_cases::validate;

/// Maximum size of a reply of the endpoint, in bytes.
const REPLY_BYTES_MAX: usize = 16 << 20;
/// Names of our headers.
const SPACE: HeaderName = HeaderName::from_static("x-mnemic-space");
const SESSION: HeaderName = HeaderName::from_static("x-mnemic-session");
const EVIDENCE: HeaderName = HeaderName::from_static("x-mnemic-evidence");
const STORED: HeaderName = HeaderName::from_static("x-mnemic-stored");
/// Headers of the endpoint that are returned to the caller, and prefixes of further ones.
const HANDED_BACK: [&str; 7] = [
    "content-type",
    "content-encoding",
    "cache-control",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
const HANDED_BACK_FAMILIES: [&str; 2] = ["openai-", "x-ratelimit-"];

/// A chat request.
pub(crate) struct Call {
    pub(crate) access: Access,
    pub(crate) request: ChatRequest,
    pub(crate) headers: HeaderMap,
    /// The caller's `Idempotency-Key`.
    pub(crate) key: Option<String>,
    pub(crate) trace_id: String,
}

/// Contents of our headers in the response.
struct ResponseHeaders {
    space: SpaceId,
    evidence: Evidence,
    user: StoreOutcome,
    assistant: StoreOutcome,
}

/// Forwards a chat and returns the reply.
pub(crate) async fn forward_chat(app: &App, upstream: &Upstream, call: Call) -> Result<Response, Refusal> {
    let Call {
        access,
        request,
        headers,
        key,
        trace_id,
    } = call;
    let space = space_of(app, &access, &headers, request.user.as_deref())?;
    let storing = Storing {
        app: app.clone(),
        access: access.clone(),
        space: space.clone(),
        session: session_of(&headers)?,
        key,
        refused: match (app.config.proxy.store, access.require_right(Right::Write)) {
            (true, Ok(())) => None,
            (true, Err(_)) => Some("the key may only read"),
            (false, _) => Some("switched off"),
        },
    };
    let share = upstream.take_share(access.name())?;
    let evidence = evidence::gather_evidence(app, access.name(), &space, &request, trace_id).await;
    let body = request.to_forwarded_body(&app.config.proxy.model, evidence.block());
    let reply = upstream
        .relay
        .send_chat(body)
        .instrument(info_span!("upstream", otel.kind = "client"));
    // The user's message is stored, whatever the outcome of the call.
    let (user, relayed) = tokio::join!(storing.store_records(storing.user_records(&request)), reply);
    let memory_headers = ResponseHeaders {
        space,
        evidence,
        user,
        assistant: StoreOutcome::Nothing,
    };
    let remembered = memory_headers.evidence.block().is_some();
    let relayed = match relayed {
        Ok(relayed) => relayed,
        Err(error) => {
            warn!(error = &error as &dyn std::error::Error, "a chat got no reply");
            app.context
                .metrics
                .count_proxied_chat(ProxyOutcome::Unreachable, remembered);
            return Ok(memory_headers.add_headers(Refusal::endpoint_unreachable(&error).into_response()));
        }
    };
    if is_stream(&relayed) {
        let mut response = response_head(&relayed);
        // nginx buffers a stream up to a few KiB, unless this header forbids it.
        response
            .headers_mut()
            .insert("x-accel-buffering", HeaderValue::from_static("no"));
        let body = stream::pass_on(Streaming {
            relayed,
            storing,
            conversation: request.conversation,
            remembered,
            share,
        });
        return Ok(memory_headers.add_headers(response.map(|_| body)));
    }
    Ok(respond_with_whole_reply(memory_headers, relayed, &storing, &request.conversation).await)
}

/// Returns the response for a complete reply; an error of the endpoint is returned unchanged.
async fn respond_with_whole_reply(
    mut memory_headers: ResponseHeaders,
    relayed: Relayed,
    storing: &Storing,
    conversation: &str,
) -> Response {
    let response = response_head(&relayed);
    let remembered = memory_headers.evidence.block().is_some();
    let metrics = &storing.app.context.metrics;
    let count = |outcome| metrics.count_proxied_chat(outcome, remembered);
    let body = match read_body(relayed).await {
        Ok(body) => body,
        Err(refusal) => {
            count(ProxyOutcome::Cut);
            return memory_headers.add_headers(refusal.into_response());
        }
    };
    if !response.status().is_success() {
        count(ProxyOutcome::Refused);
        return memory_headers.add_headers(response.map(|_| Body::from(body)));
    }
    let reply = Reply::from_body(&body);
    count(match reply.as_ref().is_some_and(|it| it.cut) {
        true => ProxyOutcome::Cut,
        false => ProxyOutcome::Replied,
    });
    if let Some(reply) = reply.filter(|it| !it.is_empty()) {
        let records = storing.reply_records(conversation, &reply);
        memory_headers.assistant = storing.store_records(records).await;
    }
    memory_headers.add_headers(response.map(|_| Body::from(body)))
}

/// Returns the list of models: the configured one, or else those that the endpoint lists.
pub(crate) async fn list_models(app: &App, upstream: &Upstream) -> Result<Response, Refusal> {
    let model = &app.config.proxy.model;
    if !model.is_empty() {
        let one = json!({ "id": model, "object": "model", "created": 0, "owned_by": "mnemic" });
        return Ok(axum::Json(json!({ "object": "list", "data": [one] })).into_response());
    }
    let outcome = upstream.relay.list_models().await;
    let relayed = outcome.map_err(|error: EndpointError| {
        warn!(
            error = &error as &dyn std::error::Error,
            "the models of the proxy are not known"
        );
        Refusal::endpoint_unreachable(&error)
    })?;
    let response = response_head(&relayed);
    let body = read_body(relayed).await?;
    Ok(response.map(|_| Body::from(body)))
}

/// Returns the space of a chat: the one in the header, else `user` after the configured prefix.
fn space_of(app: &App, access: &Access, headers: &HeaderMap, user: Option<&str>) -> Result<SpaceId, Refusal> {
    let space_name = match (headers.get(SPACE), user) {
        (Some(value), _) => value.to_str().unwrap_or_default().to_owned(),
        (None, Some(user)) => format!("{}{user}", app.config.proxy.space_prefix),
        (None, None) => {
            let detail = "name the space of the memory: in the header X-Mnemic-Space, or in `user`";
            return Err(Refusal::invalid_request(ProxyCode::SpaceMissing, detail));
        }
    };
    let space: SpaceId = space_name.parse().map_err(|error: domain::id::InvalidSpace| {
        Refusal::invalid_request(
            ProxyCode::SpaceInvalid,
            format!("X-Mnemic-Space, or `user` if there is no such header: {error}"),
        )
    })?;
    if !access.opens_space(space.as_str()) {
        let problem = Problem::missing_right(Right::Read).with_detail("the key does not open a space with this name");
        return Err(problem.into());
    }
    access.require_right(Right::Read)?;
    Ok(space)
}

fn session_of(headers: &HeaderMap) -> Result<String, Refusal> {
    let Some(value) = headers.get(SESSION) else {
        return Ok("default".to_owned());
    };
    let invalid = |detail: String| Refusal::invalid_request(ProxyCode::SessionInvalid, detail);
    let session = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
    if session.is_empty() {
        return Err(invalid(
            "X-Mnemic-Session: is empty or not UTF-8; leave it out instead".to_owned(),
        ));
    }
    validate::check_name("X-Mnemic-Session", Some(session), validate::NAME_BYTES_MAX).map_err(invalid)?;
    validate::check_addressable("X-Mnemic-Session", Some(session)).map_err(invalid)?;
    Ok(session.to_owned())
}

/// Returns true if a response is a stream of server-sent events that is forwarded while it arrives.
fn is_stream(relayed: &Relayed) -> bool {
    let kind = relayed
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let is_events = kind.is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with("text/event-stream"));
    is_events && (200..300).contains(&relayed.status())
}

/// Returns the head of the response: the status of the endpoint, and those of its headers that are returned.
fn response_head(relayed: &Relayed) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(relayed.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    response.extensions_mut().insert(FromEndpoint);
    for (name, value) in relayed.headers() {
        let handed = HANDED_BACK.contains(&name.as_str());
        if handed || HANDED_BACK_FAMILIES.iter().any(|it| name.as_str().starts_with(it)) {
            response.headers_mut().append(name.clone(), value.clone());
        }
    }
    response
}

async fn read_body(mut relayed: Relayed) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    loop {
        match relayed.read_chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "the reply of the language model ended too early"
                );
                return Err(Refusal::broken_off(&error));
            }
        }
        if body.len() > REPLY_BYTES_MAX {
            return Err(Refusal::too_long(REPLY_BYTES_MAX));
        }
    }
}

impl ResponseHeaders {
    /// Adds our headers to a response.
    fn add_headers(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        let parts = [
            (SPACE, self.space.to_string()),
            (EVIDENCE, self.evidence.header_value()),
            (STORED, self.stored_header()),
        ];
        for (name, text) in parts {
            if let Ok(value) = HeaderValue::from_str(&text) {
                headers.insert(name, value);
            }
        }
        response
    }

    /// Returns the roles whose messages are stored, as far as known: for a stream, the reply is not stored yet.
    fn stored_header(&self) -> String {
        let both = [("user", self.user), ("assistant", self.assistant)];
        let stored_roles: Vec<&str> = both
            .iter()
            .filter(|(_, it)| *it == StoreOutcome::Kept)
            .map(|(who, _)| *who)
            .collect();
        if !stored_roles.is_empty() {
            return stored_roles.join(",");
        }
        let reason = both.iter().find_map(|(_, it)| match it {
            StoreOutcome::Not(reason) => Some(*reason),
            StoreOutcome::Kept | StoreOutcome::Nothing => None,
        });
        format!("none; {}", reason.unwrap_or("nothing new was said"))
    }
}
