//! The only clock: time enters at the edges (here and in the gateway) and travels as data.

use chrono::{DateTime, Utc};

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "the edge at which time enters")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}
