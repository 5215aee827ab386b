//! Access control by API keys: the identity of the caller, the spaces that the key opens, and its rights there.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use domain::PortError;
use domain::key::KeyDigest;
use host::clock;

use crate::api::problem::{Problem, ProblemCode};
use crate::app::keys::access::Access;
use crate::app::keys::keyring::digest_of_token;
use crate::app::state::App;

/// The digest of a request's token, by which a response without an end checks that its key is still valid; `None` if
/// the server has no keys.
#[derive(Clone, Copy)]
pub(crate) struct TokenDigest(pub(crate) Option<KeyDigest>);

/// Adds the [`Access`] of the caller and the [`TokenDigest`] to the request, or answers 401.
pub(crate) async fn authenticate_request(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let store = &app.stores().keys;
    let mut digest = None;
    let access = if app.keys.is_open(&**store).await.map_err(store_is_away)? {
        check_local_request(request.headers())?;
        Access::with_all_rights()
    } else {
        let token = request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|it| it.to_str().ok())
            .and_then(bearer_token);
        let token = token.ok_or_else(unauthorized_problem)?;
        digest = Some(digest_of_token(token));
        let found = app
            .keys
            .find_access(store, token, clock::now())
            .await
            .map_err(store_is_away)?;
        found.ok_or_else(unauthorized_problem)?
    };
    let caller = access.clone();
    request.extensions_mut().insert(access);
    request.extensions_mut().insert(TokenDigest(digest));
    let mut response = next.run(request).await;
    // For the access log, which is written by an outer layer.
    response.extensions_mut().insert(caller);
    Ok(response)
}

/// Refuses requests from other sites on a server without keys, which serves only this machine. A page of another site
/// can let its own name point to 127.0.0.1 and then read responses in the browser; `Host` contains that name. A request
/// whose response the page does not read has the name of its site in `Origin`.
fn check_local_request(headers: &HeaderMap) -> Result<(), Problem> {
    let header_text = |name| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let host = header_text(header::HOST).map(|it| it.parse::<Authority>().ok());
    let origin = header_text(header::ORIGIN).map(|it| it.parse::<Uri>().ok().and_then(|it| it.authority().cloned()));
    let is_ours = |it: &Option<Authority>| it.as_ref().is_some_and(|it| is_loopback(it.host()));
    if host.as_ref().is_none_or(is_ours) && origin.as_ref().is_none_or(is_ours) {
        return Ok(());
    }
    let problem = Problem::new(ProblemCode::NotLocal);
    Err(problem.with_detail("call it as localhost or 127.0.0.1, or configure keys"))
}

fn is_loopback(name: &str) -> bool {
    let name = name.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the problem for a failed key lookup in the store. No caller is admitted then; a timeout counts as an
/// unavailable store.
fn store_is_away(error: PortError) -> Problem {
    let problem = Problem::from(error);
    if problem.status == StatusCode::GATEWAY_TIMEOUT.as_u16() {
        return Problem::unavailable();
    }
    problem
}

fn unauthorized_problem() -> Problem {
    Problem::new(ProblemCode::Unauthorized).with_detail("send `Authorization: Bearer KEY` with a key of this server")
}
