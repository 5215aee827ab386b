//! Problem documents (RFC 9457): the only form of errors.

mod code;

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

pub(crate) use self::code::ProblemCode;

/// Seconds after which a retry may succeed.
const RETRY_AFTER_SECS: u32 = 1;

/// An error, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// URI of the kind of problem: `urn:mnemic:problem:...`.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: Box<str>,
    /// Title of the kind of problem, for people.
    #[schema(value_type = String)]
    pub title: Box<str>,
    /// HTTP status.
    pub status: u16,
    /// Description of this problem.
    pub detail: String,
    /// Outcome for each record, if a batch was refused as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub items: Vec<Item>,
    /// Address of the section of docs/ERRORS.md on this kind of problem: causes and solutions.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String, required = false)]
    pub help: Box<str>,
    /// Progress of the writer, if a wait for it timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Box<Progress>>,
    /// Seconds after which the same request may be sent again, for the header `Retry-After`.
    #[serde(skip)]
    pub(crate) retry_after_secs: Option<u32>,
}

impl Problem {
    /// Returns a problem of a kind, without a detail.
    pub(crate) fn new(code: ProblemCode) -> Problem {
        Problem {
            kind: code.urn().into(),
            title: code.title().into(),
            status: code.status().as_u16(),
            help: code.help().into(),
            detail: String::new(),
            items: Vec::new(),
            progress: None,
            retry_after_secs: None,
        }
    }

    /// Replaces the default status of the kind.
    #[must_use]
    pub(crate) fn status(mut self, status: StatusCode) -> Problem {
        self.status = status.as_u16();
        self
    }

    /// Returns true if the problem is of this kind.
    pub(crate) fn is(&self, code: ProblemCode) -> bool {
        self.code() == code.name()
    }

    /// Returns the code of the kind.
    pub(crate) fn code(&self) -> &str {
        ProblemCode::name_in(&self.kind)
    }

    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = detail.into();
        self
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Invalid).detail(detail)
    }

    /// Returns the problem that an `Idempotency-Key` was used again with another request.
    pub(crate) fn reused_key() -> Problem {
        Problem::new(ProblemCode::IdempotencyKeyReused)
            .detail("this Idempotency-Key was used for another request; use a key of its own for each")
    }

    /// Returns the problem that an `Idempotency-Key` is used again while its request is in progress.
    pub(crate) fn held_key() -> Problem {
        Problem::new(ProblemCode::IdempotencyKeyInFlight).detail(
            "the first request with this Idempotency-Key is being answered; ask again in a moment for its response",
        )
    }

    /// Returns the problem that a watermark is invalid, or belongs to another space.
    pub(crate) fn watermark(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Watermark).detail(detail)
    }

    /// Returns the problem that a cursor is invalid, or belongs to another list.
    pub(crate) fn cursor() -> Problem {
        Problem::new(ProblemCode::Cursor).detail(
            "after: is not the `next` of a page of this list, with this key and these filters; leave it out to begin again",
        )
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Conflict).detail(detail)
    }

    /// Returns true if the request was refused because of its content: it had no effect, and a retry is refused too.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) && self.status != StatusCode::TOO_MANY_REQUESTS.as_u16()
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::NotFound).detail(detail)
    }

    pub(crate) fn unknown_space(space: &SpaceId) -> Problem {
        Problem::new(ProblemCode::UnknownSpace).detail(format!(
            "there is no space `{space}`; PUT /v1/spaces/{space} creates it"
        ))
    }

    /// Returns true if the problem is that the space does not exist.
    pub(crate) fn is_unknown_space(&self) -> bool {
        self.is(ProblemCode::UnknownSpace)
    }

    /// Returns true if the content of the request is invalid.
    pub(crate) fn is_invalid(&self) -> bool {
        self.is(ProblemCode::Invalid)
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
        Problem::new(ProblemCode::Forbidden).detail(format!("the key has no right `{right}` here"))
    }

    pub(crate) fn timeout(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Timeout).detail(detail)
    }

    pub(crate) fn exhausted(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Exhausted).detail(detail)
    }

    pub(crate) fn share_exhausted(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::ShareExhausted).detail(detail)
    }

    /// Returns the problem that the key has used up its quota; the caller may retry after this number of seconds.
    pub(crate) fn quota_exhausted(detail: impl Into<String>, retry_after_secs: u32) -> Problem {
        let problem = Problem::new(ProblemCode::QuotaExhausted).detail(detail);
        Problem {
            retry_after_secs: Some(retry_after_secs),
            ..problem
        }
    }

    /// Returns the problem that keys cannot be created through the API of this server.
    pub(crate) fn no_admin_key() -> Problem {
        Problem::new(ProblemCode::NoAdminKey).detail(
            "keys are made with a key of the settings that has the right `admin` over all spaces, so that nobody is locked out: \
             `mnemic keys new` makes one; put it into [[gateway.keys]] with spaces = [\"*\"] and rights = [\"read\", \"write\", \
             \"admin\"], and restart the server",
        )
    }

    pub(crate) fn unavailable() -> Problem {
        Problem::new(ProblemCode::Unavailable).detail("nothing was lost; try again")
    }

    /// Returns the problem that stored data cannot be read, or were changed.
    pub(crate) fn damaged() -> Problem {
        Problem::new(ProblemCode::Damaged).detail(
            "it is not answered with; `mnemic doctor` names it to the operator, `mnemic restore` brings back a copy, and the log of \
             the server has the cause, under the trace id of this response",
        )
    }

    pub(crate) fn internal() -> Problem {
        Problem::new(ProblemCode::Internal)
            .detail("the log of the server has the cause, under the trace id of this response")
    }
}

/// The only place that converts failures of ports into responses. It logs server errors, and the response reveals no
/// details of them.
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
        let in_flight = self.is(ProblemCode::IdempotencyKeyInFlight);
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
