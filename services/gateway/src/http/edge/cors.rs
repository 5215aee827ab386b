//! Web pages that may read responses: pages of the origins in the settings, or of any origin.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::app::config::Cors;

/// Time for which a browser may cache the response to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3_600);
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
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
/// Browsers send no cookies and no saved passwords. A page may send any header, because clients of OpenAI, MCP and mem0
/// add headers of their own, and a header opens nothing: the origin and the key decide.
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
        .allow_headers(AllowHeaders::mirror_request())
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
