//! What the stores share about keys of the API.

use chrono::{DateTime, Utc};
use domain::key::{KEYS_MAX, Key, KeyName};

/// Returns what is kept of a key as a body: without what changes, which is kept beside it.
pub(crate) fn stored(key: &Key) -> Key {
    Key {
        revoked_at: None,
        last_used_at: None,
        former_valid_until: None,
        ..key.clone()
    }
}

/// Returns a moment by its milliseconds since 1970; none if there is no such moment.
pub(crate) fn moment(millis: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(millis)
}

/// Says that another key has a name.
pub(crate) fn name_is_taken(name: &KeyName) -> String {
    format!("there is a key `{name}`, which may be revoked; choose another name")
}

/// Says that the store keeps as many keys as it may.
pub(crate) fn no_room() -> String {
    format!("there are {KEYS_MAX} keys, none of which is revoked; revoke one that nobody needs")
}
