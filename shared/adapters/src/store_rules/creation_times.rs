//! Shared code of the stores for the times at which spaces are created.

use chrono::{DateTime, TimeDelta, Utc};

/// Minimum time between the creations of a deleted space and of the next space of its name, while the deletion is
/// unfinished.
///
/// An index may number the generations of a space from the microsecond of its creation. So the numbers of two spaces
/// stay apart unless the first one was rebuilt a million times.
const APART: TimeDelta = TimeDelta::seconds(1);

/// Returns the creation time of a space that is created at `at`. `deleted` is the creation time of a former space of
/// its name whose erasure is unfinished.
///
/// The clocks of two gateways may differ, but the new space must be newer: an index that finishes the erasure later
/// deletes everything up to the former space.
pub(crate) fn creation_time(at: DateTime<Utc>, deleted: Option<DateTime<Utc>>) -> DateTime<Utc> {
    deleted.map_or(at, |deleted| at.max(deleted + APART))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_newer_than_the_deleted_space_of_its_name() {
        let at = |millis| DateTime::from_timestamp_millis(millis).unwrap();
        assert_eq!(creation_time(at(5_000), None), at(5_000));
        for (now, expected) in [
            (9_000, 9_000),
            (6_000, 6_000),
            (5_500, 6_000),
            (5_000, 6_000),
            (3_000, 6_000),
        ] {
            assert_eq!(creation_time(at(now), Some(at(5_000))), at(expected), "{now}");
        }
    }
}
