//! Settings of web pages that may read responses.

use anyhow::ensure;
use axum::http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The entry for every origin; it must be the only one.
const ANY: &str = "*";
/// Maximum number of origins in the list.
const ORIGINS_MAX: usize = 64;

/// Settings in `[gateway.cors]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Origins whose pages may read responses, like `https://app.example`, or only `*` for all. Empty: no origin.
    pub origins: Vec<String>,
}

impl Cors {
    /// Refuses an entry that is not an origin in the form that browsers send, because it would never match.
    pub(crate) fn check_origins(&self) -> anyhow::Result<()> {
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

    /// Returns true if pages of every origin may read responses.
    pub(crate) fn allows_any(&self) -> bool {
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

    fn cors_with_origins(origins: &[&str]) -> Cors {
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
            assert!(cors_with_origins(&[origin]).check_origins().is_ok(), "{origin}");
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
            let error = cors_with_origins(&[other]).check_origins();
            assert!(error.is_err(), "{other}");
        }
    }

    #[test]
    fn the_entry_for_any_origin_must_be_the_only_one() {
        assert!(cors_with_origins(&["*"]).check_origins().is_ok());
        assert!(
            cors_with_origins(&["*", "https://app.example"])
                .check_origins()
                .is_err()
        );
        assert!(cors_with_origins(&["*", "*"]).check_origins().is_err());
        assert!(cors_with_origins(&[]).check_origins().is_ok());
        assert!(cors_with_origins(&["https://app.example"; 65]).check_origins().is_err());
    }
}
