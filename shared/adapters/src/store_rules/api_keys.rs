//! Shared code of the stores for API keys.

use chrono::{DateTime, Utc};
use domain::key::{KEYS_MAX, Key, KeyName};

/// Returns the part of a key that is stored as its body. Fields that change are stored in separate columns.
pub(crate) fn stored_body(key: &Key) -> Key {
    Key {
        revoked_at: None,
        last_used_at: None,
        former_valid_until: None,
        ..key.clone()
    }
}

/// Returns a time from its milliseconds since 1970, or `None` if it is out of range.
pub(crate) fn time_from_millis(millis: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(millis)
}

/// Returns the error text for a name that another key has.
pub(crate) fn name_is_taken(name: &KeyName) -> String {
    format!("a key with the name `{name}` exists, which may be revoked; choose another name")
}

/// Returns the error text for a store that is full of keys.
pub(crate) fn no_room() -> String {
    format!("there are {KEYS_MAX} keys, none of which is revoked; revoke one that is no longer needed")
}
