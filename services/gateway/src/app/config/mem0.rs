use anyhow::ensure;
use domain::id::SpaceId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::WebhookReach;

/// Longest `space_prefix`, in bytes: the names of spaces have at most 64.
const SPACE_PREFIX_BYTES_MAX: usize = 20;
/// First segments of the paths of our own routes.
const OWN: [&str; 5] = ["/v1", "/docs", "/assets", "/openapi.json", "/"];

/// The API of mem0: `[gateway.mem0]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mem0 {
    /// Whether the API of mem0 is served.
    pub enabled: bool,
    /// Path prefix of all its routes; empty: at the root, next to the routes of Mnemic.
    pub prefix: String,
    /// Prefix of the names of the spaces of its users.
    pub space_prefix: String,
    /// Permitted targets of webhooks that are created through it.
    pub webhooks: WebhookReach,
}

impl Default for Mem0 {
    fn default() -> Mem0 {
        Mem0 {
            enabled: false,
            prefix: "/mem0".to_owned(),
            space_prefix: "mem0-".to_owned(),
            webhooks: WebhookReach::default(),
        }
    }
}

impl Mem0 {
    /// Checks that the prefixes can be served.
    ///
    /// # Errors
    /// Names the setting that is invalid.
    pub(crate) fn check_settings(&self) -> anyhow::Result<()> {
        let prefix = self.prefix.as_str();
        let is_plain =
            |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
        let is_path = prefix.strip_prefix('/').is_some_and(|it| it.split('/').all(is_plain));
        ensure!(
            prefix.is_empty() || (is_path && !OWN.contains(&prefix)),
            "[gateway.mem0] prefix must be empty, or a path of letters, digits, `-` and `_` like /mem0 that is not one of \
             Mnemic's own"
        );
        // Without a prefix, `delete_users()` would erase every space that a key opens.
        let is_start = !self.space_prefix.is_empty() && self.space_prefix.parse::<SpaceId>().is_ok();
        ensure!(
            is_start && self.space_prefix.len() <= SPACE_PREFIX_BYTES_MAX,
            "[gateway.mem0] space_prefix must be 1 to {SPACE_PREFIX_BYTES_MAX} of a-z, 0-9, `.`, `_` and `-`, and start \
             with a letter or digit"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prefixes_that_can_be_served_are_accepted() {
        let is_fine = |prefix: &str, space_prefix: &str| {
            let settings = Mem0 {
                enabled: true,
                prefix: prefix.to_owned(),
                space_prefix: space_prefix.to_owned(),
                webhooks: WebhookReach::default(),
            };
            settings.check_settings().is_ok()
        };
        for prefix in ["", "/mem0", "/api/mem-0"] {
            assert!(is_fine(prefix, "mem0-"), "{prefix}");
        }
        for prefix in ["mem0", "/", "/mem0/", "/v1", "/a b", "/{id}", "//"] {
            assert!(!is_fine(prefix, "mem0-"), "{prefix}");
        }
        let long = "m".repeat(21);
        for (space_prefix, expected) in [
            ("", false),
            ("m", true),
            ("-", false),
            ("M", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_fine("/mem0", space_prefix), expected, "{space_prefix}");
        }
    }
}
