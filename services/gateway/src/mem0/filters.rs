//! Filters of lists and searches.

pub(super) mod comparison;
pub(super) mod filter;
