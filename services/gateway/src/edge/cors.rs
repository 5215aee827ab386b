//! Web pages that may read responses: pages of the origins in the settings, or of any origin.

use std::time::Duration;

use anyhow::ensure;
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// The entry for every origin; it must be the only one.
const ANY: &str = "*";
/// Maximum number of origins in the list.
const ORIGINS_MAX: usize = 64;
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

/// Settings in `[gateway.cors]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Origins whose pages may read responses, like `https://app.example`, or only `*` for all. Empty: no origin.
    pub origins: Vec<String>,
}

impl Cors {
    /// Refuses an entry that is not an origin in the form that browsers send, because it would never match.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.origins.len() <= ORIGINS_MAX,
            "[gateway.cors] origins: has more than {ORIGINS_MAX} origins"
        );
        if self.allows_any() {
            return Ok(());
        }
        for origin in &self.origins {
            ensure!(
                is_origin(origin),
                "[gateway.cors] origins: `{origin}` is not an origin like \"https://app.example\" or \"http://localhost:3000\" (scheme, \
                 host in small letters, a port unless it is the usual one, no path), nor \"*\" alone"
            );
        }
        Ok(())
    }

    /// Returns the layer that answers preflight requests and permits pages to read responses; `None` if no page may.
    /// Browsers send no cookies and no saved passwords.
    pub(crate) fn layer(&self) -> Option<CorsLayer> {
        let origins = match self.allows_any() {
            true => AllowOrigin::any(),
            false => {
                let values: Vec<HeaderValue> = self.origins.iter().filter_map(|it| it.parse().ok()).collect();
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

    fn allows_any(&self) -> bool {
        self.origins.len() == 1 && self.origins.iter().all(|it| it == ANY)
    }
}

/// Returns true if a text is an origin in the form that browsers send.
fn is_origin(text: &str) -> bool {
    let Some((scheme, place)) = text.split_once("://") else {
        return false;
    };
    let usual_port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return false,
    };
    let is_plain = place
        .bytes()
        .all(|it| it.is_ascii_graphic() && !it.is_ascii_uppercase());
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_whole = uri
        .authority()
        .is_some_and(|it| it.as_str() == place && !it.host().is_empty());
    is_plain && is_whole && !place.contains(['@', '*']) && !place.ends_with(usual_port) && !place.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cors(origins: &[&str]) -> Cors {
        Cors {
            origins: origins.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for origin in [
            "https://app.example",
            "http://localhost:3000",
            "https://app.example:8443",
            "http://[::1]:3000",
            "http://127.0.0.1",
        ] {
            assert!(cors(&[origin]).check().is_ok(), "{origin}");
        }
        for other in [
            "",
            "app.example",
            "https://",
            "https://app.example/",
            "https://app.example/page",
            "https://App.example",
            "https://app.example:443",
            "http://app.example:80",
            "https://app.example:",
            "https://user@app.example",
            "https://*.example",
            "https://app.example?x",
            "ftp://app.example",
            "null",
            "https://bücher.example",
            "https://app.example\r\nx: y",
        ] {
            let error = cors(&[other]).check();
            assert!(error.is_err(), "{other}");
        }
    }

    #[test]
    fn the_entry_for_any_origin_must_be_the_only_one() {
        assert!(cors(&["*"]).check().is_ok() && cors(&["*"]).layer().is_some());
        assert!(cors(&["*", "https://app.example"]).check().is_err());
        assert!(cors(&["*", "*"]).check().is_err());
        assert!(cors(&[]).check().is_ok() && cors(&[]).layer().is_none());
        assert!(cors(&["https://app.example"; 65]).check().is_err());
    }
}
