//! The one place where the adapters read the clock: redelivery times, ages of deduplication keys, dead letters.

use chrono::{DateTime, Utc};

/// Returns the time of day.
#[expect(
    clippy::disallowed_methods,
    reason = "adapters are an edge; visible_at and dead letters need the time of day"
)]
pub(crate) fn now() -> DateTime<Utc> {
    Utc::now()
}
