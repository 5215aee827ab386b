//! Bounds on stored times that lie in the future. A clock that was ahead once, and was corrected, leaves times that
//! nothing reaches for months; a store treats those as over. All results are in milliseconds since 1970.

use chrono::{DateTime, TimeDelta, Utc};
use domain::port::Hold;

/// Longest delay after which a session is due: no service uses one of more than a day (`[writer.readings]
/// delay_seconds` has that limit), and the clocks of two processes may differ.
const DUE_MAX: TimeDelta = TimeDelta::days(2);
/// Time by which the clocks of two processes may differ without ending a lease or a hold early.
const CLOCKS_DIFFER_MAX: TimeDelta = TimeDelta::minutes(1);

/// Returns the end, exclusive, of the readings that count since a moment: a day later, since the budget of a model is
/// one of a day. Without a moment, all readings count.
pub(crate) fn end_of_tally(since: Option<DateTime<Utc>>) -> i64 {
    since.map_or(i64::MAX, |it| milliseconds_after(it, TimeDelta::days(1)))
}

/// Returns the latest time at which a scheduled session can be due. A session with a later one is due at once.
pub(crate) fn latest_due_time(now: DateTime<Utc>) -> i64 {
    milliseconds_after(now, DUE_MAX)
}

/// Returns the latest end of a lease that another caller may hold, if all lease from their `now` until about `lease`. A
/// lease with a later end counts as ended.
pub(crate) fn latest_lease_end(now: DateTime<Utc>, lease: DateTime<Utc>) -> i64 {
    milliseconds_after(lease, (lease - now).max(CLOCKS_DIFFER_MAX))
}

/// Returns the latest end of the hold of another request, if all hold a key for about as long as this one. A hold with a
/// later end counts as ended.
pub(crate) fn latest_hold_end(hold: &Hold) -> i64 {
    milliseconds_after(hold.until, CLOCKS_DIFFER_MAX)
}

/// Returns the number of the day (UTC) of a time, in days since 1970.
pub(crate) fn day_number(time: DateTime<Utc>) -> i64 {
    time.timestamp().div_euclid(86_400)
}

fn milliseconds_after(time: DateTime<Utc>, more: TimeDelta) -> i64 {
    time.timestamp_millis().saturating_add(more.num_milliseconds())
}
