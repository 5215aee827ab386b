//! Errors in the form of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Classify, ErrorKind};
use host::relay::EndpointError;
use serde_json::json;

use super::ProxyCode;
use crate::api::ProblemDocument;
use crate::api::problem::{Problem, RETRY_AFTER_SECS};

/// The error for a chat that is not forwarded, or gets no reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: String,
    message: String,
    /// Time after which a caller may try again, for 429 and 503.
    retry_after_secs: u32,
}

impl Refusal {
    /// Returns the error for an invalid request.
    pub(super) fn invalid_request(code: ProxyCode, message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Returns the error for a reply that exceeds the size limit.
    pub(super) fn too_long(bytes_max: usize) -> Refusal {
        let message = format!("the reply of the language model is over {bytes_max} bytes");
        Refusal::new(StatusCode::BAD_GATEWAY, ProxyCode::UpstreamTooLong, message)
    }

    /// Returns the error for an endpoint that does not respond. The log contains its address; the caller does not need
    /// it.
    pub(super) fn endpoint_unreachable(error: &EndpointError) -> Refusal {
        let detail = "the language model of this server cannot be reached; the operator finds the reason in the log, \
                      and sets its address with [gateway.proxy] url";
        Refusal::endpoint_timeout(error)
            .unwrap_or_else(|| Refusal::new(StatusCode::BAD_GATEWAY, ProxyCode::UpstreamUnreachable, detail))
    }

    /// Returns the error for an endpoint that started a response and did not finish it.
    pub(super) fn broken_off(error: &EndpointError) -> Refusal {
        let detail = "the reply of the language model ended too early";
        Refusal::endpoint_timeout(error)
            .unwrap_or_else(|| Refusal::new(StatusCode::BAD_GATEWAY, ProxyCode::UpstreamCut, detail))
    }

    fn endpoint_timeout(error: &EndpointError) -> Option<Refusal> {
        let detail = "the language model did not reply within the time that [gateway.proxy] timeout_ms allows";
        let refusal = Refusal::new(StatusCode::GATEWAY_TIMEOUT, ProxyCode::UpstreamTimeout, detail);
        (error.kind() == ErrorKind::Timeout).then_some(refusal)
    }

    fn new(status: StatusCode, code: ProxyCode, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            code: code.name().to_owned(),
            message: message.into(),
            retry_after_secs: RETRY_AFTER_SECS,
        }
    }

    fn error_type(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "server_error",
        }
    }
}

/// The same problem in the form of OpenAI's API.
impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        let retry_after_secs = problem.retry_after_secs.unwrap_or(RETRY_AFTER_SECS);
        Refusal {
            retry_after_secs,
            ..Refusal::from(ProblemDocument::from(problem))
        }
    }
}

/// The same problem in the form of OpenAI's API; an invalid request is a 400, as clients of that API expect. The code
/// is the last word of the kind of problem.
impl From<ProblemDocument> for Refusal {
    fn from(problem: ProblemDocument) -> Refusal {
        let status = match problem.status {
            422 => StatusCode::BAD_REQUEST,
            other => StatusCode::from_u16(other).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        };
        let code = problem.kind.rsplit(':').next().unwrap_or_default().to_owned();
        let message = match problem.detail.is_empty() {
            true => problem.title,
            false => problem.detail,
        };
        Refusal {
            status,
            code,
            message,
            retry_after_secs: RETRY_AFTER_SECS,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let kind = self.error_type();
        let busy = matches!(
            self.status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let error = json!({ "error": { "message": self.message, "type": kind, "param": null, "code": self.code } });
        let mut response = (self.status, Json(error)).into_response();
        if busy {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(self.retry_after_secs));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_quota_says_when_to_try_again() {
        let refusal = Refusal::from(Problem::quota_exhausted("no more today", 30));
        let response = refusal.into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[header::RETRY_AFTER], "30");
        let busy = Refusal::from(Problem::new(crate::api::problem::ProblemCode::Unavailable)).into_response();
        assert_eq!(busy.headers()[header::RETRY_AFTER], "1");
    }
}
