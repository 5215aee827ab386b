//! Expressions of time of other languages than English.

pub(super) mod cjk_dates;
pub(super) mod foreign_clock;
pub(super) mod foreign_times;
