//! The clock of the services: time enters here and travels as data. Beside it the adapters read one of their own.

use chrono::{DateTime, Utc};

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "the edge at which time enters")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}
