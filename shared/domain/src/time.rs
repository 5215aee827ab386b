//! Time spans with explicit precision.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How precisely a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// A moment, as a clock reported it.
    Instant,
    /// A part of a day or a whole day.
    Day,
    /// A few days: a weekend, a week, "the first days of".
    Week,
    /// A month or a part of it.
    Month,
    /// A season or a few months.
    Season,
    /// A year or more.
    Year,
    /// Mentioned, but cannot be placed in time.
    Unknown,
}

/// A half-open interval `[start, end)` in UTC, with its precision and the words it was read from.
///
/// An interval is never reduced to its midpoint. `start <= end` always holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TimeSpan {
    /// First moment inside.
    pub start: DateTime<Utc>,
    /// First moment after.
    pub end: DateTime<Utc>,
    /// Precision of the interval.
    pub precision: Precision,
    /// The words it was read from; empty for the time of a record.
    pub words: String,
}

impl TimeSpan {
    /// Returns the empty span at `at`, with precision `Instant`.
    pub fn from_instant(at: DateTime<Utc>) -> TimeSpan {
        TimeSpan {
            start: at,
            end: at,
            precision: Precision::Instant,
            words: String::new(),
        }
    }

    /// Returns true if the two spans share a moment. An empty span overlaps a span that contains its moment.
    pub fn overlaps(&self, other: &TimeSpan) -> bool {
        (self.start < other.end && other.start < self.end) || self.start == other.start
    }
}
