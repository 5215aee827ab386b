//! The only place where the adapters read the clock: for redelivery times, ages of deduplication keys and dead letters.

use chrono::{DateTime, Utc};

/// Returns the current time.
#[expect(
    clippy::disallowed_methods,
    reason = "adapters are an edge; visible_at and dead letters need the time of day"
)]
pub(crate) fn now() -> DateTime<Utc> {
    Utc::now()
}
