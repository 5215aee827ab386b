//! Time spans with honest precision.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How exactly a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// A moment, as a clock gave it.
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
    /// Named, but not to be placed.
    Unknown,
}

/// A half-open interval `[start, end)` in UTC, how precise it is, and the words it came from.
///
/// An interval is never collapsed to its middle. `start <= end` always holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TimeSpan {
    /// First moment inside.
    pub start: DateTime<Utc>,
    /// First moment after.
    pub end: DateTime<Utc>,
    /// How exactly it is known.
    pub precision: Precision,
    /// The words it came from; empty when it is the time of a record.
    pub words: String,
}

impl TimeSpan {
    /// Returns the span of one moment.
    pub fn instant(at: DateTime<Utc>) -> TimeSpan {
        TimeSpan {
            start: at,
            end: at,
            precision: Precision::Instant,
            words: String::new(),
        }
    }

    /// Says whether the two spans share a moment; a moment touches the span it lies in.
    pub fn overlaps(&self, other: &TimeSpan) -> bool {
        (self.start < other.end && other.start < self.end) || self.start == other.start
    }
}
