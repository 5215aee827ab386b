//! Reads and writes of the stores that several parts of the writer need.

pub(crate) mod gist_points;
pub(crate) mod unit_lookup;
pub(crate) mod unit_retirement;
pub(crate) mod unit_vectors;
pub(crate) mod window;
