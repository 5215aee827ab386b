//! The rules by which a request is sent again.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};

/// Attempts per request while the server is full or restarting.
pub(super) const TRIES: u32 = 7;
/// Pause before the first retry; it doubles with each retry.
pub(super) const PAUSE: Duration = Duration::from_millis(200);
/// Longest pause that a server can request. A daily quota may be used up for hours; the command fails at once then.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// The responses after which a request is sent again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// Every response that says that a retry may help, for a request that is safe to repeat.
    Always,
    /// Only 429, with which the server has not begun the request. After another response it may have done what was
    /// requested, and a repetition would do it again.
    NotBegun,
}

impl Retry {
    /// Returns true if a retry after this response may help and is harmless.
    pub(super) fn may_help(self, response: &Response) -> bool {
        let status = response.status();
        match self {
            // With the header Retry-After, the server says that a retry may help.
            Retry::Always => {
                response.headers().contains_key(RETRY_AFTER)
                    || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
            }
            Retry::NotBegun => status == StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// Returns the time until the next attempt: `pause`, or the seconds in `Retry-After` if they are longer. Returns `None`
/// if they are more than [`RETRY_AFTER_MAX`], because an earlier attempt would fail too. A date in `Retry-After` is
/// ignored; Mnemic sends seconds.
pub(super) fn pause_before_retry(pause: Duration, headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)
        .and_then(|it| it.to_str().ok()?.trim().parse().ok());
    let requested = seconds.map_or(Duration::ZERO, Duration::from_secs);
    (requested <= RETRY_AFTER_MAX).then(|| pause.max(requested))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_retry_waits_as_long_as_the_server_requests_and_there_is_none_after_more_than_a_minute() {
        let wait = |value: Option<&'static str>| {
            let header = value.map(|it| (RETRY_AFTER, HeaderValue::from_static(it)));
            let headers: HeaderMap = header.into_iter().collect();
            pause_before_retry(Duration::from_millis(400), &headers).map(|it| it.as_millis())
        };
        assert_eq!(wait(None), Some(400));
        assert_eq!(wait(Some("0")), Some(400));
        assert_eq!(wait(Some("3")), Some(3_000));
        assert_eq!(wait(Some("60")), Some(60_000));
        assert_eq!(wait(Some("61")), None);
        assert_eq!(wait(Some("86400")), None);
        for unusable in [
            "soon",
            "-1",
            "1.5",
            "Mon, 02 Mar 2026 18:00:03 GMT",
            "99999999999999999999",
        ] {
            assert_eq!(wait(Some(unusable)), Some(400), "{unusable}");
        }
    }
}
