use std::fmt;

use chrono::{DateTime, Utc};
use domain::key::{Key, KeyName, Quotas, Right};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A key to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiKey {
    /// Name of the key in lists, logs and receipts: 1 to 64 of `a-z`, `A-Z`, `0-9`, `.`, `_` and `-`, starting with a
    /// letter or digit. It must be unique among all keys.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub name: String,
    /// Spaces that the key opens: `*`, names, or prefixes that end in `*`.
    #[schema(min_items = 1, max_items = 64)]
    pub spaces: Vec<String>,
    /// Rights of the key in these spaces; at most the rights of the key that makes this request.
    #[schema(min_items = 1, max_items = 3)]
    pub rights: Vec<Right>,
    /// Time at which the key expires; if left out, it does not expire. RFC 3339, or ISO 8601 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Quota of the key; if left out, there is no limit.
    #[serde(default)]
    pub quotas: Quotas,
}

/// A new token for a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rotation {
    /// Seconds for which the previous token stays valid.
    #[schema(minimum = 0, maximum = 86_400)]
    pub grace_seconds: u32,
}

/// A key that was created through the API, without its token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    /// Name of the key.
    pub name: KeyName,
    /// Spaces that the key opens.
    pub spaces: Vec<String>,
    /// Rights of the key in these spaces.
    pub rights: Vec<Right>,
    /// Quota of the key.
    #[serde(default)]
    pub quotas: Quotas,
    /// Name of the key that created this key.
    pub by: String,
    /// Time at which the key was created.
    pub created_at: DateTime<Utc>,
    /// Time at which the key expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Time at which the key was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
    /// Time of the latest use, to the minute; a use in the last minute may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    /// Time until which the token before the last rotation is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former_valid_until: Option<DateTime<Utc>>,
}

/// A key with its token. Only this response contains the token; the server keeps a digest of it.
#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApiKeyToken {
    /// The key.
    pub key: ApiKey,
    /// The token that its holder sends as `Authorization: Bearer`.
    pub token: String,
}

impl fmt::Debug for ApiKeyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKeyToken")
            .field("key", &self.key)
            .field("token", &"***")
            .finish()
    }
}

impl From<Key> for ApiKey {
    fn from(it: Key) -> ApiKey {
        ApiKey {
            name: it.name,
            spaces: it.spaces,
            rights: it.rights,
            quotas: it.quotas,
            by: it.by,
            created_at: it.created_at,
            expires_at: it.expires_at,
            revoked_at: it.revoked_at,
            last_used_at: it.last_used_at,
            former_valid_until: it.former_valid_until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_printed() {
        let key_token = serde_json::json!({"token": "mnk_secret", "key": {"name": "a", "spaces": ["*"], "rights": ["read"],
            "by": "owner", "created_at": "2026-03-01T12:00:00Z"}});
        let key_token: ApiKeyToken = serde_json::from_value(key_token).unwrap();
        let printed = format!("{key_token:?} {:#?}", Some(&key_token));
        assert!(printed.contains("***") && !printed.contains("secret"), "{printed}");
    }
}
