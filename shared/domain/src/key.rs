//! API keys that are kept in the store: who created them, which spaces they open, until when, and their quotas.
//!
//! A store never holds a token, only its digest. For a while after a rotation, a key has two digests: one of the new
//! token and one of the former token.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Maximum number of keys in a store, including revoked ones.
pub const KEYS_MAX: usize = 10_000;

/// SHA-256 of a token.
pub type KeyDigest = [u8; 32];

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Ask, list and look up.
    Read,
    /// Create spaces, add records, correct derived objects, dismiss hints.
    Write,
    /// Erase spaces and records, and manage dead letters.
    Admin,
}

/// The name of a stored key: 1 to 64 of `a-z`, `A-Z`, `0-9`, `.`, `_`, `-`, starting with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
pub struct KeyName(String);

/// The error for a string that is not the name of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a key must have 1 to 64 characters from a-z, A-Z, 0-9, '.', '_' and '-', and begin with a letter or digit"
)]
pub struct InvalidKeyName;

/// The quotas of a key. An absent quota is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Quotas {
    /// Requests per minute of the clock (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1), schemars(range(min = 1)))]
    pub requests_per_minute: Option<u32>,
    /// New records per day (UTC); duplicates and rejected records do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1), schemars(range(min = 1)))]
    pub records_per_day: Option<u32>,
}

/// A stored key, without its token. Times have millisecond precision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Name of the key, unique among all keys.
    pub name: KeyName,
    /// Spaces that the key opens: `*`, names, or prefixes that end in `*`.
    pub spaces: Vec<String>,
    /// The rights in these spaces.
    pub rights: Vec<Right>,
    /// The quotas.
    #[serde(default)]
    pub quotas: Quotas,
    /// Name of the key that created this one.
    pub by: String,
    /// Time at which the key was created.
    pub created_at: DateTime<Utc>,
    /// Time at which the key expires; absent if it does not expire.
    #[serde(default)]
    pub expires_at: Option<DateTime<Utc>>,
    /// Time at which the key was revoked.
    #[serde(default)]
    pub revoked_at: Option<DateTime<Utc>>,
    /// Time at which the key was last used, to the minute.
    #[serde(default)]
    pub last_used_at: Option<DateTime<Utc>>,
    /// Time at which the token from before the last rotation expires.
    #[serde(default)]
    pub former_valid_until: Option<DateTime<Utc>>,
}

/// A key that was found by the digest of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The key.
    pub key: Key,
    /// The stored digest of the token.
    pub digest: KeyDigest,
    /// Whether this is the digest of the token from before the last rotation.
    pub is_former: bool,
}

impl Quotas {
    /// Returns true if no quota is set.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Quotas::default()
    }

    /// Returns true if a quota is 0, which would make the key useless.
    #[must_use]
    pub fn has_zero(&self) -> bool {
        self.requests_per_minute == Some(0) || self.records_per_day == Some(0)
    }
}

impl Key {
    /// Returns true if the key is neither revoked nor expired at `at`.
    #[must_use]
    pub fn is_valid(&self, at: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|it| at < it)
    }
}

impl FoundKey {
    /// Returns true if the token is accepted at `at`: the key is valid, and a former token is still in its grace
    /// period.
    #[must_use]
    pub fn is_valid(&self, at: DateTime<Utc>) -> bool {
        let in_time = !self.is_former || self.key.former_valid_until.is_some_and(|it| at < it);
        in_time && self.key.is_valid(at)
    }
}

impl KeyName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = InvalidKeyName;

    fn from_str(name: &str) -> Result<KeyName, InvalidKeyName> {
        let starts_well = name.bytes().next().is_some_and(|it| it.is_ascii_alphanumeric());
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-');
        if starts_well && name.len() <= 64 && name.bytes().all(is_plain) {
            Ok(KeyName(name.to_owned()))
        } else {
            Err(InvalidKeyName)
        }
    }
}

impl TryFrom<String> for KeyName {
    type Error = InvalidKeyName;

    fn try_from(name: String) -> Result<KeyName, InvalidKeyName> {
        name.parse()
    }
}

impl From<KeyName> for String {
    fn from(name: KeyName) -> String {
        name.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn example_found_key() -> FoundKey {
        let key = Key {
            name: "assistant".parse().unwrap(),
            spaces: vec!["user-*".to_owned()],
            rights: vec![Right::Read],
            quotas: Quotas::default(),
            by: "owner".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            former_valid_until: None,
        };
        FoundKey {
            key,
            digest: [1; 32],
            is_former: false,
        }
    }

    #[test]
    fn names_of_keys_are_checked() {
        for name in ["a", "Billing-2.prod_x", &"k".repeat(64)] {
            assert_eq!(name.parse::<KeyName>().unwrap().as_str(), name);
        }
        let long = "k".repeat(65);
        for name in [
            "",
            "-a",
            ".a",
            "a b",
            "a/b",
            "a\u{1b}[2J",
            "a\n",
            "bücher",
            long.as_str(),
        ] {
            assert_eq!(name.parse::<KeyName>(), Err(InvalidKeyName), "{name:?}");
        }
    }

    #[test]
    fn a_key_is_valid_until_it_expires_or_is_revoked() {
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        let mut it = example_found_key();
        assert!(it.is_valid(noon));
        it.key.expires_at = Some(noon);
        assert!(it.is_valid(noon - TimeDelta::milliseconds(1)));
        assert!(!it.is_valid(noon));
        it.key.expires_at = None;
        it.key.revoked_at = Some(noon + TimeDelta::hours(1));
        assert!(!it.is_valid(noon), "a revocation holds whatever the clocks say");
    }

    #[test]
    fn a_former_token_is_valid_only_in_its_grace_period() {
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        let mut it = example_found_key();
        it.is_former = true;
        assert!(!it.is_valid(noon), "without grace");
        it.key.former_valid_until = Some(noon);
        assert!(it.is_valid(noon - TimeDelta::seconds(1)));
        assert!(!it.is_valid(noon));
        it.key.former_valid_until = Some(noon + TimeDelta::days(1));
        it.key.revoked_at = Some(noon);
        assert!(!it.is_valid(noon), "a revocation ends the former token too");
    }
}
