//! API keys: the identity of the caller, the spaces that the key opens, and its rights there.

mod keyring;
mod stored_tokens;

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use domain::PortError;
use domain::id::SpaceId;
use domain::key::Quotas;
use host::clock;

use crate::config::Right;
use crate::problem::{Problem, ProblemCode};
use crate::state::App;
pub(crate) use keyring::Keyring;
pub(crate) use stored_tokens::PREFIX as TOKEN_PREFIX;

/// Access of the caller's key.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Name of the key; empty without keys.
    name: String,
    spaces: Vec<String>,
    rights: Vec<Right>,
    quotas: Quotas,
}

impl Access {
    /// Returns full access, which every caller of an open server has.
    pub(crate) fn all() -> Access {
        Access {
            name: String::new(),
            spaces: vec!["*".to_owned()],
            rights: vec![Right::Read, Right::Write, Right::Admin],
            quotas: Quotas::default(),
        }
    }

    /// Returns the name of the key; empty without keys.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the key opens the space.
    pub(crate) fn opens(&self, space: &str) -> bool {
        is_opened(&self.spaces, space)
    }

    /// Returns the patterns of the spaces that the key opens, as configured.
    pub(crate) fn patterns(&self) -> &[String] {
        &self.spaces
    }

    /// Returns the rights of the key in the spaces that it opens.
    pub(crate) fn rights(&self) -> &[Right] {
        &self.rights
    }

    /// Returns the quotas of the key.
    pub(crate) fn quotas(&self) -> Quotas {
        self.quotas
    }

    /// Returns true if the key opens every space.
    pub(crate) fn opens_all(&self) -> bool {
        self.spaces.iter().any(|it| it == "*")
    }

    /// Checks a right that does not concern a single space.
    pub(crate) fn demand(&self, right: Right) -> Result<(), Problem> {
        if self.rights.contains(&right) {
            Ok(())
        } else {
            Err(Problem::forbidden(right))
        }
    }

    /// Parses the name of a space and checks the key. A space that the key does not open is reported as unknown.
    pub(crate) fn enter(&self, name: &str, right: Right) -> Result<SpaceId, Problem> {
        let space: SpaceId = name
            .parse()
            .map_err(|error: domain::id::InvalidSpace| Problem::invalid(error.to_string()))?;
        if !self.opens(space.as_str()) {
            return Err(Problem::unknown_space(&space));
        }
        self.demand(right)?;
        Ok(space)
    }
}

/// Returns true if a pattern equals the name of the space, or ends in `*` after a prefix of the name.
pub(crate) fn is_opened(patterns: &[String], space: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => space.starts_with(prefix),
        None => space == pattern,
    })
}

/// Adds the [`Access`] of the caller to the request, or answers 401.
pub(crate) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let store = &app.stores().keys;
    let access = if app.keys.is_open(&**store).await.map_err(store_is_away)? {
        local(request.headers())?;
        Access::all()
    } else {
        let token = request
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|it| it.to_str().ok())
            .and_then(bearer);
        let token = token.ok_or_else(unauthorized)?;
        let found = app.keys.find(store, token, clock::now()).await.map_err(store_is_away)?;
        found.ok_or_else(unauthorized)?
    };
    let caller = access.clone();
    request.extensions_mut().insert(access);
    let mut response = next.run(request).await;
    // For the access log, which is written by an outer layer.
    response.extensions_mut().insert(caller);
    Ok(response)
}

/// Refuses requests from other sites on a server without keys, which serves only this machine. A page of another site
/// can let its own name point to 127.0.0.1 and then read responses in the browser; `Host` contains that name. A request
/// whose response the page does not read has the name of its site in `Origin`.
fn local(headers: &HeaderMap) -> Result<(), Problem> {
    let said = |name| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let host = said(header::HOST).map(|it| it.parse::<Authority>().ok());
    let origin = said(header::ORIGIN).map(|it| it.parse::<Uri>().ok().and_then(|it| it.authority().cloned()));
    let is_ours = |it: &Option<Authority>| it.as_ref().is_some_and(|it| is_loopback(it.host()));
    if host.as_ref().is_none_or(is_ours) && origin.as_ref().is_none_or(is_ours) {
        return Ok(());
    }
    let problem = Problem::new(ProblemCode::NotLocal);
    Err(problem.detail("call it as localhost or 127.0.0.1, or configure keys"))
}

fn is_loopback(name: &str) -> bool {
    let name = name.trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn bearer(value: &str) -> Option<&str> {
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

fn unauthorized() -> Problem {
    Problem::new(ProblemCode::Unauthorized).detail("send `Authorization: Bearer KEY` with a key of this server")
}

pub(crate) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
