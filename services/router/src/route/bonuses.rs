//! Bonuses for units that the heads do not score: units that state a requested fact, and units that a strategy gathered
//! or that a user pinned.

pub(crate) mod fact_sources;
pub mod support_bonus;
