//! Reads the input of an import.

pub(super) mod byte_order;
pub(super) mod json_scan;
pub(super) mod line;
pub(super) mod pieces;
