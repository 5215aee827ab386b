//! Segments of a session: their borders, and the relations of their event units, by rule. Pure.

mod boundary;
mod marker;
mod marker_tables;
mod relate;
pub(crate) mod segment;
pub(crate) mod stretch;
