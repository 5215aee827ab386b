//! Expressions of time, by kind.

pub(super) mod anchored_times;
pub(super) mod counted_times;
pub(super) mod dates;
pub(super) mod holidays;
pub(super) mod month_days;
pub(super) mod numeric_times;
pub(super) mod ranges;
pub(super) mod relative_times;
