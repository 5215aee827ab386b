//! Problem documents (RFC 9457): the only form of errors.

mod code;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::id::SpaceId;
use domain::key::Right;
use domain::{Classify, ErrorKind, PortError};
use tracing::error;

use crate::api::outcomes::Progress;
use crate::api::{Item, ProblemDocument};

pub(crate) use self::code::ProblemCode;

/// Seconds after which a retry may succeed.
pub(crate) const RETRY_AFTER_SECS: u32 = 1;

/// An error of a request; a caller gets it as a [`ProblemDocument`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    /// The kind of problem.
    pub(crate) code: ProblemCode,
    /// HTTP status.
    pub(crate) status: u16,
    /// Description of this problem.
    pub(crate) detail: String,
    /// Outcome for each record, if a batch was refused as a whole.
    pub(crate) items: Vec<Item>,
    /// Progress of the writer, if a wait for it timed out.
    pub(crate) progress: Option<Box<Progress>>,
    /// Id of the dead letter that holds the write, if the write failed permanently.
    pub(crate) dead_letter: Option<String>,
    /// Seconds after which the same request may be sent again, for the header `Retry-After`.
    pub(crate) retry_after_secs: Option<u32>,
}

impl From<Problem> for ProblemDocument {
    fn from(it: Problem) -> ProblemDocument {
        ProblemDocument {
            kind: it.code.to_urn(),
            title: it.code.title().to_owned(),
            status: it.status,
            detail: it.detail,
            items: it.items,
            help: it.code.help_url(),
            progress: it.progress,
            dead_letter: it.dead_letter,
        }
    }
}

impl Problem {
    /// Returns a problem of a kind, without a detail.
    pub(crate) fn new(code: ProblemCode) -> Problem {
        Problem {
            code,
            status: code.http_status().as_u16(),
            detail: String::new(),
            items: Vec::new(),
            progress: None,
            dead_letter: None,
            retry_after_secs: None,
        }
    }

    /// Replaces the default status of the kind.
    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Problem {
        self.status = status.as_u16();
        self
    }

    #[must_use]
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = detail.into();
        self
    }

    pub(crate) fn invalid_request(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Invalid).with_detail(detail)
    }

    /// Returns the problem that an `Idempotency-Key` was used again with another request.
    pub(crate) fn reused_key() -> Problem {
        Problem::new(ProblemCode::IdempotencyKeyReused)
            .with_detail("this Idempotency-Key was used for another request; use a different key for each request")
    }

    /// Returns the problem that an `Idempotency-Key` is used again while its request is in progress.
    pub(crate) fn held_key() -> Problem {
        Problem::new(ProblemCode::IdempotencyKeyInFlight).with_detail(
            "the first request with this Idempotency-Key is in progress; repeat the request in a moment to get its response",
        )
    }

    /// Returns the problem that a watermark is invalid, or belongs to another space.
    pub(crate) fn invalid_watermark(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Watermark).with_detail(detail)
    }

    /// Returns the problem that a cursor is invalid, or belongs to another list.
    pub(crate) fn invalid_cursor() -> Problem {
        Problem::new(ProblemCode::Cursor).with_detail(
            "after: must be the `next` of a page of this list, with this key and these filters; leave it out to begin again",
        )
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Conflict).with_detail(detail)
    }

    /// Returns true if the request was refused because of its content: it had no effect, and a retry is refused too.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) && self.status != StatusCode::TOO_MANY_REQUESTS.as_u16()
    }

    /// Returns true if the request certainly had no effect: it was refused because of its content, or because of a
    /// quota, which is checked before anything of the request is stored.
    pub(crate) fn is_without_effect(&self) -> bool {
        self.is_refusal() || self.code == ProblemCode::QuotaExhausted
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::NotFound).with_detail(detail)
    }

    pub(crate) fn unknown_space(space: &SpaceId) -> Problem {
        Problem::new(ProblemCode::UnknownSpace).with_detail(format!(
            "there is no space `{space}`; PUT /v1/spaces/{space} creates it"
        ))
    }

    /// Returns true if the problem is that the space does not exist.
    pub(crate) fn is_unknown_space(&self) -> bool {
        self.code == ProblemCode::UnknownSpace
    }

    /// Returns true if the content of the request is invalid.
    pub(crate) fn is_invalid(&self) -> bool {
        self.code == ProblemCode::Invalid
    }

    /// Returns true if the server failed in a way that its log explains.
    pub(crate) fn is_defect(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR.as_u16()
    }

    pub(crate) fn missing_right(right: Right) -> Problem {
        let right = match right {
            Right::Read => "read",
            Right::Write => "write",
            Right::Admin => "admin",
        };
        Problem::new(ProblemCode::Forbidden).with_detail(format!("the key has no right `{right}` here"))
    }

    pub(crate) fn timeout(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Timeout).with_detail(detail)
    }

    pub(crate) fn server_exhausted(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::Exhausted).with_detail(detail)
    }

    pub(crate) fn share_exhausted(detail: impl Into<String>) -> Problem {
        Problem::new(ProblemCode::ShareExhausted).with_detail(detail)
    }

    /// Returns the problem that the key has used up its quota; the caller may retry after this number of seconds.
    pub(crate) fn quota_exhausted(detail: impl Into<String>, retry_after_secs: u32) -> Problem {
        let problem = Problem::new(ProblemCode::QuotaExhausted).with_detail(detail);
        Problem {
            retry_after_secs: Some(retry_after_secs),
            ..problem
        }
    }

    /// Returns the problem that keys cannot be created through the API of this server.
    pub(crate) fn no_admin_key() -> Problem {
        Problem::new(ProblemCode::NoAdminKey).with_detail(
            "creating keys needs a key in the settings with the right `admin` over all spaces, so that nobody is \
             locked out: `mnemic keys new` makes one; put it into [[gateway.keys]] with spaces = [\"*\"] and rights = [\"read\", \"write\", \
             \"admin\"], and restart the server",
        )
    }

    pub(crate) fn unavailable() -> Problem {
        Problem::new(ProblemCode::Unavailable).with_detail("nothing was lost; try again")
    }

    /// Returns the problem that stored data cannot be read, or were changed.
    pub(crate) fn damaged_data() -> Problem {
        Problem::new(ProblemCode::Damaged).with_detail(
            "damaged data is not returned; the operator finds it with `mnemic doctor` and restores a copy with \
             `mnemic restore`; the log of the server has the cause, under the trace id of this response",
        )
    }

    pub(crate) fn internal_error() -> Problem {
        Problem::new(ProblemCode::Internal)
            .with_detail("the log of the server has the cause, under the trace id of this response")
    }
}

/// The only place that converts failures of ports into responses. It logs server errors, and the response reveals no
/// details of them.
impl From<PortError> for Problem {
    fn from(error: PortError) -> Problem {
        match error.kind() {
            ErrorKind::Invalid => Problem::invalid_request(error.detail()),
            ErrorKind::NotFound => Problem::not_found(error.detail()),
            ErrorKind::Conflict => Problem::conflict(error.detail()),
            ErrorKind::Exhausted => {
                log_port_error(&error, Problem::server_exhausted("the queue is full; try again later"))
            }
            ErrorKind::Timeout => {
                log_port_error(&error, Problem::timeout("a part of the service did not answer in time"))
            }
            ErrorKind::Unavailable => log_port_error(&error, Problem::unavailable()),
            ErrorKind::Damaged => log_port_error(&error, Problem::damaged_data()),
            ErrorKind::Internal => log_port_error(&error, Problem::internal_error()),
        }
    }
}

fn log_port_error(error: &PortError, problem: Problem) -> Problem {
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
        let in_flight = self.code == ProblemCode::IdempotencyKeyInFlight;
        let retry_after_secs = self.retry_after_secs.unwrap_or(RETRY_AFTER_SECS);
        let mut response = (status, Json(ProblemDocument::from(self))).into_response();
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
