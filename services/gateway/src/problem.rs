//! Problem documents (RFC 9457): the only shape an error has.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::id::SpaceId;
use domain::{Classify, ErrorKind, PortError};
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;

use crate::api::{Item, Progress};
use crate::config::Right;

/// The kind of problem after which the same request is to be sent again.
const IN_FLIGHT: &str = "idempotency-key-in-flight";
/// The kind of problem that there is no such space.
const UNKNOWN_SPACE: &str = "unknown-space";
/// The kind of problem that a request cannot be used for what it says.
const INVALID: &str = "urn:mnemic:problem:invalid";
/// Seconds after which trying again may help.
const RETRY_AFTER_SECS: u32 = 1;

/// What went wrong, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Names the kind of problem: `urn:mnemic:problem:...`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem, for people.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// What went wrong here.
    pub detail: String,
    /// Outcomes by record, when a batch was refused as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub items: Vec<Item>,
    /// How far the writer is, when it was waited for in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Box<Progress>>,
    /// Seconds after which the same request may be sent again, for the header `Retry-After`.
    #[serde(skip)]
    pub(crate) retry_after_secs: Option<u32>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, slug: &str, title: &str) -> Problem {
        Problem {
            kind: format!("urn:mnemic:problem:{slug}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: String::new(),
            items: Vec::new(),
            progress: None,
            retry_after_secs: None,
        }
    }

    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = detail.into();
        self
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            "The request cannot be used",
        )
        .detail(detail)
    }

    /// An `Idempotency-Key` came once more, with another request.
    pub(crate) fn reused_key() -> Problem {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency-key-reused",
            "The Idempotency-Key belongs to another request",
        )
        .detail("this Idempotency-Key was used for another request; use a key of its own for each")
    }

    /// An `Idempotency-Key` came once more while its request is being answered.
    pub(crate) fn held_key() -> Problem {
        Problem::new(
            StatusCode::CONFLICT,
            IN_FLIGHT,
            "The request with this Idempotency-Key is in flight",
        )
        .detail("the first request with this Idempotency-Key is being answered; ask again in a moment for its response")
    }

    /// What was given as a watermark is none, or another space's.
    pub(crate) fn watermark(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "watermark",
            "The watermark cannot be used",
        )
        .detail(detail)
    }

    /// What was given as a cursor is none, or another list's.
    pub(crate) fn cursor() -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "cursor", "The cursor cannot be used").detail(
            "after: is not the `next` of a page of this list, with this key and these filters; leave it out to begin again",
        )
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::CONFLICT,
            "conflict",
            "The request contradicts what is stored",
        )
        .detail(detail)
    }

    /// Says whether the request was refused for what it says: nothing came of it, and the same again is refused too.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) && self.status != StatusCode::TOO_MANY_REQUESTS.as_u16()
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing").detail(detail)
    }

    pub(crate) fn unknown_space(space: &SpaceId) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, UNKNOWN_SPACE, "There is no such space").detail(format!(
            "there is no space `{space}`; PUT /v1/spaces/{space} creates it"
        ))
    }

    /// Returns true if the problem is that there is no such space.
    pub(crate) fn is_unknown_space(&self) -> bool {
        self.kind.ends_with(UNKNOWN_SPACE)
    }

    /// Returns true if the request cannot be used for what it says.
    pub(crate) fn is_invalid(&self) -> bool {
        self.kind == INVALID
    }

    /// Returns true if the server failed in a way that its log explains.
    pub(crate) fn is_defect(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR.as_u16()
    }

    pub(crate) fn forbidden(right: Right) -> Problem {
        let right = match right {
            Right::Read => "read",
            Right::Write => "write",
            Right::Admin => "admin",
        };
        Problem::new(StatusCode::FORBIDDEN, "forbidden", "The key may not do this")
            .detail(format!("the key has no right `{right}` here"))
    }

    pub(crate) fn timeout(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::GATEWAY_TIMEOUT, "timeout", "The time ran out").detail(detail)
    }

    pub(crate) fn exhausted(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "exhausted", "Too much at once").detail(detail)
    }

    pub(crate) fn share_exhausted(detail: impl Into<String>) -> Problem {
        let title = "The key does too much at once";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "share-exhausted", title).detail(detail)
    }

    /// The key has asked for as much as its quota allows; in so many seconds it may ask again.
    pub(crate) fn quota_exhausted(detail: impl Into<String>, retry_after_secs: u32) -> Problem {
        let title = "The quota of the key is used up";
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "quota-exhausted", title).detail(detail);
        Problem {
            retry_after_secs: Some(retry_after_secs),
            ..problem
        }
    }

    /// Keys cannot be made through the API of this server.
    pub(crate) fn no_admin_key() -> Problem {
        let title = "This server has no key that may make others";
        Problem::new(StatusCode::CONFLICT, "no-admin-key", title).detail(
            "keys are made with a key of the settings that has the right `admin` over all spaces, so that nobody is locked out: \
             `mnemic keys new` makes one; put it into [[gateway.keys]] with spaces = [\"*\"] and rights = [\"read\", \"write\", \
             \"admin\"], and restart the server",
        )
    }

    pub(crate) fn unavailable() -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "A part of the service cannot be reached",
        )
        .detail("nothing was lost; try again")
    }

    /// Something that is stored cannot be read, or was changed.
    pub(crate) fn damaged() -> Problem {
        let title = "Something that is stored is damaged";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", title).detail(
            "it is not answered with; `mnemic doctor` names it to the operator, `mnemic restore` brings back a copy, and the log of \
             the server has the cause, under the trace id of this response",
        )
    }

    pub(crate) fn internal() -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "A defect of the server")
            .detail("the log of the server has the cause, under the trace id of this response")
    }
}

/// The one place that turns failures of ports into answers; server errors are logged here and reveal nothing.
impl From<PortError> for Problem {
    fn from(error: PortError) -> Problem {
        match error.kind() {
            ErrorKind::Invalid => Problem::invalid(error.detail()),
            ErrorKind::NotFound => Problem::not_found(error.detail()),
            ErrorKind::Conflict => Problem::conflict(error.detail()),
            ErrorKind::Exhausted => logged(&error, Problem::exhausted("the queue is full; try again later")),
            ErrorKind::Timeout => logged(&error, Problem::timeout("a part of the service did not answer in time")),
            ErrorKind::Unavailable => logged(&error, Problem::unavailable()),
            ErrorKind::Damaged => logged(&error, Problem::damaged()),
            ErrorKind::Internal => logged(&error, Problem::internal()),
        }
    }
}

fn logged(error: &PortError, problem: Problem) -> Problem {
    error!(
        error = error as &dyn std::error::Error,
        status = problem.status,
        "request failed"
    );
    problem
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let in_flight = self.kind.ends_with(IN_FLIGHT);
        let retry_after_secs = self.retry_after_secs.unwrap_or(RETRY_AFTER_SECS);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if in_flight || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after_secs));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
