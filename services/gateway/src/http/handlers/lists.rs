//! Routes that list what was derived.

pub(crate) mod memory;
pub(crate) mod pages;
