//! Statements about people that have their own rules.

pub(super) mod appositions;
pub(super) mod correction;
pub(super) mod habit;
pub(super) mod properties;
pub(super) mod reply;
pub(super) mod state;
