//! Web pages that may read responses: pages of the origins in the settings, or of any origin.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::config::Cors;

/// Time for which a browser may cache the response to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3_600);
const METHODS: [Method; 4] = [Method::GET, Method::POST, Method::PUT, Method::DELETE];
/// Headers that requests of the API may have.
const SENT: [HeaderName; 12] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::ACCEPT,
    header::IF_MATCH,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-mnemic-space"),
    HeaderName::from_static("x-mnemic-session"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("last-event-id"),
];
/// Headers of responses that a page may read.
const EXPOSED: [HeaderName; 7] = [
    header::LOCATION,
    header::RETRY_AFTER,
    header::WWW_AUTHENTICATE,
    HeaderName::from_static("x-trace-id"),
    HeaderName::from_static("x-mnemic-space"),
    HeaderName::from_static("x-mnemic-evidence"),
    HeaderName::from_static("x-mnemic-stored"),
];

/// Returns the layer that answers preflight requests and permits pages to read responses; `None` if no page may.
/// Browsers send no cookies and no saved passwords.
pub(crate) fn cors_layer(settings: &Cors) -> Option<CorsLayer> {
    let origins = match settings.allows_any() {
        true => AllowOrigin::any(),
        false => {
            let values: Vec<HeaderValue> = settings.origins.iter().filter_map(|it| it.parse().ok()).collect();
            if values.is_empty() {
                return None;
            }
            AllowOrigin::list(values)
        }
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods(METHODS)
        .allow_headers(SENT)
        .expose_headers(EXPOSED)
        .max_age(PREFLIGHT_AGE);
    Some(layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_layer_only_if_a_page_may_read_responses() {
        let with_origins = |origins: &[&str]| Cors {
            origins: origins.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert!(cors_layer(&with_origins(&["*"])).is_some());
        assert!(cors_layer(&with_origins(&["https://app.example"])).is_some());
        assert!(cors_layer(&with_origins(&[])).is_none());
    }
}
