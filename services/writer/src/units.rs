//! Units of single records and of events: their text, features and points in the index, by rule. Pure.

pub(crate) mod act;
pub(crate) mod event;
pub(crate) mod pattern;
pub(crate) mod points;
pub(crate) mod speech;
pub(crate) mod state;
mod summary;
mod text_cues;
pub(crate) mod turn_units;
