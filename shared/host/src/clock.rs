//! The clock of the services: time enters here and is passed on as data. The adapters have their own clock.

use chrono::{DateTime, Utc};

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the edge at which time enters")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}
